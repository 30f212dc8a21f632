/** Redirections: the files a command reads and writes, and where its standard input comes from. */

import type { Redirect, Stdin } from "./parsed.ts";
import { type Node, OPERATOR, type ShellSyntax } from "./syntax.ts";
import { dynamicWord, readWord, readWords, staticText } from "./word.ts";

const HERE_DOCUMENTS: ReadonlySet<unknown> = new Set(OPERATOR.hereDocuments);

export function readRedirects(
  syntax: ShellSyntax,
  nodes: readonly Node[],
): { redirects: readonly Redirect[]; stdin: Stdin | undefined } {
  const redirects: Redirect[] = [];
  let stdin: Stdin | undefined;
  for (const node of nodes) {
    const op = node.raw["Op"];
    const ofStdin = ["", "0"].includes(String(syntax.child(node, "N")?.raw["Value"] ?? ""));
    if (HERE_DOCUMENTS.has(op) || op === OPERATOR.hereString) {
      if (ofStdin) stdin = { kind: "text", text: inputText(syntax, node) };
      continue;
    }
    const reads = op === OPERATOR.read || op === OPERATOR.readCopy;
    if ((reads || op === OPERATOR.readWrite) && ofStdin) stdin = { kind: "file" };
    const target = readTarget(syntax, node);
    const isDescriptor = /^(?:\d+-?|-)$/.test(staticText(target) ?? "");
    if ((op === OPERATOR.writeCopy || op === OPERATOR.readCopy) && isDescriptor) {
      // Whatever that descriptor is.
      if (op === OPERATOR.readCopy && ofStdin) stdin = { kind: "pipe" };
      continue;
    }
    // A process substitution feeds the program what a command puts out.
    if (reads && ofStdin && staticText(target) === undefined) stdin = { kind: "pipe" };
    redirects.push({ writes: !reads, target });
  }
  return { redirects, stdin };
}

function readTarget(syntax: ShellSyntax, node: Node) {
  const word = syntax.child(node, "Word");
  const [only, ...more] = word === undefined ? [] : readWords(syntax, word);
  return only === undefined || more.length > 0 ? dynamicWord("a redirection to several files") : only;
}

/** What is fed to a program, where nothing in it is left to the shell. */
function inputText(syntax: ShellSyntax, node: Node): string | undefined {
  const document = syntax.child(node, "Hdoc");
  if (document === undefined) {
    const word = syntax.child(node, "Word");
    return word === undefined ? undefined : staticText(readWord(syntax, word));
  }
  const parts = syntax.children(document, "Parts");
  return parts.every(({ type }) => type === "Lit")
    ? parts.map(({ raw }) => raw["Value"]).join("")
    : undefined;
}
