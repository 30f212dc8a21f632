/** What of a command's text is left when some of its words, and its comments, are taken away. */

import { Buffer } from "node:buffer";
import type { Node, ShellSyntax, Span } from "./syntax.ts";
import type { Word } from "./word.ts";

/** What is put together at run time stays, whichever word it is part of: it is other commands. */
export function textWithout(syntax: ShellSyntax, text: string, words: readonly Word[]): string {
  const bytes = Buffer.from(text);
  const spans = words.flatMap(({ node }) => (node === undefined ? [] : literals(syntax, node, bytes)));
  if (text.includes("#")) spans.push(...syntax.comments(text));
  let rest = "";
  let at = 0;
  for (const { from, to } of spans.sort((one, other) => one.from - other.from)) {
    if (from > at) rest += bytes.toString("utf8", at, from);
    rest += " ";
    at = Math.max(at, to);
  }
  return rest + bytes.toString("utf8", at);
}

function literals(syntax: ShellSyntax, node: Node, bytes: Buffer): Span[] {
  return syntax.children(node, "Parts").flatMap((part) => {
    if (part.type === "DblQuoted") return literals(syntax, part, bytes);
    if (part.type !== "Lit" && part.type !== "SglQuoted") return [];
    const span = syntax.span(part);
    // In backquotes the parser may be a few characters off. What is not there is not taken away.
    const isThere = bytes.toString("utf8", span.from, span.to).includes(String(part.raw["Value"]));
    return isThere ? [span] : [];
  });
}
