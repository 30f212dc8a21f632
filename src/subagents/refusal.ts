/** Why a task may not begin now. */

import type { BackgroundPause, HourlyLimits } from "../core/background.ts";
import { UserError } from "../core/errors.ts";
import { NO_TASK, noTaskFor } from "../lib/phrases.ts";
import type { TaskBook } from "./book.ts";
import { isOpen, type TaskRecord } from "./record.ts";
import type { Repeats } from "./repeats.ts";
import { OWN_SESSIONS } from "./run-task.ts";

/** Tasks that wait for their turn, and results that wait for the bus, together. */
const MOST_WAITING = 100;

interface Circumstances {
  readonly book: TaskBook;
  readonly pause: Pick<BackgroundPause, "leftMs">;
  readonly repeats: Repeats;
  readonly limits: Pick<HourlyLimits, "task">;
  readonly isEnding: boolean;
}

/** In words for the model. A task that something stands against does not count for the hour. */
export function whyNot(task: TaskRecord, circumstances: Circumstances): UserError | undefined {
  const why = reason(task, circumstances);
  return why === undefined ? undefined : new UserError(why, { isRefusal: true });
}

function reason(
  { sessionKey, same }: TaskRecord,
  { book, pause, repeats, limits, isEnding }: Circumstances,
): string | undefined {
  if (isEnding) return NO_TASK.ending;
  if (sessionKey.startsWith(OWN_SESSIONS)) return NO_TASK.nested;
  const leftMs = pause.leftMs();
  if (leftMs > 0) return noTaskFor(leftMs);
  const waiting = book.all().filter((task) => (isOpen(task) ? task.state === "queued" : !task.reported));
  if (waiting.length >= MOST_WAITING) return NO_TASK.tooMany;
  if (!repeats.mayBegin(sessionKey, same)) return NO_TASK.same;
  return limits.task(sessionKey);
}
