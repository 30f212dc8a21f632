/** What the parts of the walk over a syntax tree share: reporting what they find. */

import type { Assignment, Redirect, SimpleCommand, Suspicion } from "./parsed.ts";
import { hiddenCommand } from "./subscripts.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Node, ShellSyntax } from "./syntax.ts";
import { readWord, staticText, textWord, type Word } from "./word.ts";

export interface TreeListener {
  command(command: SimpleCommand): void;
  defined(name: string): void;
  assigned(name: string, value: Word | undefined): void;
  suspect(suspicion: Suspicion): void;
}

/** The tree is one that is not understood, and the command is refused. */
export class TreeProblem extends Error {}

export interface TreeContext {
  readonly syntax: ShellSyntax;
  readonly listener: TreeListener;
  visit(node: Node | undefined, at: Surroundings): void;
  /** What the fields of these names hold is visited. */
  each(node: Node, names: readonly string[], at: Surroundings): void;
  report(command: Reported, at: Surroundings): void;
  /** Words that are looked at like those of a command, and run nothing. */
  keyword(name: string, words: readonly Word[], at: Surroundings): void;
  /** The shell takes the text of these words for arithmetic, and runs what is hidden in it. */
  evaluated(where: string, ...nodes: readonly Node[]): void;
}

interface Reported {
  readonly words: readonly Word[];
  readonly assignments?: readonly Assignment[];
  readonly redirects?: readonly Redirect[];
  readonly keyword?: boolean;
}

export function createTreeContext(
  syntax: ShellSyntax,
  listener: TreeListener,
  visit: TreeContext["visit"],
): TreeContext {
  const report: TreeContext["report"] = (
    { words, assignments = [], redirects = [], keyword = false },
    { depth: _, reading: __, quoted: ___, ...at },
  ) =>
    listener.command({
      ...at,
      words,
      assignments,
      redirects,
      certainty: assignments.length === 0 ? at.certainty : "maybe",
      keyword,
    });
  return {
    syntax,
    listener,
    visit,
    report,
    each(node, names, outer) {
      const at: Surroundings = { ...outer, certainty: "maybe" };
      for (const name of names) for (const one of syntax.children(node, name)) visit(one, at);
    },
    keyword(name, words, at) {
      if (words.length > 0) report({ words: [textWord(name), ...words], keyword: true }, at);
    },
    evaluated(where, ...nodes) {
      for (const node of nodes) {
        if (node.type !== "Word") continue;
        for (const suspicion of hiddenCommand(where, staticText(readWord(syntax, node))))
          listener.suspect(suspicion);
      }
    },
  };
}
