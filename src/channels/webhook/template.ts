/** Texts with `{{a.b.0.c}}` in them, filled in from JSON. Nothing is run, and what is filled in is not looked at again. */

import { isObject } from "../../lib/is-object.ts";
import { clip, stripControls, wellFormed } from "../../lib/text.ts";

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** UTF-16 units of one value, and of the whole. */
const LONGEST_VALUE = 20_000;
const LONGEST_TEXT = 100_000;

export function hasPlaceholders(template: string): boolean {
  return template.search(PLACEHOLDER) !== -1;
}

/** What is missing leaves nothing behind. */
export function fillIn(template: string, json: unknown): string {
  let room = LONGEST_TEXT;
  const filled = template.replace(PLACEHOLDER, (_, path: string) => {
    if (room <= 0) return "";
    const value = shown(valueAt(json, path.trim()));
    room -= value.length;
    return value;
  });
  return clip(filled, LONGEST_TEXT);
}

/** Only what is in the data itself is found: nothing that objects, lists and texts have by nature. */
function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const step of path.split(".")) {
    if (Array.isArray(value)) value = /^\d{1,9}$/.test(step) ? value[Number(step)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return readable(clip(text, LONGEST_VALUE));
}

/** Whatever could hide in a text, or break what it is stored in, is gone. */
export function readable(text: string): string {
  return wellFormed(stripControls(text));
}
