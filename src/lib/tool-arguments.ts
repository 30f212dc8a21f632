/** The arguments of a tool call as models send them: text that should be a JSON object, and often is not quite. */

import type { JsonObject, JsonValue } from "../core/json.ts";
import { isObject } from "./is-object.ts";
import { isDeeperThan, parseLenientJson } from "./lenient-json.ts";
import { clip, oneLine, wellFormed } from "./text.ts";
import { unfitArguments } from "./tool-failure.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** Far above any sensible call, far below what would hurt. */
const LONGEST = 4 * 1024 * 1024;
const DEEPEST = 64;
const LONGEST_ECHO = 80;

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function looksLikeJson(value: JsonValue | undefined): value is string {
  return typeof value === "string" && /^\s*[{[]/.test(value);
}

interface Decoded {
  readonly value: JsonValue;
  /** Its JSON, where that came from the model. */
  readonly json: string | undefined;
}

function decode(text: string): Decoded | { readonly problem: string } {
  const parsed = parseLenientJson(text);
  if (parsed.ok) return { value: parsed.value, json: parsed.isExact ? text : undefined };
  const cutOff = parsed.seemsCutOff ? " and seem cut off" : "";
  return { problem: unfitArguments(`are not valid JSON${cutOff}: ${oneLine(text, 200)}`) };
}

/** Takes the object out of a list of one, out of a string, or out of both. Each is undone once. */
function unwrap(text: string): Decoded | { readonly problem: string } {
  let decoded = decode(text);
  let [isListed, isEncoded] = [false, false];
  while (!("problem" in decoded)) {
    const { value } = decoded;
    const [item, ...others] = Array.isArray(value) && !isListed ? (value as readonly JsonValue[]) : [];
    if (others.length === 0 && (isObject(item) || looksLikeJson(item))) {
      decoded = { value: item as JsonValue, json: undefined };
      isListed = true;
    } else if (!isEncoded && looksLikeJson(value)) {
      decoded = decode(value);
      isEncoded = true;
    } else break;
  }
  return decoded;
}

/**
 * Decodes `text` to an object. Nothing at all means no arguments. A list of one object counts as that
 * object, JSON in a string is decoded once more, and JSON that is broken but whole is mended, because
 * models do all of that. `text` of the result decodes to the object in one step and is what belongs in the
 * history.
 */
export function parseToolArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { ok: true, value: {}, text: "{}" };
  if (text.length > LONGEST) return { ok: false, problem: unfitArguments("are longer than 4 MiB") };
  const decoded = unwrap(text);
  if ("problem" in decoded) return { ok: false, problem: decoded.problem };
  const { value, json } = decoded;
  if (value === null) return { ok: true, value: {}, text: "{}" };
  if (!isObject(value)) {
    const why = `must be one JSON object, not ${nameOf(value)}: ${oneLine(text, 200)}`;
    return { ok: false, problem: unfitArguments(why) };
  }
  // Before anything else walks through it: what is nested by the thousand overflows the stack.
  if (isDeeperThan(DEEPEST, value)) {
    return { ok: false, problem: unfitArguments(`are nested deeper than ${DEEPEST} levels`) };
  }
  const clean = hasLoneSurrogate(value) ? (wellFormedDeep(value) as JsonObject) : value;
  return {
    ok: true,
    value: clean,
    text: clean === value && json !== undefined ? json : JSON.stringify(clean),
  };
}

// A lone surrogate can stand in JSON as an escape, where isWellFormed() on the text does not see it.
function hasLoneSurrogate(value: JsonValue): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  if (Array.isArray(value)) return value.some(hasLoneSurrogate);
  return (
    isObject(value) &&
    Object.entries(value).some(([key, item]) => !key.isWellFormed() || hasLoneSurrogate(item))
  );
}

function wellFormedDeep(value: JsonValue): JsonValue {
  if (typeof value === "string") return wellFormed(value);
  if (Array.isArray(value)) return value.map(wellFormedDeep);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [wellFormed(key), wellFormedDeep(item)]),
  );
}

function typesOf(schema: JsonObject): readonly string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((item) => typeof item === "string");
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  if (!Array.isArray(alternatives)) return [];
  return (alternatives as readonly JsonValue[]).flatMap((one) => (isObject(one) ? typesOf(one) : []));
}

function castString(text: string, types: readonly string[], schema: JsonObject): JsonValue {
  const trimmed = text.trim();
  const isNumber = /^-?\d+(\.\d+)?$/.test(trimmed);
  if (types.includes("integer") && isNumber && Number.isSafeInteger(Number(trimmed))) return Number(trimmed);
  if (types.includes("number") && isNumber) return Number(trimmed);
  if (types.includes("boolean") && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === "true";
  if (
    (types.includes("array") && trimmed.startsWith("[")) ||
    ((types.includes("object") || takesListOfObjects(schema, types)) && trimmed.startsWith("{"))
  ) {
    try {
      return JSON.parse(trimmed) as JsonValue;
    } catch {
      return text; // Validation will say that a list or an object was expected.
    }
  }
  return text;
}

/**
 * Casts `value` as far as `schema` (a JSON Schema) asks and no further: `"5"` to 5 and `"true"` to true
 * where a number or a boolean is expected, 5 to `"5"` where a string is, JSON text to a list or an
 * object, and one object to a list of it where a list of objects is expected. A null that the schema does
 * not allow counts as absent. What fits nothing is left for the validation to refuse. Arguments that come
 * inside `{"arguments": …}` are taken out of it.
 */
export function castToSchema(value: JsonValue, schema: JsonObject): JsonValue {
  return castValue(withoutEnvelope(value, schema), schema);
}

/** What is wrong with a value, without all of it where it is long: the model knows what it sent. */
export function issueText({
  message,
  received,
}: {
  readonly message: string;
  readonly received: string;
}): string {
  return message.replace(received, () => clip(received, LONGEST_ECHO));
}

/** What is inside `{"arguments": …}`, where that is all there is and the schema knows nothing of it. */
function withoutEnvelope(value: JsonValue, schema: JsonObject): JsonValue {
  const { properties } = schema;
  if (!isObject(value) || !isObject(properties) || Object.hasOwn(properties, "arguments")) return value;
  const [key, ...others] = Object.keys(value);
  if (key !== "arguments" || others.length > 0) return value;
  const inside = value["arguments"];
  if (typeof inside !== "string") return isObject(inside) ? (inside as JsonObject) : value;
  const parsed = parseToolArguments(inside);
  return parsed.ok ? parsed.value : value;
}

function takesListOfObjects({ items }: JsonObject, types: readonly string[]): boolean {
  return (
    types.includes("array") &&
    !types.includes("object") &&
    isObject(items) &&
    typesOf(items as JsonObject).includes("object")
  );
}

function castValue(value: JsonValue, schema: JsonObject): JsonValue {
  const types = typesOf(schema);
  const cast =
    typeof value === "string" && !types.includes("string") ? castString(value, types, schema) : value;
  if (
    (typeof cast === "number" || typeof cast === "boolean") &&
    types.length === 1 &&
    types[0] === "string"
  ) {
    return String(cast);
  }
  // One of a list of objects, without the list.
  if (isObject(cast) && takesListOfObjects(schema, types))
    return [castValue(cast as JsonObject, schema["items"] as JsonObject)];
  if (Array.isArray(cast) && isObject(schema["items"])) {
    const { items } = schema;
    return cast.map((item) => castValue(item, items as JsonObject));
  }
  if (isObject(cast) && isObject(schema["properties"])) {
    const properties = schema["properties"];
    const entries = Object.entries(cast).flatMap(([key, item]): [string, JsonValue][] => {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (!isObject(property)) return [[key, item]];
      return item === null && !typesOf(property).includes("null") ? [] : [[key, castValue(item, property)]];
    });
    return Object.fromEntries(entries);
  }
  return cast;
}
