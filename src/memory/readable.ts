/** What a model gave where a text was asked for, as a text: models send objects, lists and numbers all the same. */

import { isObject } from "../lib/is-object.ts";
import { isDeeperThan } from "../lib/lenient-json.ts";
import { parseJson } from "../lib/parse-json.ts";

const DEEPEST = 4;
/** What is nested deeper is left as the text it came as: walking through it could overflow the stack. */
const DEEPEST_JSON = 64;

/** "" for nothing at all. */
export function readable(value: unknown, depth = 0): string {
  if (typeof value === "string") return readableText(value, depth);
  if (value === null || value === undefined) return "";
  if (depth >= DEEPEST || typeof value !== "object") return JSON.stringify(value) ?? "";
  const within = (item: unknown) => readable(item, depth + 1).trim();
  if (Array.isArray(value) && value.every(isBlock)) return value.map(within).join("\n");
  if (Array.isArray(value)) return readableList(value.map(within).filter((item) => item !== ""));
  if (!isObject(value)) return "";
  if (isBlock(value)) return within(value["text"]);
  const entries = Object.entries(value)
    .map(([key, item]) => ({ key, text: within(item) }))
    .filter(({ text }) => text !== "");
  const [only] = entries;
  if (entries.length === 1 && only !== undefined) return only.text;
  return entries
    .map(({ key, text }) => (text.includes("\n") ? `${key}:\n${text}` : `${key}: ${text}`))
    .join("\n");
}

/** Of the kind that messages are made of. */
function isBlock(value: unknown): value is { readonly text: string } {
  return isObject(value) && value["type"] === "text" && typeof value["text"] === "string";
}

/** Lines of a file that came one by one stay lines; anything else becomes a point. */
function readableList(items: readonly string[]): string {
  if (items.some((item) => item.startsWith("#"))) return items.join("\n");
  return items.map((item) => `- ${item.replace(/^[-*] /, "").replaceAll("\n", "\n  ")}`).join("\n");
}

/** JSON in a string is what it says, and the line ends of a text that was escaped twice are line ends. */
function readableText(text: string, depth: number): string {
  const value = depth < DEEPEST && /^\s*[[{"]/.test(text) ? parseJson(text) : undefined;
  if (value !== undefined && !isDeeperThan(DEEPEST_JSON, value)) return readable(value, depth + 1);
  const isEscaped = !text.trim().includes("\n") && /\\n(?=\\n|[-*#>\d\s]|$)/.test(text);
  return isEscaped ? text.replaceAll("\\n", "\n").replaceAll("\\t", "\t").replaceAll('\\"', '"') : text;
}
