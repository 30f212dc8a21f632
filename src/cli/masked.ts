/** What is stored, made fit to be shown: every text in it without the secrets that this process knows. */

import { isObject } from "../lib/is-object.ts";

/** Names of fields stay as they are. */
export function masked<Value>(value: Value, mask: (text: string) => string): Value {
  return deep(value, mask) as Value;
}

function deep(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => deep(item, mask));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, deep(item, mask)]));
}
