import { beforeAll, describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import {
  appendFileSync,
  cpSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { seal, unseal } from "../../src/audit/chain.ts";
import { verifyChain } from "../../src/audit/verify.ts";
import type { WrittenLine } from "../../src/audit/written-lines.ts";
import { linesOf } from "../fakes/line-store.ts";
import { tempFolder } from "../fakes/temp.ts";
import { call, partsOf, setUp, told, writeLines } from "./fixture.ts";

/** A log of 14 lines that were all anchored: in one file, or in several. */
const logs = { whole: "", parts: "" };
beforeAll(async () => {
  for (const [kind, maxBytes] of [
    ["whole", 1_000_000],
    ["parts", 1_000],
  ] as const) {
    const { write, workspace } = setUp({ maxBytes });
    for (let n = 1; n <= 14; n++) await write(`tool${n}`);
    logs[kind] = workspace;
  }
});

/** A copy to spoil. */
function copyOf(kind: keyof typeof logs) {
  const workspace = tempFolder();
  cpSync(logs[kind], workspace, { recursive: true });
  const log = setUp({ workspace });
  return { ...log, problems: async () => told(await log.verify()) };
}

function editLines(path: string, edit: (lines: string[]) => readonly string[]): void {
  writeLines(path, edit(linesOf(path)));
}

function swap(lines: string[], one: number, other: number): string[] {
  [lines[one], lines[other]] = [lines[other] ?? "", lines[one] ?? ""];
  return lines;
}

describe("verify()", () => {
  test("finds nothing wrong with a log that nobody touched", async () => {
    for (const kind of ["whole", "parts"] as const) {
      expect(await copyOf(kind).verify()).toEqual({
        ok: true,
        lines: 14,
        unanchored: 0,
        torn: false,
        problems: [],
      });
    }
  });

  test("finds nothing wrong where there is no log", async () => {
    expect(await setUp().verify()).toEqual({
      ok: true,
      lines: 0,
      unanchored: 0,
      torn: false,
      problems: [],
    });
  });

  test("says which line was changed, and no other", async () => {
    for (const change of [
      (line: string) => line.replace("cli:direct", "cli:dirext"),
      (line: string) =>
        line.replace(/"hash":"./, (start) => start.slice(0, -1) + (start.endsWith("0") ? "1" : "0")),
      (line: string) => line.replace(/"n":(\d)/, '"n":8'),
      (line: string) => line.replace(/"n":(\d)/, '"n":2'),
      (line: string) => line.replace('{"n"', '{ "n"'),
      (line: string) => `x${line}`,
    ]) {
      for (const at of [2, 4, 13]) {
        const { path, problems } = copyOf("whole");
        editLines(path, (lines) => lines.with(at, change(lines[at] ?? "")));
        expect(await problems()).toEqual([
          expect.stringMatching(new RegExp(`^(changed|unreadable) .nanobot/audit.jsonl:${at + 1}$`)),
        ]);
      }
    }
  });

  test("says which lines were changed when neighbours were", async () => {
    const { path, problems } = copyOf("whole");
    editLines(path, (lines) =>
      lines.map((line, at) => (at < 3 || at > 6 ? line : line.replace("user", "usex"))),
    );
    expect(await problems()).toEqual([4, 5, 6, 7].map((line) => `changed .nanobot/audit.jsonl:${line}`));
  });

  test("finds a line whose hash was made to fit, by the line after it", async () => {
    const { path, problems } = copyOf("whole");
    editLines(path, (lines) => {
      const before = unseal(Buffer.from(lines[3] ?? ""));
      const [fields = ""] = (lines[4] ?? "").replace('{"n":5,', "").replace("user", "usex").split(',"hash":');
      return lines.with(4, seal({ count: 4, hash: before?.hash ?? "" }, fields).line);
    });
    expect(await problems()).toEqual(["changed .nanobot/audit.jsonl:6"]);
  });

  test("says where lines are missing", async () => {
    const { path, problems, verify } = copyOf("whole");
    editLines(path, (lines) => lines.toSpliced(4, 1).toSpliced(8, 2));
    expect(await problems()).toEqual(["missing .nanobot/audit.jsonl:5", "missing .nanobot/audit.jsonl:9"]);
    expect((await verify()).problems).toMatchObject([
      { detail: "number 5 of the log should stand before it" },
      { detail: "numbers 10 to 11 of the log should stand before it" },
    ]);
  });

  test("finds that the first line is missing", async () => {
    const { path, problems } = copyOf("whole");
    editLines(path, (lines) => lines.slice(1));
    expect(await problems()).toEqual(["missing .nanobot/audit.jsonl:1"]);
  });

  test("tells lines that changed places, wherever they stand, from missing ones", async () => {
    for (const [one, other] of [
      [0, 1],
      [3, 4],
      [3, 9],
      [0, 13],
      [12, 13],
      [5, 13],
    ] as const) {
      const { path, problems } = copyOf("whole");
      editLines(path, (lines) => swap(lines, one, other));
      const found = await problems();
      expect(found.length).toBeGreaterThan(0);
      for (const problem of found) expect(problem).toStartWith("reordered ");
      expect(found).toContainEqual(`reordered .nanobot/audit.jsonl:${one + 1}`);
    }
  });

  test("finds lines of different files that changed places", async () => {
    const { folder, problems } = copyOf("parts");
    const [first = "", second = ""] = partsOf(folder);
    const [one, other] = [linesOf(first), linesOf(second)];
    writeLines(first, [other[0] ?? "", ...one.slice(1)]);
    writeLines(second, [one[0] ?? "", ...other.slice(1)]);
    expect(await problems()).toEqual([
      `reordered .nanobot/${basename(first)}:1`,
      `reordered .nanobot/${basename(second)}:1`,
    ]);
  });

  test("finds files that changed places", async () => {
    const { folder, problems } = copyOf("parts");
    const [, second = "", third = ""] = partsOf(folder);
    renameSync(second, join(folder, "aside"));
    renameSync(third, second);
    renameSync(join(folder, "aside"), third);
    expect(await problems()).toEqual([`reordered .nanobot/${basename(third)}:1`]);
  });

  test("finds a line that stands there twice", async () => {
    const { path, problems } = copyOf("whole");
    editLines(path, (lines) => lines.toSpliced(8, 0, lines[2] ?? ""));
    expect(await problems()).toEqual(["reordered .nanobot/audit.jsonl:9"]);
  });

  test("finds what was put between two lines", async () => {
    const { path, problems } = copyOf("whole");
    editLines(path, (lines) => lines.toSpliced(8, 0, "hello"));
    expect(await problems()).toEqual(["unreadable .nanobot/audit.jsonl:9"]);
  });

  test("finds that a whole file is gone, whichever it was", async () => {
    const names = partsOf(copyOf("parts").folder);
    for (const [index, name] of names.entries()) {
      const { folder, problems } = copyOf("parts");
      rmSync(join(folder, basename(name)));
      const isLast = index === names.length - 1;
      const next = basename(names[index + 1] ?? "");
      expect(await problems()).toEqual([
        isLast ? "truncated .nanobot/audit.jsonl" : `missing .nanobot/${next}:1`,
      ]);
    }
  });

  test("finds that all files are gone", async () => {
    const { folder, problems } = copyOf("parts");
    for (const path of partsOf(folder)) rmSync(path);
    expect(await problems()).toEqual(["truncated .nanobot/audit.jsonl"]);
  });

  test("tells a log that is shorter than it was from one that a crash has torn", async () => {
    const cut = copyOf("whole");
    truncateSync(cut.path, readFileSync(cut.path).length - 20);
    expect(await cut.verify()).toMatchObject({ ok: false, torn: false, lines: 13 });
    expect(await cut.problems()).toEqual(["truncated .nanobot/audit.jsonl"]);

    const torn = copyOf("whole");
    appendFileSync(torn.path, '{"n":15,"id":"x');
    expect(await torn.verify()).toMatchObject({ ok: true, torn: true, lines: 14 });
  });

  test("finds that the last newline is cut off", async () => {
    const { path, problems } = copyOf("whole");
    truncateSync(path, readFileSync(path).length - 1);
    expect(await problems()).toEqual(["truncated .nanobot/audit.jsonl"]);
  });

  test("says once that a log was cut, wherever it was", async () => {
    const { path, problems } = copyOf("whole");
    const whole = readFileSync(path);
    const lineEnds = linesOf(path).map((_, index, lines) =>
      Buffer.byteLength(lines.slice(0, index + 1).join("\n")),
    );
    for (const length of lineEnds.flatMap((end) => [end - 1, end, end + 1]).slice(0, -1)) {
      writeFileSync(path, whole.subarray(0, length));
      expect(await problems()).toEqual(["truncated .nanobot/audit.jsonl"]);
    }
  });

  test("counts the lines that were written when the process was killed before it moved the anchor", async () => {
    const { audit, clock, workspace } = copyOf("whole");
    audit.record(call());
    audit.record(call());
    await clock.whenPending(1);
    const after = setUp({ workspace });
    expect(await after.verify()).toMatchObject({ ok: true, lines: 16, unanchored: 2, torn: false });
    await after.write("next");
    expect(await after.verify()).toMatchObject({ ok: true, lines: 17, unanchored: 0 });
  });

  test("finds a changed line behind the anchor too", async () => {
    const { audit, clock, workspace, path } = copyOf("whole");
    audit.record(call());
    audit.record(call());
    await clock.whenPending(1);
    editLines(path, (lines) => lines.with(14, (lines[14] ?? "").replace("user", "usex")));
    expect(told(await setUp({ workspace }).verify())).toEqual(["changed .nanobot/audit.jsonl:15"]);
  });

  test("finds that the anchor is missing or damaged", async () => {
    const missing = copyOf("whole");
    rmSync(missing.headPath);
    expect(await missing.problems()).toEqual(["missing .nanobot/audit.head:1"]);
    expect((await missing.verify()).unanchored).toBe(14);
    for (const text of ["", "{}", "no JSON", '{"v":1,"count":-1,"hash":"x","start":null}\n']) {
      const damaged = copyOf("whole");
      writeFileSync(damaged.headPath, text);
      expect(await damaged.problems()).toEqual(["unreadable .nanobot/audit.head:1"]);
    }
  });

  test("finds that the beginning is gone of a log whose anchor was lost, and the line that says so with it", async () => {
    const { path, headPath, problems, write } = copyOf("whole");
    rmSync(headPath);
    await write("next", "last");
    expect(await problems()).toEqual(["missing .nanobot/audit.jsonl:15"]);
    editLines(path, (lines) => lines.slice(15));
    expect(await problems()).toEqual(["missing .nanobot/audit.jsonl:1"]);
  });

  test("finds that what a crash had left was changed or removed afterwards", async () => {
    for (const [edit, kind] of [
      [(line: string) => [`${line}x`], "unreadable"],
      [() => [], "missing"],
    ] as const) {
      const { path, workspace, problems } = copyOf("whole");
      appendFileSync(path, '{"n":15,"to');
      await setUp({ workspace }).write("next");
      expect(await problems()).toEqual([]);
      editLines(path, (lines) =>
        lines.flatMap((line) =>
          line.startsWith('{"n":15,"to') && !line.endsWith("}") ? edit(line) : [line],
        ),
      );
      expect(await problems()).toEqual([`${kind} .nanobot/audit.jsonl:15`]);
    }
  });

  test("names a thousand problems and counts the others, in memory that does not grow", async () => {
    async function* lines(count: number): AsyncGenerator<WrittenLine> {
      // Every other line is gone.
      for (let line = 1; line <= count; line++) {
        const { line: text } = seal({ count: 2 * line - 1, hash: "0".repeat(64) }, '"id":"x"');
        yield { file: "log", line, bytes: Buffer.from(text), isTerminated: true };
      }
    }
    const options = { head: "missing", names: { log: "log", head: "head" } } as const;
    const few = await verifyChain(lines(1_000), options);
    const many = await verifyChain(lines(50_000), options);
    expect([few.ok, many.ok, many.problems.length]).toEqual([false, false, 1_000]);
    // One for each line but the first, and those that every log has that lost its head.
    expect(many.problems.length + (many.more ?? 0) - few.problems.length - (few.more ?? 0)).toBe(49_000);
  });

  test("finds a changed byte, wherever it is", async () => {
    for (const kind of ["whole", "parts"] as const) {
      const folder = join(logs[kind], ".nanobot");
      const paths = [...partsOf(folder), join(folder, "audit.head")];
      const places = paths.flatMap((path) => [...readFileSync(path).keys()].map((at) => ({ path, at })));
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...places),
          fc.integer({ min: 1, max: 255 }),
          async ({ path, at }, difference) => {
            const { folder: copy, verify } = copyOf(kind);
            const bytes = Buffer.from(readFileSync(path));
            bytes[at] = ((bytes[at] ?? 0) + difference) % 256;
            writeFileSync(join(copy, basename(path)), bytes);
            expect((await verify()).ok).toBe(false);
          },
        ),
        { numRuns: 150 },
      );
    }
  }, 60_000);

  test("finds any line that was removed, and any two that changed places", async () => {
    const index = fc.nat({ max: 13 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("whole", "parts"), index, index, async (kind, one, other) => {
        const { folder, verify } = copyOf(kind);
        const paths = partsOf(folder);
        const counts = paths.map((path) => linesOf(path).length);
        const lines = paths.flatMap(linesOf);
        const write = (all: readonly string[]) => {
          let from = 0;
          for (const [part, path] of paths.entries()) {
            const end = from + (counts[part] ?? 0);
            writeLines(path, all.slice(from, end));
            from = end;
          }
        };
        write(one === other ? lines.toSpliced(one, 1) : swap(lines, one, other));
        const { problems } = await verify();
        expect(problems.length).toBeGreaterThan(0);
        if (one !== other) expect(problems.every((problem) => problem.kind === "reordered")).toBe(true);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("finds any truncation, of the last file or of another", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("whole", "parts"), fc.nat(), fc.nat(), async (kind, which, length) => {
        const { folder, verify } = copyOf(kind);
        const paths = partsOf(folder);
        const path = paths[which % paths.length] ?? "";
        truncateSync(path, length % readFileSync(path).length);
        expect((await verify()).ok).toBe(false);
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  test("takes any files for what they are", async () => {
    const some = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({
        unit: fc.constantFrom("\n", '{"n":1,', '"id":"', ',"hash":"', "0".repeat(64), '"}', "x"),
        maxLength: 20,
      }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(some, { minLength: 1, maxLength: 3 }),
        fc.option(some),
        async (contents, head) => {
          const { verify, folder, headPath, write } = copyOf("whole");
          for (const [index, content] of contents.entries())
            writeFileSync(join(folder, index === 0 ? "audit.jsonl" : `audit.${index}.jsonl`), content);
          if (head !== null) writeFileSync(headPath, head);
          expect((await verify()).ok).toBe(false);
          await write("next");
          expect((await verify()).ok).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);

  test("does not say more than can be read of a log that is nothing but damage", async () => {
    const { path, verify } = copyOf("whole");
    writeFileSync(path, "x\n".repeat(20_000));
    const { problems, lines } = await verify();
    expect(problems.length).toBeLessThanOrEqual(1_000);
    expect(lines).toBe(20_000);
  });
});
