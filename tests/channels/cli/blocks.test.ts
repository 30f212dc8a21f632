import { expect, test } from "bun:test";
import fc from "fast-check";
import { createBlockSplitter, createLineSplitter, type Splitter } from "../../../src/channels/cli/blocks.ts";

function split(splitter: Splitter, pieces: readonly string[]): string[] {
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

test("createBlockSplitter() gives a paragraph as soon as the blank line behind it is complete", () => {
  const splitter = createBlockSplitter();
  expect(splitter.push("one\ntwo\n")).toEqual([]);
  expect(splitter.push("\nthr")).toEqual(["one\ntwo\n\n"]);
  expect(splitter.end()).toEqual(["thr"]);
});

test("createBlockSplitter() keeps a code fence with blank lines in one block", () => {
  const code = "```js\na\n\n~~~\n\nb\n```\n";
  expect(split(createBlockSplitter(), [`${code}\nafter`])).toEqual([`${code}\n`, "after"]);
});

test("createBlockSplitter() ends a fence only at one that is as long", () => {
  const code = "````md\n```\n\n```\n\n````\n";
  expect(split(createBlockSplitter(), [code])).toEqual([code]);
});

test("createBlockSplitter() takes inline code on a line of its own for no fence", () => {
  expect(split(createBlockSplitter(), ["```x```\n\nb"])).toEqual(["```x```\n\n", "b"]);
});

test("createBlockSplitter() keeps indented text after a blank line with its list", () => {
  const list = "- one\n\n  more\n\n      deep\n";
  expect(split(createBlockSplitter(), [list, "\nafter"])).toEqual([`${list}\n`, "after"]);
});

test("createBlockSplitter() gives a list as soon as other text begins", () => {
  const splitter = createBlockSplitter();
  expect(splitter.push("1. one\n\n")).toEqual([]);
  expect(splitter.push("T")).toEqual(["1. one\n\n"]);
});

test("createBlockSplitter() keeps a fence within a list item together", () => {
  const list = "1. run\n   ```sh\n   a\n\n   b\n   ```\n";
  expect(split(createBlockSplitter(), [`${list}\nafter`])).toEqual([`${list}\n`, "after"]);
});

test("createBlockSplitter() begins anew after an end in the middle of a fence", () => {
  const splitter = createBlockSplitter();
  expect(split(splitter, ["```\ncode\n\n"])).toEqual(["```\ncode\n\n"]);
  expect(split(splitter, ["a\n\nb"])).toEqual(["a\n\n", "b"]);
});

test("createBlockSplitter() gives nothing for white space", () => {
  expect(split(createBlockSplitter(), ["\n\n  \n", "\n"])).toEqual([]);
});

const text = fc
  .array(
    fc.constantFrom("a", "# b", "\n", "\n\n", "```", "~~~", "- ", "1. ", "  ", "    ", "語", "👩‍👧", "\r\n"),
    {
      maxLength: 40,
    },
  )
  .map((parts) => parts.join(""));

/** `whole`, cut where `cuts` say. */
function cut(whole: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((at) => at % (whole.length + 1)))].sort((a, b) => a - b);
  return [...places, whole.length].map((end, index) => whole.slice(places[index - 1] ?? 0, end));
}

for (const [name, create] of [
  ["createBlockSplitter", createBlockSplitter],
  ["createLineSplitter", createLineSplitter],
] as const) {
  test(`${name}() gives every character but white space exactly once, wherever the text is cut`, () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (whole, cuts) => {
        const pieces = split(create(), cut(whole, cuts));
        expect(pieces.join("").replace(/\s/g, "")).toBe(whole.replace(/\s/g, ""));
      }),
    );
  });
}

test("createBlockSplitter() gives the same blocks wherever the text is cut", () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (whole, cuts) => {
      expect(split(createBlockSplitter(), cut(whole, cuts))).toEqual(split(createBlockSplitter(), [whole]));
    }),
  );
});

test("createLineSplitter() gives the text as it is", () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat()), (whole, cuts) => {
      expect(split(createLineSplitter(), cut(whole, cuts)).join("")).toBe(whole);
    }),
  );
});
