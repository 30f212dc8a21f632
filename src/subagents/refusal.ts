/** Why a task may not begin now. */

import type { BackgroundPause, HourlyLimits } from "../core/background.ts";
import { UserError } from "../core/errors.ts";
import { NO_TASK, noTaskFor } from "../lib/phrases.ts";
import type { TaskBook } from "./book.ts";
import { OWN_SESSIONS } from "./own-names.ts";
import { isOpen, type TaskRecord } from "./record.ts";
import { isByResult, type Repeats } from "./repeats.ts";

/** Tasks that wait for their turn, and results that wait for the bus, together. */
const MOST_WAITING = 100;

interface Circumstances {
  readonly book: TaskBook;
  readonly pause: Pick<BackgroundPause, "leftMs">;
  readonly repeats: Repeats;
  readonly limits: Pick<HourlyLimits, "task">;
  readonly isEnding: boolean;
  /** A result began its own task too often. */
  readonly onLoop: (task: TaskRecord) => void;
}

/** Given away in an earlier turn of the session. In one turn it may be wanted more than once. */
function isSameOfBefore(one: TaskRecord, { sessionKey, same, asker }: TaskRecord): boolean {
  return one.sessionKey === sessionKey && one.same === same && one.asker.turn !== asker.turn;
}

/** In words for the model. A task that something stands against does not count for the hour. */
export function whyNot(task: TaskRecord, circumstances: Circumstances): UserError | undefined {
  const why = reason(task, circumstances);
  return why === undefined ? undefined : new UserError(why, { isRefusal: true });
}

function reason(
  task: TaskRecord,
  { book, pause, repeats, limits, isEnding, onLoop }: Circumstances,
): string | undefined {
  const { sessionKey } = task;
  if (isEnding) return NO_TASK.ending;
  if (sessionKey.startsWith(OWN_SESSIONS)) return NO_TASK.nested;
  const leftMs = pause.leftMs();
  if (leftMs > 0) return noTaskFor(leftMs);
  const waiting = book.all().filter((one) => (isOpen(one) ? one.state === "queued" : !one.reported));
  if (waiting.length >= MOST_WAITING) return NO_TASK.tooMany;
  if (book.all().some((one) => isOpen(one) && isSameOfBefore(one, task))) return NO_TASK.atWork;
  if (!repeats.mayBegin(task)) {
    if (isByResult(task)) onLoop(task);
    return NO_TASK.same;
  }
  return limits.task(sessionKey);
}
