/** What a task's own session and turn are called, by which its work is told from that of whoever gave it away. */

import type { InboundId } from "../core/messages.ts";

/** How the keys of sessions begin that tasks have for themselves. */
export const OWN_SESSIONS = "subagent:";

const RUN = "/run";

/** One for each task, so that the bus drops a second. */
export function reportId(taskId: string): InboundId {
  return `subagent:${taskId}` as InboundId;
}

/** The session of a task: what its tools have read, put aside and started is its own. */
export function ownSession(taskId: string): string {
  return OWN_SESSIONS + taskId;
}

/** The turn that answers the report has the report's id, and its calls are others. */
export function ownTurn(taskId: string): InboundId {
  return `${reportId(taskId)}${RUN}` as InboundId;
}

/** Whether the turn is that of a task at work, which no later process takes up. */
export function isOwnTurn(turn: InboundId): boolean {
  return turn.startsWith(reportId("")) && turn.endsWith(RUN);
}
