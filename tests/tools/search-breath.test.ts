/** That a search asks for breath often enough, counted in work and not in time. */

import { expect, test } from "bun:test";
import { createLineMatcher } from "../../src/lib/regex/automaton.ts";
import { parsePattern } from "../../src/lib/regex/parse.ts";
import { createFinder, requiredText } from "../../src/lib/regex/required.ts";
import { countLines } from "../../src/tools/count-lines.ts";
import type { SearchPattern } from "../../src/tools/decoded-lines.ts";
import { readLines } from "../../src/tools/read-lines.ts";

function patternOf(source: string): SearchPattern {
  const tree = parsePattern(source, { ignoreCase: false });
  const required = requiredText(tree);
  return {
    matcher: createLineMatcher(tree),
    literal: required?.text,
    isLiteral: required?.isAll ?? false,
    find: required && createFinder(required),
  };
}

/** Leads a matcher to ever new states. */
function randomText(length: number): string {
  let seed = 1;
  return Array.from({ length }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed & 65_536 ? "a" : "b";
  }).join("");
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

test.each([
  ["(a|b)*a(a|b){60}[!]", randomText(20_000), 20],
  ["(a|a)*[!]", "a".repeat(1_000_000), 20],
  ["x", "x\n".repeat(500_000), 1_000],
  ["[x]", "x\n".repeat(500_000), 1_000],
  ["[z]", "x".repeat(1_000_000), 20],
])("countLines() and readLines() ask for breath while they look for %p", async (source, text, times) => {
  for (const read of [
    (breather: { take(units: number): Promise<void> }) =>
      countLines(once(text), { pattern: patternOf(source), most: Infinity, breather }),
    (breather: { take(units: number): Promise<void> }) =>
      readLines(once(text), { pattern: patternOf(source), breather, onLine: () => true }),
  ]) {
    const taken: number[] = [];
    await read({
      async take(units) {
        taken.push(units);
      },
    });
    expect(taken.length).toBeGreaterThanOrEqual(times);
    expect(Math.max(...taken)).toBeLessThan(1_000_000);
  }
});
