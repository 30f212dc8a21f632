import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { countFolders, countLines } from "../../scripts/lib/bench/lines-of-code.ts";
import { mean, median } from "../../scripts/lib/bench/statistics.ts";
import { changedPrefixBytes } from "../../scripts/lib/bench/streaming.ts";
import { formatTable, judge, type Row } from "../../scripts/lib/bench/table.ts";
import { compilerFlags } from "../../scripts/lib/bench/workbench.ts";
import { tempFolder } from "../fakes/temp.ts";

const root = resolve(import.meta.dir, "../..");

test("median() is the value in the middle, or the mean of the two there", () => {
  expect(median([3, 1, 200])).toBe(3);
  expect(median([10, 1, 2, 100])).toBe(6);
  expect(median([5])).toBe(5);
});

test("median() of nothing is not a number", () => {
  expect(median([])).toBeNaN();
});

test("median() has as many values above it as below it, whatever their order", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1 }), (values) => {
      const middle = median(values);
      expect(values.filter((value) => value < middle).length).toBeLessThanOrEqual(values.length / 2);
      expect(values.filter((value) => value > middle).length).toBeLessThanOrEqual(values.length / 2);
    }),
  );
});

test("median() leaves the values as they were", () => {
  const values = [3, 1, 2];
  median(values);
  expect(values).toEqual([3, 1, 2]);
});

test("mean() is the sum divided by the count", () => {
  expect(mean([1, 2, 6])).toBe(3);
});

const row: Row = { name: "start", value: 24, floor: 20, unit: "ms" };
const here = { timesHold: true };

test("judge() finds a ratio over its bound, and one at it is kept", () => {
  expect(judge({ ...row, bound: { of: "ratio", atMost: 1.2 } }, here)).toMatchObject({
    ratio: 1.2,
    verdict: "ok",
  });
  expect(judge({ ...row, bound: { of: "ratio", atMost: 1.19 } }, here).verdict).toBe("over");
});

test("judge() judges ratios on every machine and times only where they hold", () => {
  const there = { timesHold: false };
  expect(judge({ ...row, bound: { of: "ratio", atMost: 1 } }, there).verdict).toBe("over");
  expect(judge({ ...row, bound: { of: "time", atMost: 3 } }, there).verdict).toBe("-");
  expect(judge({ ...row, bound: { of: "time", atMost: 3 } }, here).verdict).toBe("over");
  expect(judge({ ...row, bound: { of: "time", atMost: 24 } }, here).verdict).toBe("ok");
});

test("judge() gives no verdict without a bound", () => {
  expect(judge(row, here)).toMatchObject({ ratio: 1.2, verdict: "-" });
});

test("judge() does not pass what gave no number", () => {
  expect(judge({ ...row, value: Number.NaN, bound: { of: "time", atMost: 3 } }, here).verdict).toBe("over");
  expect(judge({ name: "x", value: 1, unit: "ms", bound: { of: "ratio", atMost: 3 } }, here).verdict).toBe(
    "over",
  );
});

test("formatTable() aligns names to the left and numbers to the right, and ends no line with blanks", () => {
  const rows: Row[] = [
    { ...row, bound: { of: "ratio", atMost: 1.2 } },
    { name: "lines", value: 11_594, unit: "lines", note: "all of them" },
    { name: "CPU", value: 5.128, unit: "ms", bound: { of: "time", atMost: 3 } },
  ];
  expect(formatTable(rows.map((one) => judge(one, here))).split("\n")).toEqual([
    "         value    floor  ratio    bound",
    "start  24.0 ms  20.0 ms   1.20    1.2 x  ok",
    "lines   11,594                           -     all of them",
    "CPU    5.13 ms                  3.00 ms  over",
  ]);
});

test("countLines() counts what is not blank, and apart what is only a comment", () => {
  const source = `/** One. */
import a from "a"; // not only a comment

/*
  a block

  of four lines
*/
const b = 1; /* behind code */
  // indented
/* before */ const c = "/*";
`;
  expect(countLines(source)).toEqual({ lines: 9, comments: 6 });
});

test("countLines() finds the end of a block comment that ends in a line of code", () => {
  expect(countLines("/* open\n*/ code();\ncode();\n")).toEqual({ lines: 3, comments: 1 });
});

test("countFolders() sums each folder with all below it, TypeScript only", () => {
  const folder = tempFolder();
  mkdirSync(join(folder, "a", "deep"), { recursive: true });
  writeFileSync(join(folder, "main.ts"), "one\n\ntwo\n");
  writeFileSync(join(folder, "a", "x.ts"), "// one\ntwo");
  writeFileSync(join(folder, "a", "deep", "y.ts"), "three");
  writeFileSync(join(folder, "a", "notes.md"), "not counted");
  expect(Object.fromEntries(countFolders(folder))).toEqual({
    ".": { lines: 2, comments: 0 },
    a: { lines: 3, comments: 1 },
  });
});

test("compilerFlags() takes from scripts/build all that decides how a program runs", () => {
  const flags = compilerFlags(readFileSync(join(root, "scripts/build"), "utf8"));
  expect(flags).toContain("--compile");
  expect(flags).toContain("--bytecode");
  expect(flags).toContain("--format=esm");
  expect(flags).toContain("--no-compile-autoload-dotenv");
  expect(flags.filter((flag) => /asset|outfile/.test(flag))).toEqual([]);
});

test("judge() judges counts on every machine", () => {
  const count: Row = { name: "bytes", value: 1, unit: "bytes", bound: { of: "count", atMost: 0 } };
  expect(judge(count, { timesHold: false }).verdict).toBe("over");
  expect(judge({ ...count, value: 0 }, { timesHold: false }).verdict).toBe("ok");
});

const body = (messages: readonly string[], tools = "t") =>
  JSON.stringify({ messages, tools: [tools], stream: true });

test("changedPrefixBytes() is 0 as long as each request begins like the one before", () => {
  const requests = [["a"], ["a", "b"], ["a", "b", "c"]].map((messages) => ({ text: body(messages) }));
  expect(changedPrefixBytes(requests)).toBe(0);
});

test("changedPrefixBytes() counts what comes behind a change, and all of a request whose tools changed", () => {
  expect(changedPrefixBytes([{ text: body(["abc"]) }, { text: body(["aXc"]) }])).toBe(3);
  const first = body(["abc"]);
  expect(changedPrefixBytes([{ text: first }, { text: body(["abc"], "other") }])).toBe(first.length);
});
