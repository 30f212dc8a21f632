/** Answers, for requests that wait for one: those that come, and the last ones that came. */

import type { FinalMessage, InboundId } from "../../core/messages.ts";
import type { Clock } from "../../core/platform.ts";

const MOST_KEPT = 1_000;
/** UTF-16 units of all that are kept. */
const MOST_TEXT = 8 * 1024 * 1024;
const MOST_WAITING = 1_000;

export interface Answer {
  readonly outcome: FinalMessage["outcome"];
  readonly content: string;
  /** Names of the files that go with it. */
  readonly media: readonly string[];
}

export interface Answers {
  /**
   * Resolves to the answer as soon as there is one, and to `undefined` when there is none after `ms`, when the caller
   * is gone, when too many wait already, and when all is over.
   */
  wait(id: InboundId, ms: number, caller: AbortSignal): Promise<Answer | undefined>;
  /** The first answer stands. */
  put(ids: readonly InboundId[], answer: Answer): void;
  /** Nobody is kept waiting any more. */
  close(): void;
}

export function createAnswers(clock: Pick<Clock, "after">): Answers {
  /** Oldest first. */
  const kept = new Map<InboundId, Answer>();
  const waiting = new Map<InboundId, Set<(answer: Answer | undefined) => void>>();
  let text = 0;
  let waiters = 0;

  function forget(id: InboundId): void {
    text -= kept.get(id)?.content.length ?? 0;
    kept.delete(id);
  }

  function keep(id: InboundId, answer: Answer): void {
    kept.set(id, answer);
    text += answer.content.length;
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT && text <= MOST_TEXT) break;
      forget(oldest);
    }
  }

  function tell(id: InboundId, answer: Answer | undefined): void {
    for (const resolve of waiting.get(id) ?? []) resolve(answer);
  }

  function enter(id: InboundId, resolve: (answer: Answer | undefined) => void): () => void {
    const those = waiting.get(id) ?? new Set();
    waiting.set(id, those.add(resolve));
    waiters++;
    return () => {
      waiters--;
      those.delete(resolve);
      if (those.size === 0) waiting.delete(id);
    };
  }

  return {
    async wait(id, ms, caller) {
      const known = kept.get(id);
      if (known !== undefined || ms <= 0 || caller.aborted || waiters >= MOST_WAITING) return known;
      const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
      const leave = enter(id, resolve);
      const nothing = () => resolve(undefined);
      const callOff = clock.after(ms, nothing);
      caller.addEventListener("abort", nothing, { once: true });
      try {
        return await promise;
      } finally {
        caller.removeEventListener("abort", nothing);
        callOff();
        leave();
      }
    },
    put(ids, answer) {
      for (const id of ids) {
        if (kept.has(id)) continue;
        keep(id, answer);
        tell(id, answer);
      }
    },
    close() {
      for (const id of [...waiting.keys()]) tell(id, undefined);
    },
  };
}
