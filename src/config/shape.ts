/** The configuration schema seen as a tree, for translating keys and for explaining what was expected. */

import type * as v from "valibot";
import { isObject } from "../lib/is-object.ts";

export type AnySchema = v.GenericSchema;
export type Path = readonly (string | number)[];

/** A `rest` takes the keys that `entries` does not name; a `loose` object keeps them as they are. */
export type Shape =
  | {
      readonly kind: "object";
      readonly entries: ReadonlyMap<string, AnySchema>;
      readonly rest: AnySchema | undefined;
      readonly loose: boolean;
    }
  | { readonly kind: "record"; readonly value: AnySchema }
  | { readonly kind: "list"; readonly item: AnySchema }
  | { readonly kind: "union"; readonly options: readonly AnySchema[] }
  | { readonly kind: "value"; readonly type: string };

/** What lies at `path` of something that was parsed; `undefined` where that leads nowhere. */
export function valueAt(value: unknown, path: Path): unknown {
  let part = value;
  for (const key of path) {
    if (Array.isArray(part)) part = part[Number(key)];
    else part = isObject(part) && Object.hasOwn(part, key) ? part[key] : undefined;
  }
  return part;
}

function isSchema(value: unknown): value is AnySchema {
  return isObject(value) && value["kind"] === "schema";
}

/** Whether the key may be left out: it has a default, or can do without. */
export function isOptional(schema: AnySchema): boolean {
  return schema.type === "optional";
}

function unwrap(schema: AnySchema): AnySchema {
  return "wrapped" in schema && isSchema(schema.wrapped) ? unwrap(schema.wrapped) : schema;
}

export function shapeOf(wrapped: AnySchema): Shape {
  const schema = unwrap(wrapped);
  if ("entries" in schema && isObject(schema.entries)) {
    const entries = new Map(
      Object.entries(schema.entries).flatMap(([key, entry]) => (isSchema(entry) ? [[key, entry]] : [])),
    );
    const rest = "rest" in schema && isSchema(schema.rest) ? schema.rest : undefined;
    return { kind: "object", entries, rest, loose: schema.type === "loose_object" };
  }
  if (schema.type === "record" && "value" in schema && isSchema(schema.value)) {
    return { kind: "record", value: schema.value };
  }
  if ("item" in schema && isSchema(schema.item)) return { kind: "list", item: schema.item };
  if (schema.type === "union" && "options" in schema && Array.isArray(schema.options)) {
    return { kind: "union", options: schema.options.filter(isSchema) };
  }
  return { kind: "value", type: schema.type };
}

/** The option of a union that a value of this kind is meant for. */
export function optionFor(options: readonly AnySchema[], value: unknown): AnySchema | undefined {
  return options.find((option) => (shapeOf(option).kind === "object") === isObject(value));
}

/** The schema of what lies at `path`; `undefined` where the schema leaves everything open. */
export function schemaAt(root: AnySchema, path: Path): AnySchema | undefined {
  let schema: AnySchema | undefined = root;
  for (const key of path) {
    if (schema === undefined) return undefined;
    schema = stepInto(shapeOf(schema), key);
  }
  return schema;
}

function stepInto(shape: Shape, key: string | number): AnySchema | undefined {
  switch (shape.kind) {
    case "object":
      return shape.entries.get(String(key)) ?? shape.rest;
    case "record":
      return shape.value;
    case "list":
      return shape.item;
    case "union": {
      const inner = shape.options.map(shapeOf).find((option) => option.kind !== "value");
      return inner && stepInto(inner, key);
    }
    case "value":
      return undefined;
  }
}

/** What a value must be, in words: `a whole number from 1 to 10`, `a list of strings`. */
export function expected(wrapped: AnySchema): string {
  const schema = unwrap(wrapped);
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case "object":
    case "record":
      return "an object";
    case "list":
      return `a list of ${shapeOf(shape.item).kind === "object" ? "objects" : plural(expected(shape.item))}`;
    case "union":
      return [...new Set(statedOptions(shape.options).map(expected))].join(" or ");
    case "value":
      return expectedValue(schema);
  }
}

/** A string is right wherever a number would do as well, so the number goes unsaid. */
function statedOptions(options: readonly AnySchema[]): readonly AnySchema[] {
  const takesText = options.some((option) => option.type === "string");
  return takesText ? options.filter((option) => option.type !== "number") : options;
}

function plural(words: string): string {
  return words
    .split(" or ")
    .map((one) => `${one.replace(/^an? /, "")}s`)
    .join(" or ");
}

function expectedValue(schema: AnySchema): string {
  const rules = rulesOf(schema);
  const custom = rules.find((rule) => rule["type"] === "check")?.["message"];
  if (typeof custom === "string") return custom;
  if (schema.type === "picklist" && "options" in schema && Array.isArray(schema.options)) {
    return `one of ${schema.options.map((option) => JSON.stringify(option)).join(", ")}`;
  }
  if (schema.type === "string") return "a string";
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "number") return expectedNumber(rules);
  return "something else";
}

function rulesOf(schema: AnySchema): readonly Readonly<Record<string, unknown>>[] {
  if (!("pipe" in schema) || !Array.isArray(schema.pipe)) return [];
  // A pipe around a pipe: a description was added to a schema that has rules.
  return schema.pipe.flatMap((item) => (isSchema(item) ? rulesOf(item) : isObject(item) ? [item] : []));
}

function expectedNumber(rules: readonly Readonly<Record<string, unknown>>[]): string {
  const bound = (type: string) => rules.find((rule) => rule["type"] === type)?.["requirement"];
  const min = bound("min_value");
  const max = bound("max_value");
  const noun = rules.some((rule) => rule["type"] === "integer") ? "a whole number" : "a number";
  if (min === undefined) return noun;
  return max === undefined || max === Number.MAX_SAFE_INTEGER
    ? `${noun}, ${min} or more`
    : `${noun} from ${min} to ${max}`;
}

/** The kind of a value in words, and never the value. */
export function found(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "boolean" ? "true or false" : `a ${typeof value}`;
}
