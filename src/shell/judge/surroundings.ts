/** What is true of a command because of where it stands. */

import type { Scope, SimpleCommand } from "./parsed.ts";
import type { Dialect } from "./syntax.ts";

type OfCommand = Omit<SimpleCommand, "words" | "assignments" | "redirects" | "keyword">;

export interface Surroundings extends OfCommand {
  readonly depth: number;
  /** How this tree was read, where a shell may read it in more than one way. */
  readonly reading: Dialect;
  /** Between double quotes, or in a here-document. */
  readonly quoted: boolean;
}

export const topLevel: Surroundings = {
  depth: 0,
  via: [],
  within: [],
  concurrent: false,
  remote: false,
  stdin: { kind: "inherited" },
  certainty: "gate",
  scopes: [],
  repeats: false,
  feeds: false,
  kept: false,
  dialect: "bash",
  supposed: false,
  reading: "bash",
  quoted: false,
};

/** In a list of its own. A loop around a shell does not move what is around it. */
export function inScope(at: Surroundings, scope: Scope): Surroundings {
  return { ...at, scopes: [...at.scopes, scope], repeats: at.repeats && !scope.isApart };
}
