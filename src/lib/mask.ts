/** Takes secrets out of text, in the spellings in which they leak. */

import { Buffer } from "node:buffer";

export const MASKED = "[masked]";

/** Shorter values are ordinary words more often than secrets, and hiding them would garble every line. */
export const SHORTEST_SECRET = 8;

/** One way to write a secret. */
interface Spelling {
  readonly form: string;
  /** Lines end inside it, as they do in base64 after every 76 characters. */
  readonly wraps: boolean;
}

/**
 * How `secret` looks inside a longer text that was encoded as base64. Three bytes become four characters,
 * so it depends on whether the secret begins at the first, second or third byte of such a group. Left out
 * are the characters at both ends that also hold bits of what stands beside the secret.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const first = Math.ceil((shift * 8) / 6);
    const last = Math.floor(((shift + bytes.length) * 8) / 6);
    return encoded.slice(first, last);
  });
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0");

/** Encoders differ in which marks they leave as they are, and in the case of their digits. */
function urlForms(secret: string): string[] {
  const text = secret.toWellFormed();
  const usual = encodeURIComponent(text);
  const strict = usual.replace(/[!'()*]/g, (mark) => `%${hex(mark.charCodeAt(0), 2).toUpperCase()}`);
  const inForm = new URLSearchParams([["", text]]).toString().slice(1);
  const all = [usual, strict, inForm, usual.replaceAll("%2F", "/"), strict.replaceAll("%2F", "/")];
  return all.flatMap((form) => [form, form.replace(/%../g, (code) => code.toLowerCase())]);
}

/** Some writers of JSON escape all that is not ASCII. */
function jsonForms(secret: string): string[] {
  const usual = JSON.stringify(secret).slice(1, -1);
  return [usual, usual.replace(/[^\0-\x7e]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)];
}

function spellings(secret: string): Spelling[] {
  const base64 = base64Forms(secret);
  const base64Url = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [
    ...[secret, ...urlForms(secret), ...jsonForms(secret)].map((form) => ({ form, wraps: false })),
    ...[...base64, ...base64Url].map((form) => ({ form, wraps: true })),
  ];
}

function escapeForRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

/** How a line ends, also inside JSON. None begins like another. */
const LINE_ENDS = ["\n", "\r\n", "\\n", "\\r\\n"];
const LONGEST_LINE_END = 4;
const LINE_END = `(?:${LINE_ENDS.map(escapeForRegExp).join("|")})?`;

/** What to look for. */
export interface SecretSpellings {
  /** Every spelling of every secret, the longest first, by the code of its first character. */
  readonly byFirst: ReadonlyMap<number, readonly Spelling[]>;
  /** The length of the longest one. */
  readonly longest: number;
  /** Finds the first two characters of each: a pattern of all in full would take long to make. */
  readonly beginning: RegExp;
}

/** `undefined` when there is nothing to find. */
export function secretSpellings(secrets: Iterable<string>): SecretSpellings | undefined {
  const all = new Map<string, Spelling>();
  for (const value of secrets) {
    // A newline at the end comes from the file that it was read from, and goes as easily.
    const secret = value.trim();
    if (secret.length < SHORTEST_SECRET) continue;
    for (const spelling of spellings(secret)) all.set(spelling.form, spelling);
  }
  if (all.size === 0) return undefined;
  const byFirst = new Map<number, Spelling[]>();
  const beginnings = new Set<string>();
  let longest = 0;
  for (const spelling of [...all.values()].sort((a, b) => b.form.length - a.form.length)) {
    const { form, wraps } = spelling;
    const first = form.charCodeAt(0);
    const beside = byFirst.get(first);
    if (beside === undefined) byFirst.set(first, [spelling]);
    else beside.push(spelling);
    const [one = "", two = ""] = [form.charAt(0), form.charAt(1)].map(escapeForRegExp);
    beginnings.add(one + (wraps ? LINE_END : "") + two);
    longest = Math.max(longest, wraps ? form.length * (1 + LONGEST_LINE_END) : form.length);
  }
  return { byFirst, longest, beginning: new RegExp([...beginnings].join("|"), "g") };
}

/** Where the line end at `at` stops; `open` when `text` ends inside of one. */
function lineEnd(text: string, at: number): number | "open" | undefined {
  for (const end of LINE_ENDS) {
    if (text.startsWith(end, at)) return at + end.length;
    if (at < text.length && end.startsWith(text.slice(at, at + LONGEST_LINE_END))) return "open";
  }
  return undefined;
}

/** Where the spelling that begins at `at` stops, if it stands there; `open` when `text` ends inside of it. */
export function reach(text: string, at: number, { form, wraps }: Spelling): number | "open" | undefined {
  let place = at;
  for (let index = 0; index < form.length; index++) {
    if (wraps && index > 0 && text.charCodeAt(place) !== form.charCodeAt(index)) {
      const end = lineEnd(text, place);
      if (end === "open") return end;
      place = end ?? place;
    }
    if (place >= text.length) return "open";
    if (text.charCodeAt(place) !== form.charCodeAt(index)) return undefined;
    place++;
  }
  return place;
}

/** The first secret in `text` that begins at `from` or later, the longest of those that begin there. */
export function findSecret(
  text: string,
  from: number,
  { byFirst, beginning }: SecretSpellings,
): { readonly index: number; readonly end: number } | undefined {
  beginning.lastIndex = from;
  for (let found = beginning.exec(text); found !== null; found = beginning.exec(text)) {
    const { index } = found;
    for (const spelling of byFirst.get(text.charCodeAt(index)) ?? []) {
      const end = reach(text, index, spelling);
      if (typeof end === "number") return { index, end };
    }
    beginning.lastIndex = index + 1;
  }
  return undefined;
}

/** `text` with `MASKED` in the place of every secret. */
export function maskSecrets(text: string, known: SecretSpellings | undefined): string {
  if (known === undefined) return text;
  let masked = "";
  let from = 0;
  for (let found = findSecret(text, 0, known); found; found = findSecret(text, from, known)) {
    masked += text.slice(from, found.index) + MASKED;
    from = found.end;
  }
  return from === 0 ? text : masked + text.slice(from);
}

/** A function that puts `MASKED` in the place of every secret. */
export function createMask(secrets: Iterable<string>): (text: string) => string {
  const known = secretSpellings(secrets);
  return (text) => maskSecrets(text, known);
}

/** Credentials by their look, for those that nobody configured here: bot tokens, API keys, passwords in addresses and assignments. */
export const LOOKALIKES: readonly { readonly pattern: RegExp; readonly replacement: string }[] = [
  // From the first digit on or not at all: tried from each, a long number would take for ever.
  { pattern: /(?:bot)?(?<!\d)\d{6,}:[A-Za-z0-9_-]{20,}/g, replacement: MASKED },
  { pattern: /\b(?:sk|xox[abprs]|ghp|gho|hf|nvapi)[-_][A-Za-z0-9_-]{10,}/g, replacement: MASKED },
  { pattern: /\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, replacement: MASKED },
  { pattern: /(:\/\/[^\s/:@]{0,100}:)[^\s/@]{1,200}@/g, replacement: `$1${MASKED}@` },
  {
    pattern: /\b(\w{0,60}(?:KEY|TOKEN|SECRET|PASSWORD)\w{0,60}=)[^\s"'\\;|&]{6,}/gi,
    replacement: `$1${MASKED}`,
  },
];

/** A text without what looks like a credential. */
export function maskLookalikes(text: string): string {
  return LOOKALIKES.reduce((masked, { pattern, replacement }) => masked.replace(pattern, replacement), text);
}
