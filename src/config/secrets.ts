/** Which values must never be shown: those of keys and variables that are named like secrets. */

import type { Environment } from "../core/platform.ts";
import { isObject } from "../lib/is-object.ts";
import { SHORTEST_SECRET } from "../lib/mask.ts";
import { variablesIn } from "./expand.ts";

const secretWords = new Set([
  "authorization",
  "cookie",
  "credential",
  "credentials",
  "key",
  "passphrase",
  "passwd",
  "password",
  "secret",
  "token",
]);

function looksSecret(key: string): boolean {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const last = words.at(-1) ?? "";
  return secretWords.has(last) || /(apikey|accesstoken|password)$/.test(key.toLowerCase());
}

function looksSecretVariable(name: string): boolean {
  return /KEY|TOKEN|SECRET|PASSWORD/i.test(name);
}

/**
 * `values` are the configuration as written, where also what no schema knows can be a secret, and as it
 * holds, with what came from the environment.
 */
export function secretsOf(values: readonly unknown[], env: Environment): string[] {
  const secrets = new Set<string>();
  for (const value of configured(values, false)) {
    const names = variablesIn(value);
    for (const name of names) addLong(secrets, env[name]);
    if (names.length === 0) addLong(secrets, value);
  }
  for (const [name, value] of Object.entries(env)) {
    if (looksSecretVariable(name)) addLong(secrets, value);
  }
  return [...secrets];
}

function addLong(secrets: Set<string>, value: string | undefined): void {
  if (value !== undefined && value.length >= SHORTEST_SECRET) secrets.add(value);
}

/** Every string below a key that looks secret, and the password of every address. */
function* configured(value: unknown, isSecret: boolean): Generator<string> {
  if (typeof value === "string") {
    if (isSecret) yield value;
    else yield* passwordIn(value);
  } else if (typeof value === "number") {
    if (isSecret) yield String(value);
  } else if (Array.isArray(value)) {
    for (const item of value) yield* configured(item, isSecret);
  } else if (isObject(value)) {
    for (const [key, part] of Object.entries(value)) {
      yield* configured(part, isSecret || looksSecret(key) || /headers$/i.test(key) || isVariable(key));
    }
  }
}

/** A key of an `env` block: `GITHUB_TOKEN_READ`. */
function isVariable(key: string): boolean {
  return key === key.toUpperCase() && looksSecretVariable(key);
}

function* passwordIn(text: string): Generator<string> {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s:@]*:([^/?#\s@]+)@/i.exec(text)?.[1];
  if (password !== undefined) yield password;
}
