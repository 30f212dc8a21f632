/** Turns the tree of a pattern into the instructions that an automaton follows. */

import { UserError } from "../../core/errors.ts";
import type { Assertion, CharacterSet, Node } from "./parse.ts";

/** As many positions a pattern may have, its repetitions written out. */
const MOST_INSTRUCTIONS = 2_000;
const MOST_STEPS = 20_000;

type Instruction =
  | { readonly op: "set"; readonly set: number; readonly next: number }
  | { readonly op: "assertion"; readonly is: Assertion; readonly next: number }
  | { op: "split"; a: number; b: number }
  | { readonly op: "match" };

const MATCH = 0;

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly sets: readonly CharacterSet[];
  readonly entry: number;
  readonly asksForWords: boolean;
}

/** Written from its end to its beginning, so that every instruction knows the one after it. */
export function assemble(tree: Node): Program {
  const instructions: Instruction[] = [{ op: "match" }];
  const sets: CharacterSet[] = [];
  const numbers = new Map<string, number>();
  let asksForWords = false;

  let steps = 0;

  function add(instruction: Instruction): number {
    return instructions.push(instruction) - 1;
  }

  /** Steps too, because repeating nothing adds no instruction. */
  function refuseTooMuch(): void {
    if (instructions.length < MOST_INSTRUCTIONS && ++steps < MOST_STEPS) return;
    throw new UserError("Cannot use the pattern: it repeats too much", {
      hint: "Use smaller numbers in braces, or * and + instead of them",
    });
  }

  function numberOf(set: CharacterSet): number {
    const key = `${set.ignoreCase}${set.source}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, sets.length);
    return sets.push(set) - 1;
  }

  function compile(node: Node, next: number): number {
    refuseTooMuch();
    switch (node.type) {
      case "set":
        return add({ op: "set", set: numberOf(node.set), next });
      case "assertion":
        asksForWords ||= node.is === "boundary" || node.is === "noBoundary";
        return add({ op: "assertion", is: node.is, next });
      case "sequence":
        return node.parts.reduceRight((after, part) => compile(part, after), next);
      case "choice":
        return node.branches
          .map((branch) => compile(branch, next))
          .reduceRight((b, a) => add({ op: "split", a, b }));
      case "repeat":
        return repeat(node, next);
    }
  }

  function repeat({ part, least, most }: Extract<Node, { type: "repeat" }>, next: number): number {
    let at = next;
    if (most === Infinity) {
      const loop: Instruction = { op: "split", a: MATCH, b: next };
      at = add(loop);
      loop.a = compile(part, at);
    } else {
      for (let count = least; count < most; count++) at = add({ op: "split", a: compile(part, at), b: next });
    }
    for (let count = 0; count < least; count++) at = compile(part, at);
    return at;
  }

  const entry = compile(tree, MATCH);
  return { instructions, sets, entry, asksForWords };
}
