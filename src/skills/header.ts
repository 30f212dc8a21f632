/** Reads the header of a skill: YAML as many programs write it, of which as much counts as can be understood. */

import { isObject } from "../lib/is-object.ts";
import { oneLine } from "../lib/text.ts";

export type Header = Readonly<Record<string, unknown>>;

export interface ParsedHeader {
  readonly fields: Header;
  readonly problem: string | undefined;
}

/** Of a parser's complaint. */
const LONGEST_COMPLAINT = 120;

/** Levels of lists and maps in each other; no header has a tenth of them. */
const DEEPEST = 64;
const MANY_IN_A_LINE = /^[ \t]*(?:(?:[-?:]|&\S+|!\S*)[ \t]+){33}/m;

/** A parser that calls itself for each level takes minutes for thousands of them where the heap is large. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "[" || character === "{") depth++;
    else if ((character === "]" || character === "}") && depth > 0) depth--;
    if (depth > DEEPEST) return true;
  }
  return MANY_IN_A_LINE.test(text);
}

/** Never rejects for what is in `text`, which has `linesBefore` lines of its file in front of it. */
export async function parseHeader(text: string, linesBefore = 0): Promise<ParsedHeader> {
  if (isTooDeep(text)) return plainLines(text, "it is nested too deep");
  const { parseDocument } = await import("yaml");
  try {
    const document = parseDocument(text, { logLevel: "silent", uniqueKeys: false, stringKeys: true });
    const [error] = document.errors;
    if (error !== undefined) return plainLines(text, inFile(error.message, linesBefore));
    // References, of which a few lines can make more than fits in memory, have no use here.
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (value === null) return { fields: {}, problem: undefined };
    return isObject(value)
      ? { fields: value, problem: undefined }
      : { fields: {}, problem: "its header is no list of keys and values" };
  } catch (error) {
    // A `RangeError` where brackets are nested too deep, a `ReferenceError` for references.
    if (!(error instanceof Error)) throw error;
    return plainLines(text, error.message);
  }
}

/** What a parser complains of, with the line that an editor shows. Behind it the parser quotes the lines themselves. */
function inFile(complaint: string, linesBefore: number): string {
  return complaint.replace(
    /^(.*) at line (\d+)(?=, column \d+:?(?:\n|$))/,
    (_, what: string, line: string) => `${what} at line ${Number(line) + linesBefore}`,
  );
}

const FIELD = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;

/** A colon in a sentence breaks YAML, and is what people write: then the keys at the beginning of lines count. */
function plainLines(text: string, complaint: string): ParsedHeader {
  const fields = new Map<string, string>();
  let last: string | undefined;
  for (const line of text.split("\n")) {
    const [, key, value = ""] = FIELD.exec(line) ?? [];
    if (key !== undefined) {
      fields.set(key, unquoted(value.trim()));
      last = key;
    } else if (last !== undefined && /^[ \t]+\S/.test(line)) {
      fields.set(last, `${fields.get(last) ?? ""} ${line.trim()}`.trim());
    }
  }
  const why = oneLine(complaint.split("\n", 1)[0] ?? "", LONGEST_COMPLAINT).replace(/[.:\s]+$/, "");
  return {
    fields: Object.fromEntries(fields),
    problem: `its header is not valid YAML (${why}), so that only its plain lines count`,
  };
}

/** Without the quotes, and without the sign of a text that begins on the next line. */
function unquoted(value: string): string {
  if (/^[|>][+-]?$/.test(value)) return "";
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}
