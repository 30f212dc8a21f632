/** Puts some turns of a conversation into memory: the history first, then the facts. */

import type { MemoryStore } from "../core/memory.ts";
import type { ModelErrorKind } from "../core/model.ts";
import type { Clock, Log } from "../core/platform.ts";
import type { Unconsolidated } from "../core/session.ts";
import { passedOver } from "../lib/phrases.ts";
import type { Answer, ConsolidationModel } from "./ask.ts";
import { conversationText, rawText, type Telling } from "./conversation.ts";
import { keepsFacts, saysNoChange } from "./kept-facts.ts";
import { plainText } from "./plain-text.ts";
import { createMomentOf } from "./search/moments.ts";

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

export interface RememberOptions extends Telling {
  readonly memory: MemoryStore;
  readonly clock: Clock;
  readonly log: Log;
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

export function createRemember({ memory, clock, log, stamps, mask }: RememberOptions): Remember {
  const telling = { stamps, mask };

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
    const last = messages.findLast(({ timestamp }) => timestamp !== undefined)?.timestamp;
    return Math.min(createMomentOf(memory.timeZone)(last) ?? clock.now(), clock.now());
  }

  /** With word of what nobody put into memory, so that it is not looked for in vain. */
  function append(text: string, turns: Unconsolidated): Promise<void> {
    const { key, passed } = turns;
    const [since, until] = [passed?.since, passed?.until].map(stamps.ofLine);
    const note =
      passed === undefined ? "" : `\n${passedOver({ key, messages: passed.messages, since, until })}`;
    return memory.appendHistory(`${text}${note}`, { at: timeOf(turns) });
  }

  /** The text that takes the place of `seen`; `undefined` when that stays. */
  function updateOf(answer: Extract<Answer, { ok: true }>, seen: string | undefined): string | undefined {
    const { update: given } = answer;
    if (given === undefined || seen === undefined || saysNoChange(given)) return undefined;
    // A secret that is in the file already is there because its owner wants it so.
    const update = mask(seen) === seen ? mask(given) : given;
    if (update === plainText(seen)) return undefined;
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
      const conversation = conversationText(turns.messages, telling);
      // Chat commands and the like: nothing was said.
      if (conversation === "") return { ok: true, summary: "" };
      let entry: string | undefined;
      for (let asked = 1; asked <= MOST_QUESTIONS; asked++) {
        const seen = withFacts ? await facts() : undefined;
        const { askForMemory } = await import("./ask.ts");
        const answer = await askForMemory(choice, {
          sessionKey: turns.key,
          id: `memory:${turns.key}:${turns.from}`,
          now: `${stamps.of(clock.now())} (${memory.timeZone})`,
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
          entry = mask(answer.entry);
          await append(entry, turns);
        }
        if (update === undefined || seen === undefined) return { ok: true, summary: entry };
        if (await replace(update, seen)) return { ok: true, summary: entry };
      }
      log.warn("Left MEMORY.md as it is, because it was edited again and again", { session: turns.key });
      return { ok: true, summary: entry ?? "" };
    },

    async keepRaw(turns) {
      if (conversationText(turns.messages, telling) === "") return;
      await append(rawText(turns.messages, telling), turns);
    },
  };
}
