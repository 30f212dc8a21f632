/** What a model gave where a text was asked for, as a text: models send objects, lists and numbers all the same. */

import { isObject } from "../lib/is-object.ts";

const DEEPEST = 4;

/** "" for nothing at all. */
export function readable(value: unknown, depth = 0): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (depth >= DEEPEST || typeof value !== "object") return JSON.stringify(value) ?? "";
  const within = (item: unknown) => readable(item, depth + 1).trim();
  if (Array.isArray(value)) {
    return value
      .map(within)
      .filter((item) => item !== "")
      .map((item) => `- ${item.replace(/^[-*] /, "").replaceAll("\n", "\n  ")}`)
      .join("\n");
  }
  if (!isObject(value)) return "";
  const entries = Object.entries(value)
    .map(([key, item]) => ({ key, text: within(item) }))
    .filter(({ text }) => text !== "");
  const [only] = entries;
  if (entries.length === 1 && only !== undefined) return only.text;
  return entries
    .map(({ key, text }) => (text.includes("\n") ? `${key}:\n${text}` : `${key}: ${text}`))
    .join("\n");
}
