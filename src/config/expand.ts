/** `${NAME}` in settings, replaced from the environment where a section is used and never in the file. */

import { UserError } from "../core/errors.ts";
import type { Environment } from "../core/platform.ts";
import { isObject } from "../lib/is-object.ts";
import { showPath } from "./keys.ts";
import type { Path } from "./shape.ts";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** What stands for a variable that has no value. */
type Missing = (name: string, path: Path) => string;

/**
 * A copy of `value` with every variable in its strings replaced. `path` is where it lies in the
 * configuration, for the `UserError` that a variable without a value is.
 */
export function expandVariables<Value>(
  value: Value,
  env: Environment,
  path: Path,
  missing: Missing = refuse,
): Value {
  function expand(part: unknown, at: Path): unknown {
    if (typeof part === "string") {
      return part.replace(VARIABLE, (_, name: string) => env[name] ?? missing(name, at));
    }
    if (Array.isArray(part)) return part.map((item, index) => expand(item, [...at, index]));
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, expand(inner, [...at, key])]));
  }
  // Strings become strings and the rest keeps its shape, which the compiler cannot follow.
  return expand(value, path) as Value;
}

function refuse(name: string, path: Path): never {
  throw new UserError(`Expand ${showPath(path)}: the environment variable ${name} is not set`, {
    hint: `Set ${name} in the environment nanobot is started with`,
  });
}

/** The variables a text asks for. */
export function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}
