import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { unifiedDiff } from "../../src/cli/unified-diff.ts";
import { tempFolder } from "../fakes/temp.ts";

const diff = (before: string, after: string) =>
  unifiedDiff({ name: "old", text: before }, { name: "new", text: after });

test("unifiedDiff() shows what changed with three lines around it, and what is near each other together", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
  const changed = lines.with(4, "other").with(9, "another").toSpliced(24, 1);
  expect(diff(`${lines.join("\n")}\n`, `${changed.join("\n")}\n`)).toBe(
    [
      "--- old",
      "+++ new",
      "@@ -2,12 +2,12 @@",
      ...[" line 2", " line 3", " line 4", "-line 5", "+other", " line 6", " line 7", " line 8", " line 9"],
      ...["-line 10", "+another", " line 11", " line 12", " line 13"],
      "@@ -22,7 +22,6 @@",
      ...[" line 22", " line 23", " line 24", "-line 25", " line 26", " line 27", " line 28"],
      "",
    ].join("\n"),
  );
});

test("unifiedDiff() shows a text that was empty, and one that is now", () => {
  expect(diff("", "one\ntwo\n")).toBe("--- old\n+++ new\n@@ -0,0 +1,2 @@\n+one\n+two\n");
  expect(diff("one\n", "")).toBe("--- old\n+++ new\n@@ -1 +0,0 @@\n-one\n");
});

test("unifiedDiff() says nothing of texts with the same lines", () => {
  expect(diff("one\ntwo\n", "one\ntwo\n")).toBe("");
  expect(diff("", "")).toBe("");
});

test("unifiedDiff() takes texts of many lines", () => {
  const many = (word: string) => Array.from({ length: 5_000 }, (_, index) => `${word} ${index}\n`).join("");
  const shown = diff(`same\n${many("a")}`, `same\n${many("b")}`);
  expect(shown).toContain("@@ -1,5001 +1,5001 @@\n same\n-a 0\n");
});

test.skipIf(Bun.which("patch") === null)(
  "unifiedDiff() is understood by patch (skipped where there is none)",
  () => {
    const folder = tempFolder();
    const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 25 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [old = "", now = ""] = [before, after].map((lines) =>
          lines.map((line) => `${line}\n`).join(""),
        );
        const shown = diff(old, now);
        fc.pre(shown !== "");
        writeFileSync(join(folder, "file"), old);
        writeFileSync(join(folder, "diff"), shown);
        const { exitCode, stdout } = Bun.spawnSync(["patch", "-s", "-o", "-", "file", "diff"], {
          cwd: folder,
        });
        expect([exitCode, stdout.toString()]).toEqual([0, now]);
      }),
      { numRuns: 50 },
    );
  },
);
