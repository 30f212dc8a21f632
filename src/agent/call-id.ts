/** The identity of a tool call: its turn, its round and its place in the reply. */

import { createHash } from "node:crypto";
import type { InboundId } from "../core/messages.ts";

/** Fits every provider: letters, digits and `_`, at most 40 characters. The same call always has the same id. */
export function callId(turn: InboundId, round: number, index: number): string {
  return `call_${createHash("sha256").update(turn).digest("hex").slice(0, 16)}_${round}_${index}`;
}
