/** Settings from the environment: `NANOBOT_AGENTS__DEFAULTS__MODEL` and its like. */

import * as v from "valibot";
import { UserError } from "../core/errors.ts";
import type { Environment } from "../core/platform.ts";
import { isObject } from "../lib/is-object.ts";
import { nearest } from "../lib/nearest.ts";
import { findSameName } from "../lib/same-name.ts";
import { explainIssue, type Issue } from "./issues.ts";
import { findStructureProblem } from "./json-text.ts";
import { isForbidden, showPath, toCamel } from "./keys.ts";
import { type AnySchema, shapeOf } from "./shape.ts";
import { translate } from "./translate.ts";

const PREFIX = "NANOBOT_";
const SEPARATOR = "__";

type Values = Readonly<Record<string, unknown>>;

/** Where a variable leads. `schema` is absent inside a channel's block, which only the channel understands. */
interface Target {
  readonly path: readonly string[];
  readonly schema: AnySchema | undefined;
}

/**
 * `values` (with the schema's keys) and over them what the environment says; warnings for variables that
 * name nothing. Throws a `UserError` that names the variable for a value of the wrong kind.
 */
export function applyEnvironment(
  schema: AnySchema,
  values: Values,
  env: Environment,
): { readonly values: Values; readonly warnings: readonly string[] } {
  let result = values;
  const warnings: string[] = [];
  for (const name of Object.keys(env).sort()) {
    const text = env[name];
    // Without the separator it is no setting: NANOBOT_HOME.
    if (text === undefined || !name.startsWith(PREFIX) || !name.includes(SEPARATOR, PREFIX.length)) continue;
    const target = locate(schema, result, name.slice(PREFIX.length).split(SEPARATOR));
    if (typeof target === "string") {
      warnings.push(`Environment variable ${name} is ignored: ${target}`);
      continue;
    }
    const read = readVariable(target, name, text);
    result = merged(result, nest(target.path, read.value));
    warnings.push(...read.warnings);
  }
  return { values: result, warnings };
}

/** Follows the words of a variable through the schema; a string says why that cannot be done. */
function locate(root: AnySchema, values: unknown, words: readonly string[]): Target | string {
  const path: string[] = [];
  let schema: AnySchema | undefined = root;
  let there: unknown = values;
  for (const word of words) {
    const step = stepInto(schema, isObject(there) ? there : {}, word);
    if (typeof step === "string") return step;
    path.push(step.key);
    schema = step.schema;
    there = isObject(there) && Object.hasOwn(there, step.key) ? there[step.key] : undefined;
  }
  return { path, schema };
}

function stepInto(
  schema: AnySchema | undefined,
  there: Readonly<Record<string, unknown>>,
  word: string,
): { key: string; schema: AnySchema | undefined } | string {
  const name = word.toLowerCase();
  if (name === "" || isForbidden(name)) return "a part of its name is missing";
  const shape = schema && shapeOf(schema);
  if (shape?.kind === "object") {
    const known = findSameName(name, shape.entries.keys());
    if (known !== undefined) return { key: known, schema: shape.entries.get(known) };
    const isOpen = shape.rest !== undefined || shape.loose;
    if (!isOpen) return unknownWord(word, shape.entries.keys());
  }
  // The names of providers, channels and presets are the user's own: first those that are there.
  const existing = findSameName(name, Object.keys(there));
  if (shape?.kind === "record") return { key: existing ?? name, schema: shape.value };
  if (shape?.kind === "object" && shape.rest) return { key: existing ?? name, schema: shape.rest };
  if (shape === undefined || shape.kind === "object")
    return { key: existing ?? toCamel(name), schema: undefined };
  return `there is nothing below ${word}`;
}

function unknownWord(word: string, known: Iterable<string>): string {
  const meant = nearest(toCamel(word.toLowerCase()), known);
  return `${word} is no setting${meant === undefined ? "" : `; did you mean "${meant}"?`}`;
}

function readVariable(
  { path, schema }: Target,
  name: string,
  text: string,
): { readonly value: unknown; readonly warnings: readonly string[] } {
  if (schema === undefined) return { value: guess(text), warnings: [] };
  const { value, warnings } = translate(schema, parseFor(schema, text), path);
  const first = v.safeParse(schema, value).issues?.[0];
  if (first) throw wrongVariable(name, explainIssue(schema, first));
  return { value, warnings: warnings.map((warning) => `${warning} (from ${name})`) };
}

function wrongVariable(name: string, { path, text }: Issue): UserError {
  const place = path.length === 0 ? "" : `${showPath(path)}: `;
  return new UserError(`Read environment variable ${name}: ${place}${text}`, {
    hint: "Lists and objects are written as JSON",
  });
}

function nest(path: readonly string[], value: unknown): Values {
  const [key = "", ...rest] = path;
  return { [key]: rest.length === 0 ? value : nest(rest, value) };
}

/** A copy of `old` and over it `changes`: an object adds to what is there, anything else replaces it. */
export function merged(old: Values, changes: Values): Values {
  const result: Record<string, unknown> = { ...old };
  for (const [key, change] of Object.entries(changes)) {
    if (isForbidden(key)) continue;
    const there = Object.hasOwn(old, key) ? old[key] : undefined;
    result[key] = isObject(there) && isObject(change) ? merged(there, change) : change;
  }
  return result;
}

const switches: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};

function parseFor(schema: AnySchema, text: string): unknown {
  const shape = shapeOf(schema);
  if (shape.kind === "value") {
    if (shape.type === "string" || shape.type === "picklist") return text;
    if (shape.type === "boolean") return switches[text.trim().toLowerCase()] ?? text;
  }
  if (shape.kind === "union" && shape.options.some((option) => shapeOf(option).kind === "value")) {
    return text.trimStart().startsWith("{") ? parseJson(text) : text;
  }
  return parseJson(text);
}

/** JSON, or the text itself when it is none or is nested without end. */
function parseJson(text: string): unknown {
  if (findStructureProblem(text)?.kind === "deep") return text;
  try {
    return JSON.parse(text);
  } catch {
    // The check against the schema then says what was expected.
    return text;
  }
}

/** In a channel's block: JSON where it is unmistakable, so that a token that looks like a word stays text. */
function guess(text: string): unknown {
  const isJson = /^\s*(?:[[{"]|true\s*$|false\s*$|null\s*$)/.test(text);
  const isPlainNumber = /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(text) && String(Number(text)) === text;
  return isJson || isPlainNumber ? parseJson(text) : text;
}
