/** The owner's patterns for commands. */

import type { SimpleCommand } from "./parsed.ts";
import { shown } from "./word.ts";

export interface Patterns {
  allows(command: SimpleCommand): boolean;
  /** The pattern that forbids the text or a command in it. */
  whichDenies(text: string, commands: readonly SimpleCommand[]): string | undefined;
  shownCommand(command: SimpleCommand): string;
  /** The patterns that allow, for a message. */
  readonly listed: string;
}

export function compilePatterns(given: {
  readonly allowPatterns: readonly string[];
  readonly denyPatterns: readonly string[];
}): Patterns | { readonly broken: string } {
  const compiled = new Map<string, RegExp>();
  const wholes = given.allowPatterns.map((pattern) => ({ pattern, source: `^(?:${pattern})$` }));
  for (const { pattern, source } of [
    ...wholes,
    ...given.denyPatterns.map((pattern) => ({ pattern, source: pattern })),
  ]) {
    try {
      // Alone first: `a)|(b` is no expression and would become one between brackets.
      new RegExp(pattern);
      compiled.set(source, new RegExp(source, "i"));
    } catch {
      return { broken: pattern };
    }
  }
  return {
    allows(command) {
      const text = shownCommand(command);
      return wholes.some(({ source }) => compiled.get(source)?.test(text) === true);
    },
    whichDenies(text, commands) {
      const texts = [text, ...commands.map(shownCommand)];
      return given.denyPatterns.find((pattern) =>
        texts.some((one) => compiled.get(pattern)?.test(one) === true),
      );
    },
    shownCommand,
    listed: given.allowPatterns
      .slice(0, 10)
      .map((pattern) => `"${pattern}"`)
      .join(", "),
  };
}

/** Builtins that take their assignments as arguments. */
const declares = /^(?:declare|export|local|nameref|readonly|typeset)$/;

/** A simple command on one line, as its owner would write it: decoded, with its assignments and files. */
function shownCommand({ assignments, words, redirects }: SimpleCommand): string {
  const files = redirects.filter(({ target }) => shown(target) !== "/dev/null");
  const values = assignments.map(
    ({ name, value }) => `${name}=${value === undefined ? "(…)" : shown(value)}`,
  );
  const texts = words.map(shown);
  return [
    ...(declares.test(texts[0] ?? "") ? [...texts, ...values] : [...values, ...texts]),
    ...files.flatMap(({ writes, target }) => [writes ? ">" : "<", shown(target)]),
  ].join(" ");
}
