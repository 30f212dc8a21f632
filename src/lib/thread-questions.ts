/** The questions that a thread asks, and the answers that come back to it. */

import type { AskHost, WorkerRole } from "../core/workers.ts";
import type { AskMessage, ReplyMessage } from "./worker-protocol.ts";

export interface ThreadQuestions<Role extends WorkerRole> {
  readonly ask: AskHost<Role>;
  /** An answer that nobody waits for is left alone. */
  answered(reply: ReplyMessage): void;
}

export function createThreadQuestions<Role extends WorkerRole>(
  post: (message: AskMessage) => void,
): ThreadQuestions<Role> {
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let next = 0;
  const ask = async (kind: string, request: unknown): Promise<unknown> => {
    const id = next++;
    const answer = Promise.withResolvers<unknown>();
    open.set(id, answer);
    post({ type: "ask", id, kind, request });
    return answer.promise;
  };
  return {
    // The host answers each kind with its reply, by the same table of types.
    ask: ask as AskHost<Role>,
    answered(reply) {
      const answer = open.get(reply.id);
      open.delete(reply.id);
      if (reply.ok) answer?.resolve(reply.value);
      else answer?.reject(new Error(reply.message));
    },
  };
}
