/** Takes secrets out of text, in the spellings in which they leak. */

import { Buffer } from "node:buffer";

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

/** A pattern that finds every spelling of every secret, longest first; `undefined` when there is none to find. */
export function secretPattern(secrets: Iterable<string>): RegExp | undefined {
  const all = new Set<string>();
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) for (const form of forms(secret)) all.add(form);
  }
  if (all.size === 0) return undefined;
  const alternatives = [...all].sort((a, b) => b.length - a.length).map(escapeForRegExp);
  return new RegExp(alternatives.join("|"), "g");
}

/** A function that puts `[masked]` in the place of every secret. */
export function createMask(secrets: Iterable<string>): (text: string) => string {
  const pattern = secretPattern(secrets);
  return pattern ? (text) => text.replace(pattern, "[masked]") : (text) => text;
}
