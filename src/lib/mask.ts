/** Takes secrets out of text, in the spellings in which they leak. */

import { Buffer } from "node:buffer";

export const MASKED = "[masked]";

/** Shorter values are ordinary words more often than secrets, and hiding them would garble every line. */
export const SHORTEST_SECRET = 8;

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

function forms(secret: string): string[] {
  const base64 = base64Forms(secret);
  const base64Url = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
    ...base64,
    ...base64Url,
  ];
}

function escapeForRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

/** What to look for. */
export interface SecretSpellings {
  /** Every spelling of every secret, by the code of its first character. */
  readonly byFirst: ReadonlyMap<number, readonly string[]>;
  /** The length of the longest one. */
  readonly longest: number;
  /** Finds them all, the longest of those that begin at the same place. */
  readonly pattern: RegExp;
}

/** `undefined` when there is nothing to find. */
export function secretSpellings(secrets: Iterable<string>): SecretSpellings | undefined {
  const all = new Set<string>();
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) for (const form of forms(secret)) all.add(form);
  }
  if (all.size === 0) return undefined;
  const longestFirst = [...all].sort((a, b) => b.length - a.length);
  const byFirst = new Map<number, string[]>();
  for (const form of longestFirst) {
    const first = form.charCodeAt(0);
    const beside = byFirst.get(first);
    if (beside === undefined) byFirst.set(first, [form]);
    else beside.push(form);
  }
  return {
    byFirst,
    longest: longestFirst[0]?.length ?? 0,
    pattern: new RegExp(longestFirst.map(escapeForRegExp).join("|"), "g"),
  };
}

/** `text` with `MASKED` in the place of every secret. */
export function maskSecrets(text: string, spellings: SecretSpellings | undefined): string {
  return spellings === undefined ? text : text.replace(spellings.pattern, MASKED);
}

/** A function that puts `MASKED` in the place of every secret. */
export function createMask(secrets: Iterable<string>): (text: string) => string {
  const spellings = secretSpellings(secrets);
  return (text) => maskSecrets(text, spellings);
}

/** Credentials by their look, for those that nobody configured here: bot tokens, API keys, passwords in addresses and assignments. */
export const LOOKALIKES: readonly { readonly pattern: RegExp; readonly replacement: string }[] = [
  { pattern: /(?:bot)?\d{6,}:[A-Za-z0-9_-]{20,}/g, replacement: MASKED },
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
