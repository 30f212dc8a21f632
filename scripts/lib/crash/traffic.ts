/** Messages from many chats at a steady rate, chosen by the seed. */

import type { Ledger, Said } from "./ledger.ts";
import type { Task } from "./marks.ts";
import { createRandom } from "./random.ts";

export type Mode = "plain" | "rough";

export interface Chat {
  readonly name: string;
  /** What is said there is a command if it looks like one. */
  readonly takesCommands: boolean;
  /** Its platform drops what is sent again with the same key. */
  readonly isIdempotent: boolean;
  say(said: Said): void;
}

export interface TrafficOptions {
  readonly ledger: Ledger;
  readonly seed: number;
  readonly mode: Mode;
  /** Messages a second over all chats. */
  readonly rate: number;
  readonly chats: readonly [Chat, ...Chat[]];
}

export interface Traffic {
  /** Says nothing more. */
  stop(): void;
}

/** For each chat. Beyond it nobody says anything new, so that a program that is down most of the time can catch up. */
const MOST_OPEN = 4;
/** In a burst several messages reach a chat while it is being answered. */
const BURST = 3;

const TASKS_BY_MODE: Readonly<Record<Mode, readonly [Task, ...Task[]]>> = {
  plain: ["plain", "plain", "plain", "tools", "tools", "tools", "slow", "stream"],
  rough: ["plain", "plain", "tools", "tools", "slow", "stream", "long", "message", "forward"],
};

export function startTraffic(options: TrafficOptions): Traffic {
  const { ledger, seed, rate } = options;
  const random = createRandom(seed, "traffic");
  const began = performance.now();
  let due = 0;
  let number = 0;

  function speak(): void {
    const chat = random.pick(options.chats);
    const times = options.mode === "rough" && random.chance(0.1) ? BURST : 1;
    for (let turn = 0; turn < times; turn++) {
      const request = { number: ++number, task: random.pick(TASKS_BY_MODE[options.mode]) };
      chat.say(ledger.say(chat.name, request));
    }
    due += times - 1;
    const isStopped = options.mode === "rough" && random.chance(0.06);
    if (isStopped && chat.takesCommands) chat.say(ledger.say(chat.name, undefined));
  }

  const timer = setInterval(() => {
    const now = Math.floor(((performance.now() - began) * rate) / 1_000);
    for (; due < now; due++) if (ledger.waitingCount() < MOST_OPEN * options.chats.length) speak();
  }, 5);
  return { stop: () => clearInterval(timer) };
}
