import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { editFile } from "../../src/tools/edit-file.ts";
import { replaceExactly } from "../../src/tools/exact-edit.ts";
import { createFixture } from "./fixture.ts";

const { workspace, put, call } = createFixture();
const read = (path: string) => readFileSync(join(workspace, path), "utf8");

async function edit(content: string | Uint8Array, old_text: string, new_text: string) {
  put("file.txt", content);
  const result = await call(editFile, { path: "file.txt", old_text, new_text });
  return { ...result, content: read("file.txt") };
}

describe("editFile() edits", () => {
  test("editFile() replaces the passage and says at which line", async () => {
    expect(await edit("one\ntwo\nthree\n", "two", "2")).toEqual({
      ok: true,
      text: 'Edited "file.txt" at line 2',
      content: "one\n2\nthree\n",
    });
  });

  test("editFile() finds LF where the file has CRLF, and writes CRLF", async () => {
    expect((await edit("a\r\nb\r\nc\r\n", "a\nb", "a\nX")).content).toBe("a\r\nX\r\nc\r\n");
    expect((await edit("a\r\nb\r\nc\r\n", "b", "x\ny")).content).toBe("a\r\nx\r\ny\r\nc\r\n");
    expect((await edit("a\r\nb", "b", "x\ny")).content).toBe("a\r\nx\r\ny");
  });

  test("editFile() takes CRLF from the model and gives each place its own line end", async () => {
    expect((await edit("a\nb\nc\n", "a\r\nb", "a\r\nX\r\nY")).content).toBe("a\nX\nY\nc\n");
    expect((await edit("a\r\nb\r\n", "a\r\nb", "a\r\nX")).content).toBe("a\r\nX\r\n");
  });

  test("editFile() leaves the lines of a mixed file as they are", async () => {
    expect((await edit("a\r\nb\nc\r\nd\n", "c", "C\nC")).content).toBe("a\r\nb\nC\r\nC\r\nd\n");
    expect((await edit("a\r\nb\nc\r\nd\n", "b", "B\nB")).content).toBe("a\r\nB\nB\nc\r\nd\n");
    expect((await edit("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nb\nc\nD")).content).toBe("a\r\nb\nc\r\nD\n");
  });

  test("editFile() keeps the byte order mark", async () => {
    expect((await edit("\ufeffone\ntwo\n", "one", "1")).content).toBe("\ufeff1\ntwo\n");
  });

  test("editFile() inserts dollar patterns byte for byte", async () => {
    const cost = "cost $& $$ $1 $` $' end";
    expect((await edit("a X b", "X", cost)).content).toBe(`a ${cost} b`);
  });

  test("editFile() takes old_text as text, not as a pattern", async () => {
    expect((await edit("a.c abc (x)*", ".c abc (x)*", "!")).content).toBe("a!");
  });

  test("editFile() deletes with an empty new_text", async () => {
    expect((await edit("a\nb\nc\n", "b\n", "")).content).toBe("a\nc\n");
  });

  test("editFile() keeps the mode", async () => {
    chmodSync(put("run.sh", "echo a\n"), 0o750);
    await call(editFile, { path: "run.sh", old_text: "a", new_text: "b" });
    expect(statSync(join(workspace, "run.sh")).mode & 0o777).toBe(0o750);
  });

  test("editFile() makes a missing file when old_text is empty, with its folders", async () => {
    const result = await call(editFile, { path: "new/x.txt", old_text: "", new_text: "é\n" });
    expect(result).toEqual({ ok: true, text: 'Wrote 3 bytes to "new/x.txt", a new file' });
    expect(read("new/x.txt")).toBe("é\n");
  });

  test("editFile() fills an empty file when old_text is empty", async () => {
    expect(await edit("", "", "x")).toEqual({
      ok: true,
      text: 'Wrote 1 bytes to "file.txt", which was empty',
      content: "x",
    });
  });
});

describe("editFile() refuses", () => {
  async function refused(content: string | Uint8Array, old_text: string, new_text = "new"): Promise<string> {
    const result = await edit(content, old_text, new_text);
    expect(result.ok).toBe(false);
    expect(readFileSync(join(workspace, "file.txt")).equals(Buffer.from(content))).toBe(true);
    return result.text;
  }

  test("editFile() refuses a passage that stands there more than once, with the count and lines", async () => {
    expect(await refused("x\na\nx\nx\n", "x")).toContain("stands in it 3 times, at lines 1, 3, 4; add lines");
    expect(await refused("x\n".repeat(9), "x")).toContain("9 times, the first at lines 1, 2, 3, 4, 5;");
    expect(await refused("x\n".repeat(5000), "x")).toContain("1000 times or more");
  });

  test("editFile() refuses a passage that stands there twice with different line ends", async () => {
    expect(await refused("a\nb\n-\na\r\nb\r\n", "a\nb")).toContain("2 times, at lines 1, 4");
  });

  test("editFile() refuses a passage that overlaps itself", async () => {
    expect(await refused("aaa", "aa")).toContain("2 times");
  });

  test("editFile() shows the nearest passage and what differs", async () => {
    const content = "import x\n\nfunction  main() {\n  return 1;\n}\n";
    const text = await refused(content, "function main() {\n\treturn 1;\n}");
    expect(text).toContain(
      "at line 3, which differs in white space only:\n3| function  main() {\n4|   return 1;\n5| }",
    );
    expect(await refused(content, "RETURN 1;")).not.toContain("differs in");
    expect(await refused(content, "  Return 1;")).toContain(
      "at line 4, which differs in case only:\n4|   return 1;",
    );
    expect(await refused(content, "  return 2;")).toContain("at line 4:\n4|   return 1;");
  });

  test("editFile() shows nothing when nothing is near", async () => {
    expect(await refused("alpha\nbeta\n", "zzzz qqqq")).toContain("read it with read_file and copy");
    expect(await refused("alpha\nbeta\n", "\n\n\n")).toContain("old_text is not in it");
  });

  test("editFile() notices line numbers that were copied", async () => {
    expect(await refused("alpha\nbeta\n", "1| alpha\n2| beta\n")).toContain("leave out the line numbers");
  });

  test("editFile() looks for the nearest passage in a large file within bounds", async () => {
    expect(await refused("some line of text\n".repeat(500_000), "another line of text")).toContain(
      "read it with read_file",
    );
    expect(await refused(`${"x".repeat(900_000)}\nabc def\n`, "abc  def")).toContain("2| abc def");
  });

  test("editFile() refuses an edit that changes nothing", async () => {
    expect(await refused("a\r\n", "a", "a")).toContain("are the same");
    expect(await refused("a\r\nb", "a\nb", "a\r\nb")).toContain("are the same");
  });

  test("editFile() refuses an empty old_text for a file that has content", async () => {
    expect(await refused("a", "")).toContain("it is not empty");
  });

  test("editFile() refuses a file that is not UTF-8", async () => {
    expect(await refused(new Uint8Array([0x61, 0xe9, 0x0a]), "a")).toContain("not UTF-8");
  });

  test("editFile() refuses half of a character", async () => {
    expect(await refused("a😀b", "\ud83d")).toContain("old_text is not in it");
  });

  test("editFile() refuses a file over 16 MiB without reading it", async () => {
    truncateSync(put("large.txt", "a"), 3_000_000_000);
    const result = await call(editFile, { path: "large.txt", old_text: "a", new_text: "b" });
    expect(result.text).toContain("larger than 16777216 bytes");
  });

  test("editFile() refuses a missing file", async () => {
    const result = await call(editFile, { path: "none.txt", old_text: "a", new_text: "b" });
    expect(result.text).toContain("there is no such file");
  });

  test("editFile() refuses a FIFO, in words of its own", async () => {
    execFileSync("mkfifo", [join(workspace, "fifo")]);
    expect((await call(editFile, { path: "fifo", old_text: "a", new_text: "b" })).text).toBe(
      'Cannot edit "fifo": it is a device, a pipe or a socket, not a regular file',
    );
  });

  test("editFile() refuses a protected file", async () => {
    put("sessions/x.jsonl", "a");
    const result = await call(editFile, { path: "sessions/x.jsonl", old_text: "a", new_text: "b" });
    expect(result.text).toContain("only nanobot itself writes there");
  });
});

const piece = fc.string({
  unit: fc.constantFrom("a", "b", "é", "😀", "\n", "\r\n", "\ufeff", "$&", "\t"),
  maxLength: 12,
});

test("replaceExactly() changes only the bytes it was asked to", () => {
  let edited = 0;
  fc.assert(
    fc.property(piece, piece, piece, piece, (before, old, after, replacement) => {
      fc.pre(old !== "");
      const text = before + old + after;
      // Written as the model would, which sees LF only.
      const outcome = replaceExactly(
        text,
        old.replaceAll("\r\n", "\n"),
        replacement.replaceAll("\r\n", "\n"),
      );
      expect(outcome.kind).not.toBe("missing");
      if (outcome.kind !== "edited") return;
      edited++;
      expect(outcome.text.startsWith(before)).toBe(true);
      expect(outcome.text.endsWith(after)).toBe(true);
      const between = outcome.text.slice(before.length, outcome.text.length - after.length);
      expect(between.replaceAll("\r\n", "\n")).toBe(replacement.replaceAll("\r\n", "\n"));
    }),
    { numRuns: 2000 },
  );
  expect(edited).toBeGreaterThan(100);
});

test("replaceExactly() adds no kind of line end that the file did not have", () => {
  fc.assert(
    fc.property(piece, piece, fc.constantFrom("\n", "\r\n"), (before, replacement, lineEnd) => {
      const sameEnds = (text: string) => text.replace(/\r?\n/g, lineEnd);
      const text = `${sameEnds(before)}UNIQUE${lineEnd}`;
      const outcome = replaceExactly(text, "UNIQUE", replacement);
      expect(outcome).toMatchObject({ kind: "edited", text: sameEnds(`${before}${replacement}\n`) });
    }),
  );
});

test("editFile() writes exactly what the edit says, whatever the text", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      async (around, inserted) => {
        const head = around.replaceAll("@@", "");
        const result = await edit(`${head}@@OLD@@${head}`, "@@OLD@@", inserted);
        expect(result.ok).toBe(true);
        expect(result.content).toBe(head + inserted.toWellFormed().replaceAll("\r\n", "\n") + head);
      },
    ),
    { numRuns: 50 },
  );
});
