/** Puts questions to the owner one at a time, and takes anything but a clear yes in time for a no. */

import type { ApprovalAnswer, AskOwner } from "../core/approval.ts";
import type { Clock, Log } from "../core/platform.ts";
import { abortable, limitSignal } from "../lib/abort.ts";
import { createLanes } from "../lib/lanes.ts";

/** A question that is not answered by then is not waited for: whoever asked has a turn to end. */
const EXPIRES_MS = 10 * 60_000;

export interface ApprovalsOptions {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** Who can show a question to the owner now, if anybody can. Asked for when the question's turn has come. */
  readonly asker: () => AskOwner | undefined;
  /** From the moment the question is put. */
  readonly expiresMs?: number;
}

const lane = "owner";
const nobody: ApprovalAnswer = { granted: false, why: "nobody" };
const expired: ApprovalAnswer = { granted: false, why: "expired" };

export function createApprovals({ clock, log, asker, expiresMs = EXPIRES_MS }: ApprovalsOptions): AskOwner {
  const lanes = createLanes({ limit: 1 });

  /** An answer belongs to the question it resolves: one that comes too late is an answer to nothing. */
  const put: AskOwner = async (question, signal) => {
    signal.throwIfAborted();
    const ask = asker();
    if (ask === undefined) return nobody;
    const limit = limitSignal(signal, { clock, ms: expiresMs });
    try {
      return await abortable(ask(question, limit.signal), limit.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (limit.signal.aborted) return expired;
      log.warn("The owner could not be asked", { tool: question.tool, error });
      return nobody;
    } finally {
      limit.release();
    }
  };

  return (question, signal) =>
    abortable(
      lanes.run(lane, () => put(question, signal)),
      signal,
    );
}
