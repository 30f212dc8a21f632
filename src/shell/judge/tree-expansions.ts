/** Walks into the expansions of variables, where commands can stand. */

import type { Surroundings } from "./surroundings.ts";
import { type Node, OPERATOR, type ShellSyntax } from "./syntax.ts";
import { type TreeContext, TreeProblem } from "./tree-context.ts";
import { readWord, staticText } from "./word.ts";

export function visitExpansion(context: TreeContext, node: Node, at: Surroundings): void {
  const { syntax, listener, visit, evaluated } = context;
  const { child, children } = syntax;
  evaluated("a subscript", ...children(node, "Index"));
  visit(child(node, "Index"), at);
  for (const [holder, names] of [
    ["Slice", ["Offset", "Length"]],
    ["Repl", ["Orig", "With"]],
    ["Exp", ["Word"]],
  ] as const) {
    // These three are plain records of nodes, without a type of their own.
    const record = node.raw[holder];
    for (const one of names.flatMap((name) => syntax.inRecord(record, name))) {
      visit(one, { ...at, certainty: "maybe" });
      if (holder === "Exp" && at.quoted) refuseQuotes(syntax, one);
      if (holder === "Exp" && isPrompt(syntax, record, one)) {
        listener.suspect({
          rule: "dynamic-code",
          reason: "an expansion with @P runs what the variable holds",
        });
      }
    }
  }
}

/** Single quotes in `"${x-'…'}"` quote nothing for the shell, and the parser takes what is in them for text. */
function refuseQuotes({ children }: ShellSyntax, word: Node): void {
  for (const part of children(word, "Parts")) {
    if (part.type === "SglQuoted" && /[$`"\\}]/.test(String(part.raw["Value"]))) {
      throw new TreeProblem("there are single quotes in an expansion that is in double quotes");
    }
  }
}

/** `${name@P}` */
function isPrompt(syntax: ShellSyntax, record: unknown, word: Node): boolean {
  const operator = typeof record === "object" && record !== null && "Op" in record ? record.Op : undefined;
  return operator === OPERATOR.transform && staticText(readWord(syntax, word)) === "P";
}
