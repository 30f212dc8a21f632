/** What people and the agent said in a line of JSON: of a session, or of the newer original's record of what happened. */

import { Buffer } from "node:buffer";
import { isObject } from "../../lib/is-object.ts";
import { parseJson } from "../../lib/parse-json.ts";

export interface Said {
  readonly text: string;
  readonly role: "user" | "assistant" | undefined;
  /** As it is stored: in UTC with `Z`, or in the agent's time without. */
  readonly timestamp: string | undefined;
  /** The turn that wrote the line. */
  readonly turn: string | undefined;
}

type Fields = { readonly [key: string]: unknown };

/** How the lines of tools and of a session's state begin, as we and the original write them: they need no parsing. */
const OTHERS = ['{"role":"tool"', '{"role": "tool"', '{"_type"'].map((text) => Buffer.from(text));
/** Blanks and the NULs that a power cut leaves around a line. */
const FILLING = /^[\0\s\ufeff]+|[\0\s]+$/g;
/** The original keeps what it told the model beside the user's text, in the text. */
const RUNTIME_CONTEXT = /\[Runtime Context[^\]]*\][\s\S]*?\[\/Runtime Context\]/g;

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The original also stores lists of blocks. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return stringOf(content) ?? "";
  return content.map((block) => (isObject(block) ? (stringOf(block["text"]) ?? "") : "")).join("\n");
}

function ownText({ content, _runtime_context: context }: Fields): string {
  const text = textOf(content);
  return context === undefined ? text : text.replace(RUNTIME_CONTEXT, "");
}

/** Whether a line, given by its bytes, is nobody's own words, as far as its beginning tells. */
export function isOthers(bytes: Uint8Array, from: number): boolean {
  return OTHERS.some((start) => {
    for (let at = 0; at < start.length; at++) if (bytes[from + at] !== start[at]) return false;
    return true;
  });
}

function parseLine(line: string): Fields | undefined {
  const value = parseJson(line.startsWith("{") && line.endsWith("}") ? line : line.replace(FILLING, ""));
  return isObject(value) ? value : undefined;
}

/** Of a session. `undefined` for results of tools, commands, and what is damaged. */
export function saidInSession(line: string): Said | undefined {
  const value = parseLine(line);
  const role = value?.["role"];
  if (value === undefined || (role !== "user" && role !== "assistant")) return undefined;
  // The original has subagents' results as the user's words.
  const isNobodys = value["_command"] === true || "injected_event" in value || "_type" in value;
  if (isNobodys) return undefined;
  const { timestamp, turn } = value;
  return { text: ownText(value), role, timestamp: stringOf(timestamp), turn: stringOf(turn) };
}

/** Of `history.jsonl`. */
export function saidInHistory(line: string): Said | undefined {
  const value = parseLine(line);
  const text = stringOf(value?.["content"]);
  if (text === undefined) return undefined;
  return { text, role: undefined, timestamp: stringOf(value?.["timestamp"]), turn: undefined };
}
