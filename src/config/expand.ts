/** `${NAME}` in settings, replaced from the environment where a section is used and never in the file. */

import { UserError } from "../core/errors.ts";
import { isObject } from "../lib/is-object.ts";
import type { Environment } from "./environment.ts";
import { showPath } from "./keys.ts";
import type { Path } from "./shape.ts";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * A copy of `value` with every variable in its strings replaced. `path` is where it lies in the
 * configuration, for the `UserError` that a variable without a value is.
 */
export function expandVariables<Value>(value: Value, env: Environment, path: Path): Value {
  // Strings become strings and the rest keeps its shape, which the compiler cannot follow.
  return expand(value, env, path) as Value;
}

function expand(value: unknown, env: Environment, path: Path): unknown {
  if (typeof value === "string") return expandText(value, env, path);
  if (Array.isArray(value)) return value.map((item, index) => expand(item, env, [...path, index]));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, expand(part, env, [...path, key])]),
  );
}

function expandText(text: string, env: Environment, path: Path): string {
  return text.replace(VARIABLE, (_, name: string) => {
    const value = env[name];
    if (value !== undefined) return value;
    throw new UserError(`Expand ${showPath(path)}: the environment variable ${name} is not set`, {
      hint: `Set ${name} in the environment nanobot is started with`,
    });
  });
}

/** The variables a text asks for. */
export function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}
