/** One call as a line of the record: written whole, read forgivingly. */

import { Buffer } from "node:buffer";
import type { Origin } from "../core/messages.ts";
import type { UsageRecord } from "../core/usage.ts";
import { asBuffer } from "../lib/bytes.ts";
import { isObject } from "../lib/is-object.ts";
import { parseJson } from "../lib/parse-json.ts";
import { head, wellFormed } from "../lib/text.ts";

const NEWLINE = 0x0a;
/** No line that we write comes near; a longer one is handed on cut, and so counts as damaged. */
const LONGEST_LINE = 16 * 1024;
/** Names are of any length elsewhere; here they are for telling calls apart. */
const LONGEST_NAME = 500;

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z$/;
const origins: ReadonlySet<string> = new Set<Origin>(["chat", "cron", "heartbeat", "subagent", "api"]);

function isAmount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** A provider's own count may be anything, and must not cost the whole call. */
function amount(value: number): number {
  return isAmount(value) ? value : 0;
}

function name(text: string): string {
  return wellFormed(head(text, LONGEST_NAME));
}

export function formatRecord(entry: UsageRecord): string {
  const line: UsageRecord = {
    time: entry.time,
    session: name(entry.session),
    origin: entry.origin,
    model: name(entry.model),
    provider: name(entry.provider),
    input: amount(entry.input),
    output: amount(entry.output),
    cached: amount(entry.cached),
    reasoning: amount(entry.reasoning),
    latency_ms: amount(entry.latency_ms),
    ...(isAmount(entry.cost) ? { cost: entry.cost } : {}),
    ...(entry.estimated ? { estimated: true } : {}),
    ...(entry.failed ? { failed: true } : {}),
  };
  return `${JSON.stringify(line)}\n`;
}

function isOrigin(value: unknown): value is Origin {
  return typeof value === "string" && origins.has(value);
}

function isTime(value: unknown): value is string {
  return typeof value === "string" && TIME.test(value) && !Number.isNaN(Date.parse(value));
}

/** Reads one line; `undefined` when it is damaged. */
export function parseRecord(line: string): UsageRecord | undefined {
  const value = parseJson(line);
  if (!isObject(value)) return undefined;
  const { time, session, origin, model, provider, cost } = value;
  const { input, output, cached, reasoning, latency_ms } = value;
  if (!isTime(time) || !isOrigin(origin)) return undefined;
  if (typeof session !== "string" || typeof model !== "string" || typeof provider !== "string") {
    return undefined;
  }
  if (!isAmount(input) || !isAmount(output) || !isAmount(cached) || !isAmount(reasoning)) return undefined;
  if (!isAmount(latency_ms) || !(cost === undefined || isAmount(cost))) return undefined;
  return {
    time,
    session: name(session),
    origin,
    model: name(model),
    provider: name(provider),
    input,
    output,
    cached,
    reasoning,
    latency_ms,
    ...(cost === undefined ? {} : { cost }),
    ...(value["estimated"] === true ? { estimated: true } : {}),
    ...(value["failed"] === true ? { failed: true } : {}),
  };
}

/** The lines of a file that have something in them, first one first. One that is too long comes cut. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pending: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    let from = 0;
    for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, from)) {
      const line = joined(pending, chunk.subarray(from, newline));
      if (line.length > 0) yield textOf(line);
      pending = new Uint8Array();
      from = newline + 1;
    }
    if (pending.length <= LONGEST_LINE) pending = joined(pending, chunk.subarray(from));
  }
  if (pending.length > 0) yield textOf(pending);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  return first.length === 0 ? second : Buffer.concat([first, second]);
}

function textOf(line: Uint8Array): string {
  return asBuffer(line.subarray(0, LONGEST_LINE)).toString("utf8");
}
