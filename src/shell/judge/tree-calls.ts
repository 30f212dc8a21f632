/** Reads the calls of programs in a syntax tree, and what variables are set to. */

import type { Assignment, Redirect } from "./parsed.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Node } from "./syntax.ts";
import type { TreeContext } from "./tree-context.ts";
import { readWord, readWords, textWord } from "./word.ts";

export function visitCall(
  context: TreeContext,
  node: Node,
  redirects: readonly Redirect[],
  at: Surroundings,
): void {
  const { syntax, listener, visit, report } = context;
  const { children } = syntax;
  const assignments = children(node, "Assigns").map((one) => readAssignment(context, one, at));
  const args = children(node, "Args");
  for (const word of args) visit(word, { ...at, certainty: "maybe" });
  const words = args.flatMap((word) => readWords(syntax, word));
  if (words.length === 0) for (const { name, value } of assignments) listener.assigned(name, value);
  if (words.length > 0 || assignments.length > 0 || redirects.length > 0) {
    report({ words, assignments, redirects }, at);
  }
}

export function visitDeclaration(
  context: TreeContext,
  node: Node,
  redirects: readonly Redirect[],
  at: Surroundings,
): void {
  const { syntax, listener, visit, report } = context;
  const { child, children } = syntax;
  const words = [textWord(String(child(node, "Variant")?.raw["Value"] ?? "declare"))];
  const assignments: Assignment[] = [];
  for (const one of children(node, "Args")) {
    if (one.raw["Naked"] !== true) {
      const assignment = readAssignment(context, one, at);
      assignments.push(assignment);
      listener.assigned(assignment.name, assignment.value);
      continue;
    }
    const name = child(one, "Name")?.raw["Value"];
    const value = child(one, "Value");
    visit(value, at);
    // `declare "$x"` can set anything.
    if (value !== undefined) words.push(...readWords(syntax, value));
    else words.push(textWord(String(name ?? "")));
  }
  report({ words, assignments, redirects }, at);
}

function readAssignment(
  { syntax, each, evaluated, keyword }: TreeContext,
  node: Node,
  at: Surroundings,
): Assignment {
  const { child, children } = syntax;
  each(node, ["Index", "Array", "Value"], at);
  const name = String(child(node, "Name")?.raw["Value"] ?? "");
  const value = child(node, "Value");
  const appends = node.raw["Append"] === true;
  const array = child(node, "Array");
  const word = value === undefined ? undefined : readWord(syntax, value);
  // Arithmetic evaluates what a variable holds, subscripts with commands in them included.
  if (value !== undefined) evaluated(name, value);
  evaluated(name, ...children(node, "Index"));
  if (array !== undefined) {
    const items = children(array, "Elems").flatMap((item) => {
      const held = child(item, "Value");
      evaluated(name, ...children(item, "Index"), ...children(item, "Value"));
      return held === undefined ? [] : readWords(syntax, held);
    });
    keyword("for", items, at);
    return { name, value: undefined };
  }
  if (word === undefined) return { name, value: appends ? undefined : textWord("") };
  if (appends || child(node, "Index") !== undefined) {
    keyword("for", [word], at);
    return { name, value: undefined };
  }
  return { name, value: word };
}
