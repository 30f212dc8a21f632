/** The longest text that is in every match of a pattern, so that most files can be passed over unread. */

import type { Node } from "./parse.ts";
import { setOf } from "./sets.ts";

export interface RequiredText {
  readonly text: string;
  readonly ignoreCase: boolean;
  /** Nothing else is asked of a line. */
  readonly isAll: boolean;
}

interface Found {
  /** All that the node can match, where that is one text. */
  readonly whole: string | undefined;
  readonly longest: string;
}

/** `undefined` when there is none, or none that looks the same in every encoding of it. */
export function requiredText(tree: Node): RequiredText | undefined {
  let ignoreCase = false;
  let hasAssertions = false;

  function find(node: Node): Found {
    switch (node.type) {
      case "set": {
        if (node.only === undefined || node.only === "\ufffd") return { whole: undefined, longest: "" };
        ignoreCase ||= node.set.ignoreCase;
        return { whole: node.only, longest: node.only };
      }
      case "assertion":
        hasAssertions = true;
        return { whole: "", longest: "" };
      case "sequence":
        return findInSequence(node.parts.map(find));
      case "choice":
        return { whole: undefined, longest: "" };
      case "repeat": {
        if (node.least === 0) return { whole: undefined, longest: "" };
        const { whole, longest } = find(node.part);
        return { whole: node.least === 1 && node.most === 1 ? whole : undefined, longest };
      }
    }
  }

  const { whole, longest } = find(tree);
  // A carriage return may be a part of a line's end, which is no part of the line.
  if (longest === "" || longest.includes("\r") || !longest.isWellFormed()) return undefined;
  return { text: longest, ignoreCase, isAll: whole === longest && !hasAssertions };
}

function findInSequence(parts: readonly Found[]): Found {
  let longest = "";
  let run = "";
  let isWhole = true;
  const keep = (text: string) => {
    if (text.length > longest.length) longest = text;
  };
  for (const { whole, longest: inside } of parts) {
    keep(inside);
    if (whole !== undefined) {
      run += whole;
      continue;
    }
    isWhole = false;
    keep(run);
    run = "";
  }
  keep(run);
  return { whole: isWhole ? run : undefined, longest };
}

/** Longer ones are searched for without it: where little differs, the time to find one grows with its length. */
const LONGEST_WITHOUT_CASE = 32;

/**
 * Where the text is in another, from a position on; -1 when it is not. May find more than the pattern
 * would, never less. `undefined` when nothing quick is known.
 */
export function createFinder({
  text: wanted,
  ignoreCase,
}: RequiredText): ((text: string, from: number) => number) | undefined {
  if (!ignoreCase) return (text, from) => text.indexOf(wanted, from);
  if (!/^[\x20-\x7e]+$/.test(wanted) || wanted.length > LONGEST_WITHOUT_CASE) return undefined;
  // The same flags as for the sets of a pattern, so that both mean the same by a letter's case.
  const expression = new RegExp(Array.from(wanted, setOf).join(""), "giv");
  return (text, from) => {
    expression.lastIndex = from;
    return expression.exec(text)?.index ?? -1;
  };
}
