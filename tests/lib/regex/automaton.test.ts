import { expect, test } from "bun:test";
import fc from "fast-check";
import { createLineMatcher } from "../../../src/lib/regex/automaton.ts";
import { literalNode, parsePattern } from "../../../src/lib/regex/parse.ts";

const matches = (pattern: string, line: string, ignoreCase = false) =>
  createLineMatcher(parsePattern(pattern, { ignoreCase })).matches(line);

test.each([
  ["foo", "a foo b", true],
  ["foo", "fo o", false],
  ["^foo$", "foo", true],
  ["^foo$", "foo ", false],
  ["a|bc|", "zzz", true],
  ["^(?:a|bc)$", "bc", true],
  ["colou?r", "color", true],
  ["a{2,3}b", "ab", false],
  ["^a{2,3}b", "aaab", true],
  ["^a{2}$", "aaa", false],
  ["a{2,}", "caat", true],
  ["^a{,2}$", "aa", true],
  ["^a{,2}$", "aaa", false],
  ["a{,}", "a{,}", true],
  ["a{}", "a{}", true],
  ["\\bfoo\\b", "a foo.", true],
  ["\\bfoo\\b", "afoo", false],
  ["\\Bfoo", "afoo", true],
  ["\\bé", "aé", false],
  ["\\w+\\s=", "größe =", true],
  ["^\\d+$", "123", true],
  ["[^a-c]", "abc", false],
  ["[]x]", "]", true],
  ["[a-]", "-", true],
  ["[--a]", "/", true],
  ["[&&]", "&", true],
  ["[\\w.-]+@", "a.b-c@", true],
  ["[[:upper:]]{2}", "aBC", true],
  ["[[:^digit:]]", "123", false],
  ["\\p{Greek}", "λ", true],
  ["\\pL", "1", false],
  ["\\x41\\u{42}", "AB", true],
  ["interface {", "interface {", true],
  ['\\{\\}\\<\\-\\/\\"', '{}<-/"', true],
  ["a.c", "a😀c", true],
  ["^.$", "😀", true],
  ["[😀-😂]", "😁", true],
  ["(?i)HELLO", "hello", true],
  ["(?i:A)b", "aB", false],
  ["x(?i)a|b", "B", true],
  ["(?P<name>a)(?<other>b)", "ab", true],
  ["\\Aa\\z", "a", true],
  ["a+?b", "b", false],
  ["a*?$", "", true],
  ["x**", "y", true],
] as const)("createLineMatcher() knows whether %p is in %p", (pattern, line, isMatch) => {
  expect(matches(pattern, line)).toBe(isMatch);
});

test("createLineMatcher() ignores case in all scripts where it is told to", () => {
  expect(matches("straße", "STRAßE", true)).toBe(true);
  expect(matches("[a-c]д", "BД", true)).toBe(true);
  expect(matches("abc", "ABD", true)).toBe(false);
});

/** Patterns in which both dialects agree. */
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom("a", "b", "c", ".", "[ab]", "[^a]", "^", "$", "\\b", "\\B", " ", "é", "😀"),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => one + other),
    fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(?:${one}|${other})`),
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,2}", "{0,2}", "*?", "+?"))
      .map(([part, repeats]) => `(?:${part})${repeats}`),
  ),
}));

test("createLineMatcher() finds what the runtime's own expressions find", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", "c", " ", "é", "😀", "."), maxLength: 8 });
  fc.assert(
    fc.property(pattern, fc.array(line, { minLength: 1, maxLength: 5 }), (source, lines) => {
      // Their idea of a word is ASCII; ours is that of ripgrep.
      fc.pre(!source.includes("\\b") || !lines.some((text) => text.includes("é")));
      fc.pre(!source.includes("\\B") || !lines.some((text) => text.includes("é")));
      const matcher = createLineMatcher(parsePattern(source, { ignoreCase: false }));
      const native = new RegExp(source, "u");
      for (const text of lines)
        expect([source, text, matcher.matches(text)]).toEqual([source, text, native.test(text)]);
    }),
    { numRuns: 2_000 },
  );
});

test("createLineMatcher() reads a line in pieces as it reads it whole", () => {
  const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "é"), maxLength: 12 });
  fc.assert(
    fc.property(pattern, line, fc.nat(12), (source, text, cut) => {
      const matcher = createLineMatcher(parsePattern(source, { ignoreCase: false }));
      const at = Math.min(cut, text.length);
      const first = matcher.advance(matcher.start, text, 0, at);
      const second = first.isMatch ? first : matcher.advance(first.state, text, at, text.length);
      expect(second.isMatch || matcher.finish(second.state)).toBe(matcher.matches(text));
    }),
  );
});

test("parsePattern() takes any text or says why not", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."ab\\()[]{}|*+?^$.-&~:,1<>=!iPpxu") }), (source) => {
      try {
        createLineMatcher(parsePattern(source, { ignoreCase: true })).matches("ab()");
      } catch (error) {
        expect(error).toMatchObject({
          name: "UserError",
          message: expect.stringContaining("Cannot use the pattern"),
        });
      }
    }),
    { numRuns: 3_000 },
  );
});

test("literalNode() matches any text as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), fc.string(), (text, around) => {
      fc.pre(!text.includes("\n"));
      const matcher = createLineMatcher(literalNode(text, { ignoreCase: false }));
      expect(matcher.matches(around + text + around)).toBe(true);
      expect(matcher.matches(around)).toBe(around.includes(text));
    }),
  );
});

test.each([
  ["(a", 'the "(" at 1 is not closed'],
  ["a)", 'the ")" at 2 closes nothing'],
  ["[a", 'the "[" at 1 is not closed'],
  ["*a", 'the "*" at 1 repeats nothing'],
  ["a\\", "ends with a backslash"],
  ["(a)\\1", "back-references are not supported"],
  ["a(?!b)", "look-around"],
  ["(?<=a)b", "look-around"],
  ["\\q", '"\\q" at 2 means nothing'],
  ["a\\nb", "line break"],
  ["[z-a]", "goes backwards"],
  ["[a-z&&[^b]]", '"&&" between sets is not supported'],
  ["[a-z--b]", '"--" between sets is not supported'],
  ["[a-z~~b]", '"~~" between sets is not supported'],
  ["\\p{Nonsense}", "is not known"],
  ["a{3,2}", "at least 3 and at most 2"],
  ["a{5000}", "more than 1000 times"],
  ["(a{100}){100}", "it repeats too much"],
  ["((((){1000}){1000}){1000}){1000}", "it repeats too much"],
  ["", "it is empty"],
  ["(".repeat(200), "nested too deeply"],
])("parsePattern() says what is wrong with %p", (source, why) => {
  expect(() => createLineMatcher(parsePattern(source, { ignoreCase: false }))).toThrow(why);
});

test.each(["(a+)+$", "(a|a)*$", "(a|aa)+$", "a*a*a*a*a*a*$", "(.*a){12}$"])(
  "createLineMatcher() needs work in proportion to the line for %p",
  (source) => {
    const matcher = createLineMatcher(parsePattern(`${source.replace("$", "")}!$`, { ignoreCase: false }));
    // A backtracking matcher would not come back from this.
    expect(matcher.matches("a".repeat(200_000))).toBe(false);
  },
);

test("createLineMatcher() comes back before it has done too much, when text leads to ever new states", () => {
  const matcher = createLineMatcher(parsePattern("(a|b)*a(a|b){60}!", { ignoreCase: false }));
  let seed = 1;
  const text = Array.from({ length: 100_000 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed & 65_536 ? "a" : "b";
  }).join("");
  const { isMatch, at } = matcher.advance(matcher.start, text, 0, text.length);
  expect(isMatch).toBe(false);
  expect(at).toBeGreaterThan(0);
  expect(at).toBeLessThan(text.length);
  expect(matcher.matches(text)).toBe(false);
});
