/** JSON to print: terminals obey some characters, and JSON leaves most of them as they are. */

/** Control and format characters and the separators of lines. Newlines only come from the indentation: in strings they are escaped. */
const STEERING = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** One `\uXXXX` for each UTF-16 unit, which every JSON parser reads back. */
function spellOut(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** On one line, or with `indent` spaces a level. Without a newline at the end. */
export function safeJson(value: object, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(STEERING, spellOut);
}
