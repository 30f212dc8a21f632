import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { editFile } from "../../src/tools/edit-file.ts";
import { createFixture, system } from "./fixture.ts";

const { workspace, put, call, context } = createFixture();
const read = (path: string) => readFileSync(join(workspace, path), "utf8");

/** As after a reading: what the tests of warnings are about is elsewhere out of the way. */
async function know(path: string): Promise<void> {
  const stat = await system.stat(join(workspace, path));
  if (stat) context.ports.reads.record(await context.ports.files.resolve(path, "read"), stat);
}

async function edit(content: string | Uint8Array, old_text: string, new_text: string) {
  put("file.txt", content);
  await know("file.txt");
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
      text: 'Wrote 1 byte to "file.txt", which was empty',
      content: "x",
    });
  });
});

describe("editFile() chooses", () => {
  test("editFile() changes every place when it is told to, and says where", async () => {
    put("file.txt", "x\n".repeat(5));
    await know("file.txt");
    const args = { path: "file.txt", old_text: "x", new_text: "y", replace_all: true };
    expect((await call(editFile, args)).text).toBe(
      'Edited "file.txt" in 5 places, the first at lines 1, 2, 3',
    );
    expect(read("file.txt")).toBe("y\n".repeat(5));
  });

  test("editFile() changes the occurrence, or the place at the line, that is meant", async () => {
    put("file.txt", "x\nx\nx\n");
    const args = { path: "file.txt", old_text: "x", new_text: "y" };
    expect((await call(editFile, { ...args, occurrence: 2 })).text).toStartWith(
      'Edited "file.txt" at line 2',
    );
    expect((await call(editFile, { ...args, line_hint: 3 })).text).toStartWith('Edited "file.txt" at line 3');
    expect(read("file.txt")).toBe("x\ny\ny\n");
  });

  test.each([
    ["  a\n", "a \n", "indentation or white space at line ends"],
    ["“a”\n", '"a"', "quotation marks"],
    ["  “a”\n", '  "a"\n', "quotation marks"],
    ["“a” b\n", '"a"', "quotation marks"],
    ["\tif “a”:\n\t\tb\n", 'if "a":\n\tb', "indentation or white space at line ends, and quotation marks"],
  ])("editFile() says of %j what it had to forgive in %j", async (content, before, what) => {
    const { text } = await edit(content, before, before.replace("a", "c"));
    expect(text).toBe(`Edited "file.txt" at line 1 (${what} differed from old_text)`);
    expect(read("file.txt")).toBe(content.replace("a", "c"));
  });

  test("editFile() keeps white space at line ends in Markdown only", async () => {
    for (const [name, content] of [
      ["a.txt", "b\n"],
      ["a.md", "b  \n"],
      ["a.MARKDOWN", "b  \n"],
    ] as const) {
      put(name, "a\n");
      await call(editFile, { path: name, old_text: "a", new_text: "b  " });
      expect(read(name)).toBe(content);
    }
  });
});

describe("editFile() keeps", () => {
  const endings = ["\n", "\r\n"];
  const marks = ["", "\ufeff"];
  const ends = [true, false];
  const modes = [0o600, 0o644, 0o755];
  const all = endings.flatMap((end) =>
    marks.flatMap((mark) => ends.flatMap((isClosed) => modes.map((mode) => ({ end, mark, isClosed, mode })))),
  );

  test.each(all)(
    "editFile() keeps %j, for an exact and a loose match",
    async ({ end, mark, isClosed, mode }) => {
      const text = (line: string) => mark + ["\tone", `\t${line}`].join(end) + (isClosed ? end : "");
      for (const old_text of ["\tone\n\ttwo", "one\ntwo"]) {
        chmodSync(put("kept.txt", text("two")), mode);
        const new_text = old_text.replace("two", "2");
        expect((await call(editFile, { path: "kept.txt", old_text, new_text })).ok).toBe(true);
        expect(read("kept.txt")).toBe(text("2"));
        expect(statSync(join(workspace, "kept.txt")).mode & 0o777).toBe(mode);
        chmodSync(join(workspace, "kept.txt"), 0o644);
      }
    },
  );

  test("editFile() keeps a link and changes what it leads to", async () => {
    put("real.txt", "a\n");
    symlinkSync("real.txt", join(workspace, "link.txt"));
    await call(editFile, { path: "link.txt", old_text: "a", new_text: "b" });
    expect(lstatSync(join(workspace, "link.txt")).isSymbolicLink()).toBe(true);
    expect(read("real.txt")).toBe("b\n");
  });

  test("editFile() leaves nothing beside the file", async () => {
    put("alone/x.txt", "a\n");
    await call(editFile, { path: "alone/x.txt", old_text: "a", new_text: "b" });
    expect(readdirSync(join(workspace, "alone"))).toEqual(["x.txt"]);
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
    expect(await refused("x\na\nx\nx\n", "x")).toContain(
      "stands in it 3 times, at lines 1, 3, 4; add lines around it until it is unique, or use occurrence",
    );
    expect(await refused("x\n".repeat(9), "x")).toContain("9 times, the first at lines 1, 2, 3;");
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
      "at line 3 (98 % the same), which differs in white space only. From old_text (-) to the file (+):\n" +
        "- function main() {\n- \treturn 1;\n+ function  main() {\n+   return 1;\n  }",
    );
    expect(await refused(content, "  Return 1;")).toContain(
      "at line 4 (87 % the same), which differs in case only",
    );
    expect(await refused(content, "  return 2;")).toContain(
      "the same). From old_text (-) to the file (+):\n-   return 2;\n+   return 1;",
    );
  });

  test("editFile() names all that differs, when that is something plain", async () => {
    expect(await refused("say  ‘Yes, of course’\n", "say 'yes, of course'")).toContain(
      "which differs in quotation marks and white space and case only",
    );
  });

  test("editFile() says what is in the way of a passage that is there", async () => {
    expect(await refused("one\ntwo\n", "\n\none\n")).toContain(
      "it is there without the newlines at the beginning",
    );
    expect(await refused("one\ntwo\n", "one\\ntwo")).toContain("with real line ends and tabs");
  });

  test("editFile() shows nothing when nothing is near", async () => {
    expect(await refused("alpha\nbeta\n", "zzzz qqqq")).toContain("read it with read_file and copy");
    expect(await refused("alpha\nbeta\n", "\n\n\n")).toContain("old_text is not in it");
    expect(await refused("alpha\n\nbeta\n", "\t\n ")).toContain("read it with read_file and copy");
  });

  test("editFile() notices line numbers that were copied", async () => {
    expect(await refused("alpha\nbeta\n", "1| alpha\n2| beta\n")).toContain("leave out the line numbers");
    expect(await refused("alpha\nbeta\n", "-1| beta")).toContain("leave out the line numbers");
  });

  test("editFile() looks for the nearest passage in a large file within bounds", async () => {
    expect(await refused("some line of text\n".repeat(500_000), "another line of text")).toContain(
      "read it with read_file",
    );
    expect(await refused(`${"x".repeat(900_000)}\nabc def\n`, "abd  def")).toContain("\n+ abc def");
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
    expect(result.text).toContain("larger than 16 MiB");
  });

  test("editFile() refuses a missing file", async () => {
    const result = await call(editFile, { path: "flie.txt", old_text: "a", new_text: "b" });
    expect(result.text).toContain('there is no such file; did you mean "file.txt"?');
  });

  test("editFile() refuses more than one way to say which places are meant", async () => {
    put("file.txt", "a a");
    const args = { path: "file.txt", old_text: "a", new_text: "b", replace_all: true, occurrence: 1 };
    expect((await call(editFile, args)).text).toContain(
      "give replace_all, or occurrence and line_hint, but not both",
    );
  });

  test.each([
    [{ occurrence: 3 }, "2 times, at lines 1, 2, so that there is no occurrence 3"],
    [{ line_hint: 3 }, "none of them covers line 3"],
    [
      { replace_all: true, expected_replacements: 1 },
      "2 times, at lines 1, 2, and expected_replacements is 1",
    ],
  ])("editFile() refuses %j where the passage stands twice", async (choice, reason) => {
    put("file.txt", "x\nx\ny\n");
    const result = await call(editFile, { path: "file.txt", old_text: "x", new_text: "z", ...choice });
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining(reason) });
    expect(read("file.txt")).toBe("x\nx\ny\n");
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

test("editFile() writes exactly what the edit says, whatever the text", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary" }),
      async (around, inserted) => {
        const head = around.replaceAll("@@", "");
        const result = await edit(`${head}@@OLD@@${head}`, "@@OLD@@", inserted);
        expect(result.ok).toBe(true);
        const lines = inserted.toWellFormed().replaceAll("\r\n", "\n").split("\n");
        const isLineEnd = (index: number) => index < lines.length - 1 || head === "";
        const stripped = lines.map((line, index) => (isLineEnd(index) ? line.replace(/[ \t]+$/, "") : line));
        expect(result.content).toBe(head + stripped.join("\n") + head);
      },
    ),
    { numRuns: 50 },
  );
});
