/** Puts some turns of a conversation into memory: the history first, then the facts. */

import type { MemoryStore } from "../core/memory.ts";
import type { ModelErrorKind } from "../core/model.ts";
import type { Clock, Log } from "../core/platform.ts";
import type { Unconsolidated } from "../core/session.ts";
import { type Answer, askForMemory, type ConsolidationModel } from "./ask.ts";
import { conversationText, rawText } from "./conversation.ts";
import { keepsFacts } from "./kept-facts.ts";
import type { Stamps } from "./stamp.ts";

/** In characters. It is part of every prompt. */
const LONGEST_FACTS = 32_000;

/** How often a model is asked anew because somebody edited the facts meanwhile. */
const MOST_QUESTIONS = 3;

export type Remembered =
  /** The history has it. */
  | { readonly ok: true; readonly summary: string }
  /** Nothing has it. */
  | {
      readonly ok: false;
      readonly problem: string;
      readonly kind: ModelErrorKind | undefined;
      readonly isCutOff: boolean;
    };

export interface RememberOptions {
  readonly memory: MemoryStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly stamps: Stamps;
  readonly timeZone: string;
}

export interface Remember {
  /** Of `MEMORY.md`; `undefined` when it cannot be read. */
  facts(): Promise<string | undefined>;
  /** Without `withFacts` they are neither shown nor changed. Rejects when the history cannot be written. */
  remember(
    turns: Unconsolidated,
    options: {
      readonly choice: ConsolidationModel;
      readonly withFacts: boolean;
      readonly signal: AbortSignal;
    },
  ): Promise<Remembered>;
  /** Without a model: what was said, as it was said. Rejects as `remember` does. */
  keepRaw(turns: Unconsolidated): Promise<void>;
}

export function createRemember({ memory, clock, log, stamps, timeZone }: RememberOptions): Remember {
  async function facts(): Promise<string | undefined> {
    try {
      return await memory.facts();
    } catch (error) {
      log.warn("Left MEMORY.md as it is", { error });
      return undefined;
    }
  }

  /** When the last of it was said. */
  function timeOf({ messages }: Unconsolidated): number {
    const ms = Date.parse(messages.findLast(({ timestamp }) => timestamp !== undefined)?.timestamp ?? "");
    return Number.isNaN(ms) ? clock.now() : Math.min(ms, clock.now());
  }

  /** The text that takes the place of `seen`; `undefined` when that stays. */
  function updateOf(answer: Extract<Answer, { ok: true }>, seen: string | undefined): string | undefined {
    const { update } = answer;
    if (update === undefined || seen === undefined || update === seen.trim()) return undefined;
    const refusal =
      update.length > LONGEST_FACTS
        ? `it is longer than ${LONGEST_FACTS} characters`
        : keepsFacts(seen, update)
          ? undefined
          : "it would drop most of the facts";
    if (refusal === undefined) return update === "" ? undefined : `${update}\n`;
    log.warn(`Refused a new text of MEMORY.md: ${refusal}`, { characters: update.length });
    return undefined;
  }

  async function replace(update: string, seen: string): Promise<boolean> {
    try {
      return await memory.replaceFacts(update, { seen });
    } catch (error) {
      // The history has it, and would have it twice if all this were tried again.
      log.error("Could not write MEMORY.md", { error });
      return true;
    }
  }

  return {
    facts,

    async remember(turns, { choice, withFacts, signal }) {
      const conversation = conversationText(turns.messages, stamps);
      // Chat commands and the like: nothing was said.
      if (conversation === "") return { ok: true, summary: "" };
      let entry: string | undefined;
      for (let asked = 1; asked <= MOST_QUESTIONS; asked++) {
        const seen = withFacts ? await facts() : undefined;
        const answer = await askForMemory(choice, {
          sessionKey: turns.key,
          id: `memory:${turns.key}:${turns.from}`,
          now: `${stamps.of(clock.now())} (${timeZone})`,
          facts: seen,
          conversation,
          signal,
        });
        if (!answer.ok) {
          if (entry !== undefined) break;
          return { ok: false, problem: answer.problem, kind: answer.error?.kind, isCutOff: answer.isCutOff };
        }
        const update = updateOf(answer, seen);
        const isStale = update !== undefined && (await facts()) !== seen;
        if (isStale && entry === undefined && asked < MOST_QUESTIONS) continue;
        if (entry === undefined) {
          entry = answer.entry;
          await memory.appendHistory(entry, { at: timeOf(turns) });
        }
        if (update === undefined || seen === undefined) return { ok: true, summary: entry };
        if (await replace(update, seen)) return { ok: true, summary: entry };
      }
      log.warn("Left MEMORY.md as it is, because it was edited again and again", { session: turns.key });
      return { ok: true, summary: entry ?? "" };
    },

    async keepRaw(turns) {
      if (conversationText(turns.messages, stamps) === "") return;
      await memory.appendHistory(rawText(turns.messages, stamps), { at: timeOf(turns) });
    },
  };
}
