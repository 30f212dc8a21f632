/** The arguments of a tool call as models send them: text that should be a JSON object, and often is not quite. */

import type { JsonObject, JsonValue } from "../core/json.ts";
import { isObject } from "./is-object.ts";
import { oneLine, wellFormed } from "./text.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** Far above any sensible call, far below what would hurt. */
const LONGEST = 4 * 1024 * 1024;
const DEEPEST = 64;

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

/**
 * Decodes `text` to an object. Nothing at all means no arguments, and a JSON string that holds a JSON
 * object is decoded once more, because some models encode twice. `text` of the result decodes to the
 * object in one step and is what belongs in the history.
 */
export function parseToolArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { ok: true, value: {}, text: "{}" };
  if (text.length > LONGEST) return { ok: false, problem: "the arguments are longer than 4 MiB" };
  let value: JsonValue;
  let json = text;
  try {
    value = JSON.parse(json);
    if (typeof value === "string" && value.trimStart().startsWith("{")) {
      json = value;
      value = JSON.parse(json);
    }
  } catch {
    return { ok: false, problem: `the arguments are not valid JSON: ${oneLine(text, 200)}` };
  }
  if (value === null) return { ok: true, value: {}, text: "{}" };
  if (!isObject(value)) {
    return {
      ok: false,
      problem: `the arguments must be one JSON object, not ${nameOf(value)}: ${oneLine(text, 200)}`,
    };
  }
  // Before anything else walks through it: what is nested by the thousand overflows the stack.
  if (isDeeperThan(DEEPEST, value)) {
    return { ok: false, problem: `the arguments are nested deeper than ${DEEPEST} levels` };
  }
  return hasLoneSurrogate(value)
    ? parseToolArguments(JSON.stringify(wellFormedDeep(value)))
    : { ok: true, value, text: json };
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(levels - 1, item));
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

function castString(text: string, types: readonly string[]): JsonValue {
  const trimmed = text.trim();
  const isNumber = /^-?\d+(\.\d+)?$/.test(trimmed);
  if (types.includes("integer") && isNumber && Number.isSafeInteger(Number(trimmed))) return Number(trimmed);
  if (types.includes("number") && isNumber) return Number(trimmed);
  if (types.includes("boolean") && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === "true";
  if (
    (types.includes("array") && trimmed.startsWith("[")) ||
    (types.includes("object") && trimmed.startsWith("{"))
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
 * object. A null that the schema does not allow counts as absent. What fits nothing is left for the
 * validation to refuse.
 */
export function castToSchema(value: JsonValue, schema: JsonObject): JsonValue {
  const types = typesOf(schema);
  const cast = typeof value === "string" && !types.includes("string") ? castString(value, types) : value;
  if (
    (typeof cast === "number" || typeof cast === "boolean") &&
    types.length === 1 &&
    types[0] === "string"
  ) {
    return String(cast);
  }
  if (Array.isArray(cast) && isObject(schema["items"])) {
    const { items } = schema;
    return cast.map((item) => castToSchema(item, items as JsonObject));
  }
  if (isObject(cast) && isObject(schema["properties"])) {
    const properties = schema["properties"];
    const entries = Object.entries(cast).flatMap(([key, item]): [string, JsonValue][] => {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (!isObject(property)) return [[key, item]];
      return item === null && !typesOf(property).includes("null")
        ? []
        : [[key, castToSchema(item, property)]];
    });
    return Object.fromEntries(entries);
  }
  return cast;
}
