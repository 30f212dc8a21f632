/** The tool calls that a model writes as text, between `<tool_call>` and its closer. */

import type { JsonValue } from "../core/json.ts";
import { isObject } from "./is-object.ts";
import { createJsonTracker } from "./json-tracker.ts";
import { jsonOf, parseLenientJson } from "./lenient-json.ts";

export interface TextCall {
  readonly name: string;
  /** As the model wrote them. */
  readonly arguments: string;
}

/** The JSON values that stand one after the other in `text`; nothing if other text stands between them. */
function valuesIn(text: string): readonly JsonValue[] | undefined {
  const values: JsonValue[] = [];
  const tracker = createJsonTracker();
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const depth = tracker.depth;
    tracker.pass(text.charAt(at));
    if (depth === 0 && tracker.depth === 1) {
      if (/[^\s,;]/.test(text.slice(start, at))) return undefined;
      start = at;
    }
    if (depth !== 1 || tracker.depth !== 0) continue;
    const parsed = parseLenientJson(text.slice(start, at + 1));
    if (!parsed.ok) return undefined;
    values.push(parsed.value);
    start = at + 1;
  }
  return /[^\s,;]/.test(text.slice(start)) ? undefined : values;
}

/** A call as such, or in the form of the protocol, `{ "function": { "name", "arguments" } }`. */
function callOf(value: JsonValue): TextCall | undefined {
  if (!isObject(value)) return undefined;
  const call = isObject(value["function"]) ? value["function"] : value;
  const { name } = call;
  if (typeof name !== "string" || name.trim() === "") return undefined;
  const given = call["arguments"] ?? call["parameters"] ?? call["args"] ?? {};
  const text = typeof given === "object" ? jsonOf(given) : String(given);
  return text === undefined ? undefined : { name: name.trim(), arguments: text };
}

function decode(inside: string): readonly JsonValue[] {
  const whole = parseLenientJson(inside);
  const values = whole.ok && whole.isExact ? undefined : valuesIn(inside);
  return (values ?? (whole.ok ? [whole.value] : [])).flat();
}

/** The calls that `inside` holds, be they one, a list, or several in a row. Nothing if there is anything else. */
export function parseTextCalls(inside: string): readonly TextCall[] | undefined {
  const values = decode(inside);
  if (values.length === 0) return undefined;
  const calls = values.map(callOf).filter((call) => call !== undefined);
  return calls.length === values.length ? calls : undefined;
}
