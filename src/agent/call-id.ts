/** The identity of a tool call: its turn, its round and its place in the reply. */

import { createHash } from "node:crypto";
import type { InboundId } from "../core/messages.ts";

function prefix(turn: InboundId): string {
  return `call_${createHash("sha256").update(turn).digest("hex").slice(0, 16)}`;
}

/** Fits every provider: letters, digits and `_`, at most 40 characters. The same call always has the same id. */
export function callId(turn: InboundId, round: number, index: number): string {
  return `${prefix(turn)}_${round}_${index}`;
}

/** How many rounds a turn has behind it that made the calls with these ids. Those of other turns do not count. */
export function roundsBehind(turn: InboundId, ids: Iterable<string>): number {
  const own = new RegExp(`^${prefix(turn)}_(\\d{1,6})_\\d+$`);
  let rounds = 0;
  for (const id of ids) {
    const round = own.exec(id)?.[1];
    if (round !== undefined) rounds = Math.max(rounds, Number(round) + 1);
  }
  return rounds;
}
