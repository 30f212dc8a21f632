/** Brings what came of a task to the session that asked, however long the bus takes nothing. */

import type { InboundMessage } from "../core/messages.ts";
import type { Clock, Log } from "../core/platform.ts";
import { subagentReport, tasksInterrupted } from "../lib/phrases.ts";
import { clip, headTail, oneLine, wellFormed } from "../lib/text.ts";
import { stripInvisible } from "../lib/visible-characters.ts";
import { reportId } from "./own-names.ts";
import type { TaskRecord } from "./record.ts";

/** Of the text of the task, which the agent wrote itself. */
const TASK_CHARS = 1_000;
/** Of the texts of all that are told of together, of which each gets its share. */
const ALL_TASKS_CHARS = 16_000;
const LONGEST_RESULT = 8_000;
/** When it is tried again: the disk may have room then. */
const AGAIN_MS = [1_000, 5_000, 30_000, 120_000];
const AGAIN_LATER_MS = 600_000;

export type PublishInbound = (message: InboundMessage, signal: AbortSignal) => Promise<boolean>;

/** What a subagent said, as it is told and kept. It may quote pages, in which instructions can be hidden. */
export function shownResult(text: string, mask: (text: string) => string): string {
  return headTail(
    mask(stripInvisible(wellFormed(text))),
    LONGEST_RESULT,
    (cut) => `\n[… ${cut} characters left out …]\n`,
  );
}

/** It goes where the tasks were asked for, wherever the latest message came from. Several were all interrupted. */
export function reportOf(records: readonly [TaskRecord, ...TaskRecord[]], now: number): InboundMessage {
  const [{ id, toldWith = id, sessionKey, asker }] = records;
  const { channel, chatId, thread, sender, source } = asker;
  return {
    id: reportId(toldWith),
    kind: "message",
    origin: "subagent",
    channel,
    chatId,
    ...(thread === undefined ? {} : { thread }),
    senderId: sender,
    sessionKey,
    ...(source === undefined ? {} : { askedBy: source }),
    content: contentOf(records, source === undefined),
    media: [],
    timestamp: new Date(now).toISOString(),
    metadata: {},
  };
}

function contentOf(records: readonly [TaskRecord, ...TaskRecord[]], isAwaited: boolean): string {
  const [{ label, task, state, result = "" }] = records;
  if (records.length > 1) {
    const share = Math.min(TASK_CHARS, Math.floor(ALL_TASKS_CHARS / records.length));
    const tasks = records.map((one) => ({ label: one.label, task: oneLine(one.task, share) }));
    return tasksInterrupted({ tasks, isAwaited });
  }
  const succeeded = state === "done";
  return subagentReport({ label, task: clip(task, TASK_CHARS), succeeded, text: result, isAwaited });
}

interface ReportOptions {
  readonly publish: PublishInbound;
  readonly clock: Pick<Clock, "sleep">;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Resolves to whether it is with the bus, now or since before; to `false` only after `signal` aborted. */
export async function publishPersistently(
  message: InboundMessage,
  { publish, clock, log, signal }: ReportOptions,
): Promise<boolean> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      await publish(message, signal);
      return true;
    } catch (error) {
      if (signal.aborted) break;
      const { id, channel, chatId } = message;
      log.error("The result of a task was not taken and is sent again", { id, channel, chatId, error });
    }
    await clock.sleep(AGAIN_MS[attempt] ?? AGAIN_LATER_MS, signal).catch(ignoreEnd);
  }
  return false;
}

// The loop looks at the signal itself.
function ignoreEnd(): void {}
