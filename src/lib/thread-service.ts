/** Answers what a thread asks of the main thread, for as long as the thread lives. */

import type { ServeThread, WorkerRole } from "../core/workers.ts";
import { problemOf } from "./phrases.ts";
import type { AskMessage, ReplyMessage } from "./worker-protocol.ts";

export interface ThreadService {
  answer(question: AskMessage): void;
  /** The thread is gone. Aborts what is still being done for it, and resolves when that has settled. */
  end(reason: unknown): Promise<void>;
}

type Handler = (request: never, signal: AbortSignal) => Promise<unknown>;

/** `send` throws for what cannot be cloned; then the thread is told that. */
export function serveThread<Role extends WorkerRole>(
  serve: ServeThread<Role> | Readonly<Record<string, never>>,
  send: (reply: ReplyMessage) => void,
): ThreadService {
  const gone = new AbortController();
  const running = new Set<Promise<void>>();
  // Only `worker.ts` asks, and what it asks fits the table.
  const table = new Map<string, Handler>(Object.entries(serve));

  async function reply({ id, kind, request }: AskMessage): Promise<void> {
    try {
      const work = table.get(kind);
      if (work === undefined) throw new Error(`nobody answers "${kind}"`);
      send({ type: "reply", id, ok: true, value: await work(request as never, gone.signal) });
    } catch (error) {
      send({ type: "reply", id, ok: false, message: problemOf(error) });
    }
  }

  return {
    answer(question) {
      const work = reply(question).finally(() => running.delete(work));
      running.add(work);
    },
    async end(reason) {
      gone.abort(reason ?? new Error("the thread that asked for it is gone"));
      await Promise.all(running);
    },
  };
}
