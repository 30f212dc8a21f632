/** Names of keys: which spelling is the schema's, and which may be shown. */

import type { Path } from "./shape.ts";

/** Names that reach an object's prototype. Nobody has a provider or a channel called so. */
const forbidden = new Set(["__proto__", "prototype", "constructor"]);

export function isForbidden(key: string): boolean {
  return forbidden.has(key);
}

export function toCamel(key: string): string {
  return key.replace(/(?<=[A-Za-z0-9])_+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A key as it may be printed. Whoever mixes up keys and values must not find a secret in the log. */
export function shown(key: string): string {
  const digits = key.replace(/\D/g, "").length;
  const isName = /^[A-Za-z_][A-Za-z0-9_./-]{0,59}$/.test(key);
  return isName && digits <= 4 && !/^(sk|pk|rk|gsk|ghp|xox\w|hf|nvapi)[-_]/i.test(key) ? key : "<redacted>";
}

/** `channels.telegram.allowFrom[1]` */
export function showPath(path: Path): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += text === "" ? shown(key) : `.${shown(key)}`;
  }
  return text;
}
