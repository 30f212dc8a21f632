/** Fields of a JSON object that is somebody else's too: read under both of their names, and written beside all others. */

import { isObject } from "../lib/is-object.ts";

export type RawObject = Readonly<Record<string, unknown>>;

function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** By its name in camelCase, else in snake_case. */
export function fieldOf(raw: RawObject, name: string): unknown {
  if (Object.hasOwn(raw, name)) return raw[name];
  const snake = snakeOf(name);
  return Object.hasOwn(raw, snake) ? raw[snake] : undefined;
}

/** The original's null is an object without anything in it. */
export function objectOf(raw: RawObject, name: string): RawObject {
  const value = fieldOf(raw, name);
  return isObject(value) ? value : {};
}

/** A whole number, also as a text. What is null, blank or nothing of the kind is `undefined`. */
export function wholeOf(raw: RawObject, name: string): number | undefined {
  const value = fieldOf(raw, name);
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) return undefined;
  const whole = Math.round(number);
  return Number.isSafeInteger(whole) ? whole : undefined;
}

/** A text that is not blank; numbers count as theirs, since ids of chats are often written so. */
export function textOf(raw: RawObject, name: string): string | undefined {
  const value = fieldOf(raw, name);
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** With these in the place of what there was under either name, in camelCase. What is `undefined` is left out. */
export function withFields(raw: RawObject, fields: RawObject): RawObject {
  const changed: Record<string, unknown> = { ...raw };
  for (const [name, value] of Object.entries(fields)) {
    const snake = snakeOf(name);
    if (snake !== name) delete changed[snake];
    if (value === undefined) delete changed[name];
    else changed[name] = value;
  }
  return changed;
}
