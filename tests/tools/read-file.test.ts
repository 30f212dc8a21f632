import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { findLastLines } from "../../src/tools/last-lines.ts";
import { readWindow } from "../../src/tools/line-window.ts";
import { readFile } from "../../src/tools/read-file.ts";
import { writeFile } from "../../src/tools/write-file.ts";
import { createFixture, system } from "./fixture.ts";

const { workspace, put, call, context } = createFixture();

function numbered(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => `${from + index}| line ${from + index}`).join(
    "\n",
  );
}

test("readFile() shows numbered lines and says that the file ends", async () => {
  put("a.txt", "one\ntwo\n");
  expect(await call(readFile, { path: "a.txt" })).toEqual({
    ok: true,
    text: "1| one\n2| two\n\n(End of file — 2 lines total)",
  });
});

test("readFile() shows a last line that has no newline", async () => {
  put("open.txt", "one\ntwo");
  expect((await call(readFile, { path: "open.txt" })).text).toBe(
    "1| one\n2| two\n\n(End of file — 2 lines total)",
  );
});

test("readFile() shows blank lines, also the last", async () => {
  put("blank.txt", "\n\na\n\n");
  expect((await call(readFile, { path: "blank.txt" })).text).toBe(
    "1| \n2| \n3| a\n4| \n\n(End of file — 4 lines total)",
  );
});

test("readFile() says that a file is empty", async () => {
  put("empty.txt", "");
  expect(await call(readFile, { path: "empty.txt" })).toEqual({ ok: true, text: "(The file is empty)" });
});

test("readFile() shows LF for CRLF and leaves the byte order mark out, but no other U+FEFF", async () => {
  put("crlf.txt", "\ufeffone\r\n\ufefftwo\r\nthree");
  expect((await call(readFile, { path: "crlf.txt" })).text).toStartWith("1| one\n2| \ufefftwo\n3| three\n");
});

test("readFile() goes on where the last call said it would", async () => {
  put("five.txt", "line 1\nline 2\nline 3\nline 4\nline 5\n");
  const first = await call(readFile, { path: "five.txt", limit: 2 });
  expect(first.text).toBe(`${numbered(1, 2)}\n\n(Showing lines 1-2. Use offset=3 to continue.)`);
  const second = await call(readFile, { path: "five.txt", offset: 3, limit: 3 });
  expect(second.text).toBe(`${numbered(3, 5)}\n\n(End of file — 5 lines total)`);
});

test("readFile() refuses an offset past the end and says where the end is", async () => {
  put("two.txt", "one\ntwo");
  put("two-closed.txt", "one\ntwo\n");
  for (const path of ["two.txt", "two-closed.txt"]) {
    const result = await call(readFile, { path, offset: 3 });
    expect(result).toEqual({
      ok: false,
      text: `Cannot read "${path}" from line 3: the file ends at line 2; use an offset from 1 to 2`,
    });
  }
});

test("readFile() shows at most 2,000 lines a call", async () => {
  put("long.txt", Array.from({ length: 2001 }, (_, index) => `line ${index + 1}\n`).join(""));
  const { text } = await call(readFile, { path: "long.txt", limit: 1_000_000 });
  expect(text).toBe(`${numbered(1, 2000)}\n\n(Showing lines 1-2000. Use offset=2001 to continue.)`);
});

test("readFile() shows at most 128,000 characters a call, in whole lines", async () => {
  put("wide.txt", `${"x".repeat(1000)}\n`.repeat(200));
  const { text } = await call(readFile, { path: "wide.txt" });
  expect(text.length).toBeLessThan(129_000);
  expect(text).toContain(`127| ${"x".repeat(1000)}\n\n(Showing lines 1-127. Use offset=128 to continue.)`);
});

test("readFile() cuts a line that is longer than a call can show, between characters", async () => {
  put("one-line.txt", `${"😀".repeat(300_000)}\nnext\n`);
  const { text } = await call(readFile, { path: "one-line.txt" });
  expect(text.length).toBeLessThan(128_400);
  expect(text.isWellFormed()).toBe(true);
  expect(text).not.toContain("\ufffd");
  expect(text).toContain("(Line 1 is longer: only its first 127996 characters are shown.");
  expect(text).toEndWith("(Showing lines 1-1. Use offset=2 to continue.)");
  expect((await call(readFile, { path: "one-line.txt", offset: 2 })).text).toStartWith("2| next\n");
});

test("readFile() keeps its result below the limit it declares", async () => {
  put("limit.txt", "y".repeat(500_000));
  const { text } = await call(readFile, { path: "limit.txt" });
  expect(text.length).toBeLessThanOrEqual(readFile.resultLimit ?? 0);
});

test("readFile() refuses a binary file and says how large it is", async () => {
  put("nul.bin", "abc\0def");
  expect(await call(readFile, { path: "nul.bin" })).toEqual({
    ok: false,
    text: 'Cannot read "nul.bin": it is a binary file (7 bytes); use exec with a program that reads it',
  });
});

test("readFile() refuses bytes that are no UTF-8", async () => {
  put("latin1.txt", new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a]));
  expect((await call(readFile, { path: "latin1.txt" })).text).toBe(
    'Cannot read "latin1.txt": it is a binary file or not UTF-8 text (5 bytes); if it is text, convert it to UTF-8 first, for example with iconv',
  );
});

test("readFile() names UTF-16", async () => {
  put("utf16.txt", new Uint8Array([0xff, 0xfe, 0x61, 0x00]));
  expect((await call(readFile, { path: "utf16.txt" })).text).toContain("UTF-16");
});

test("readFile() takes a character that crosses the end of the probe, and refuses one cut by the file's end", async () => {
  put("crossing.txt", `${"a".repeat(8191)}é\n`);
  expect((await call(readFile, { path: "crossing.txt" })).ok).toBe(true);
  put("cut.txt", new Uint8Array([0x61, 0xc3]));
  expect((await call(readFile, { path: "cut.txt" })).ok).toBe(false);
});

test("readFile() refuses a huge sparse file without reading it", async () => {
  truncateSync(put("sparse.bin", ""), 3_000_000_000);
  expect((await call(readFile, { path: "sparse.bin" })).text).toContain("binary file (3000000000 bytes)");
});

test("readFile() reads the beginning of a huge text file only", async () => {
  // Text where the probe looks, then a hole of 3 GB.
  const path = put("huge.txt", "line 1\nline 2\n".padEnd(10_000, "line\n"));
  truncateSync(path, 3_000_000_000);
  const { text } = await call(readFile, { path: "huge.txt", limit: 2 });
  expect(text).toStartWith(`${numbered(1, 2)}\n\n(Showing lines 1-2. Use offset=3`);
});

test("readFile() refuses a FIFO without opening it", async () => {
  execFileSync("mkfifo", [join(workspace, "fifo")]);
  expect(await call(readFile, { path: "fifo" })).toEqual({
    ok: false,
    text: 'Cannot read "fifo": it is a device, a pipe or a socket, not a regular file',
  });
});

test("readFile() refuses a socket", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(workspace, "socket"), resolve));
  expect((await call(readFile, { path: "socket" })).text).toContain("a device, a pipe or a socket");
  server.close();
});

test("readFile() refuses a device when the workspace is no limit", async () => {
  const unrestricted = createFixture({ files: { restrict: false } });
  expect((await unrestricted.call(readFile, { path: "/dev/zero" })).text).toContain(
    "a device, a pipe or a socket",
  );
});

test("readFile() refuses a folder and points to list_dir", async () => {
  mkdirSync(join(workspace, "folder"));
  expect((await call(readFile, { path: "folder" })).text).toContain("it is a folder; list_dir");
});

test("readFile() says that there is no such file", async () => {
  expect(await call(readFile, { path: "nowhere-to-be-seen.txt" })).toEqual({
    ok: false,
    text: 'Cannot read "nowhere-to-be-seen.txt": there is no such file; list_dir shows what is there',
  });
});

test("readFile() refuses a link that leads outside", async () => {
  symlinkSync("/etc", join(workspace, "link"));
  expect((await call(readFile, { path: "link/passwd" })).text).toContain("leads outside the workspace");
});

test("readFile() stops when it is aborted", async () => {
  put("stop.txt", "text\n");
  const signal = AbortSignal.abort(new Error("stopped"));
  await expect(readFile.execute({ path: "stop.txt" }, { ...context, signal })).rejects.toThrow("stopped");
});

test("readFile() names up to three files that were probably meant, and none that are closed", async () => {
  const near = createFixture({ files: { hidden: ["near/report-4.md"] } });
  for (const name of ["report-1.md", "report-2.md", "report-3.md", "report-4.md", "zebra.txt"]) {
    near.put(`near/${name}`, "x");
  }
  expect((await near.call(readFile, { path: "near/repport-4.md" })).text).not.toContain('report-4.md"?');
  expect((await near.call(readFile, { path: "near/Report1.md" })).text).toContain(
    'there is no such file; did you mean "near/report-1.md", "near/report-2.md", "near/report-3.md"?',
  );
});

test("readFile() suggests nothing that it could not read by that name", async () => {
  const near = createFixture();
  symlinkSync("nothing", join(near.workspace, "notes.md"));
  writeFileSync(Buffer.concat([Buffer.from(`${near.workspace}/notes`), Buffer.of(0xe9)]), "x");
  expect((await near.call(readFile, { path: "notes.m" })).text).toBe(
    'Cannot read "notes.m": there is no such file; list_dir shows what is there',
  );
});

const fromEnd = (path: string, offset: number, more: object = {}) =>
  call(readFile, { path, offset, ...more });

test("readFile() counts a negative offset from the end, and the lines too", async () => {
  put("tail.txt", "one\ntwo\nthree\nfour\n");
  const two = "-2| three\n-1| four\n\n(End of file. Lines are counted from the end.)";
  expect(await fromEnd("tail.txt", -2)).toEqual({ ok: true, text: two });
  put("tail-open.txt", "one\ntwo\nthree\nfour");
  expect((await fromEnd("tail-open.txt", -2)).text).toBe(two);
  expect((await fromEnd("tail-open.txt", -3, { limit: 2 })).text).toBe(
    "-3| two\n-2| three\n\n(Showing lines -3 to -2, counted from the end. Use offset=-1 to continue.)",
  );
});

test("readFile() begins at the first line when the file has no more, and says how many there are", async () => {
  put("short.txt", "\ufeffone\r\ntwo\r\n");
  expect((await fromEnd("short.txt", -9)).text).toBe("-2| one\n-1| two\n\n(End of file — 2 lines total)");
  put("nothing.txt", "");
  expect((await fromEnd("nothing.txt", -1)).text).toBe("(The file is empty)");
  put("blank-end.txt", "a\n\n");
  expect((await fromEnd("blank-end.txt", -1)).text).toStartWith("-1| \n");
});

test("readFile() takes offset 0 for the beginning", async () => {
  put("zero.txt", "one\n");
  expect((await call(readFile, { path: "zero.txt", offset: 0 })).text).toStartWith("1| one");
});

test("readFile() cuts a last line that is longer than a call can show", async () => {
  put("long-tail.txt", `a\n${"😀".repeat(300_000)}`);
  const { text } = await fromEnd("long-tail.txt", -1);
  expect(text).toContain("(Line -1 is longer: only its first");
  expect(text.isWellFormed()).toBe(true);
});

test("readFile() reads only the end of a file of 3 GB", async () => {
  const path = put("huge-tail.txt", "line\n".repeat(2_000));
  truncateSync(path, 3_000_000_000);
  appendFileSync(path, "\none\ntwo\n");
  const stream: { start: number | undefined }[] = [];
  const reads: number[] = [];
  const watched = createFixture({
    files: {
      workspace,
      system: {
        ...system,
        read: (from, range) => {
          reads.push((range?.end ?? 0) - (range?.start ?? 0));
          return system.read(from, range);
        },
        stream: (from, options) => {
          stream.push({ start: options.start });
          return system.stream(from, options);
        },
      },
    },
  });
  const { text } = await watched.call(readFile, { path, offset: -2 });
  expect(text).toStartWith("-2| one\n-1| two\n");
  expect(stream).toEqual([{ start: 3_000_000_001 }]);
  expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(100_000);
});

test("findLastLines() gives up after so many bytes", async () => {
  const read = async (start: number, end: number) => new Uint8Array(end - start);
  const options = { bytes: 3_000_000_000, count: 1, maxBytes: 4_000_000 };
  expect(await findLastLines(read, options)).toBeUndefined();
});

test("findLastLines() finds what splitting the whole text finds", async () => {
  const text = fc.array(fc.constantFrom("a", "é", "\n", "\r\n", "x".repeat(70_000), "y".repeat(140_000)), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 8 }), async (pieces, count) => {
      const bytes = new TextEncoder().encode(pieces.join(""));
      const content = pieces.join("");
      const lines = content.split("\n");
      if (lines.at(-1) === "") lines.pop();
      const read = async (start: number, end: number) => bytes.subarray(start, end);
      const found = await findLastLines(read, { bytes: bytes.length, count, maxBytes: 100_000_000 });
      expect(found?.count).toBe(Math.min(count, lines.length));
      const wanted = lines.slice(-count).join("\n");
      expect(
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(found?.start)).replace(/\n$/, ""),
      ).toBe(wanted);
    }),
  );
});

test("readFile() does not show again what was shown and has not changed, unless it is forced to", async () => {
  put("same.txt", "one\ntwo\n");
  const args = { path: "same.txt", limit: 1 };
  const shown = await call(readFile, args);
  expect(await call(readFile, args)).toEqual({
    ok: true,
    text: 'File unchanged since last read: "same.txt" (it was shown before; use force=true to see it again)',
  });
  expect(await call(readFile, { ...args, force: true })).toEqual(shown);
  expect((await call(readFile, { ...args, offset: 2 })).text).toStartWith("2| two");
  put("same.txt", "three\ntwo\n");
  expect((await call(readFile, args)).text).toStartWith("1| three");
});

test("readFile() shows a file again after the session wrote it", async () => {
  put("written.txt", "one\n");
  await call(readFile, { path: "written.txt" });
  await call(writeFile, { path: "written.txt", content: "two\n" });
  expect((await call(readFile, { path: "written.txt" })).text).toStartWith("1| two");
});

test("readFile() does not remember a reading that failed", async () => {
  put("short-one.txt", "one\n");
  const past = { path: "short-one.txt", offset: 5 };
  const first = await call(readFile, past);
  expect(first.ok).toBe(false);
  expect(await call(readFile, past)).toEqual(first);
});

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test("readWindow() gives up after so many bytes", async () => {
  const bytes = new TextEncoder().encode("line\n".repeat(100));
  const options = { maxLines: 10, maxChars: 1000, maxBytes: 50 };
  const far = await readWindow(chunked(bytes, 10), { ...options, first: 90 });
  expect(far).toEqual({ lines: [], cutAt: undefined, stop: { kind: "gaveUp" } });
  const near = await readWindow(chunked(bytes, 10), { ...options, first: 9 });
  expect(near).toEqual({ lines: ["9| line", "10| line"], cutAt: undefined, stop: { kind: "gaveUp" } });
});

test("readWindow() closes the file when it stops early", async () => {
  let isClosed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield new TextEncoder().encode("line\n");
    } finally {
      isClosed = true;
    }
  }
  await readWindow(endless(), { first: 3, maxLines: 2, maxChars: 100, maxBytes: 10_000 });
  expect(isClosed).toBe(true);
});

test("readWindow() does not wait for the end of a line that has no room any more", async () => {
  let read = 0;
  async function* endlessLine(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode("line\n");
    for (;;) {
      read++;
      yield new TextEncoder().encode("x".repeat(100));
    }
  }
  const options = { first: 1, maxLines: 10, maxChars: 1000, maxBytes: 1_000_000 };
  const window = await readWindow(endlessLine(), options);
  expect(window).toEqual({ lines: ["1| line"], cutAt: undefined, stop: { kind: "more" } });
  expect(read).toBeLessThan(50);
});

test("readWindow() finds the same lines however the bytes are cut", async () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\n", "\r\n", "\r", "\u2028") });
  const options = { first: fc.integer({ min: 1, max: 6 }), maxLines: fc.integer({ min: 1, max: 6 }) };
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.integer({ min: 1, max: 5 }),
      fc.record(options),
      async (content, size, { first, maxLines }) => {
        const all = content.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
        if (content.endsWith("\n") || content === "") all.pop();
        const window = await readWindow(chunked(new TextEncoder().encode(content), size), {
          first,
          maxLines,
          maxChars: 10_000,
          maxBytes: 10_000,
        });
        const expected = all.slice(first - 1, first - 1 + maxLines);
        expect(window.lines).toEqual(expected.map((line, index) => `${first + index}| ${line}`));
        const rest = all.length - (first - 1) - maxLines;
        expect(window.stop).toEqual(rest > 0 ? { kind: "more" } : { kind: "end", total: all.length });
      },
    ),
  );
});

test("readFile() is given what the real file system streams", async () => {
  const content = Array.from({ length: 50_000 }, (_, index) => `line ${index + 1}\n`).join("");
  const path = put("real.txt", content);
  const window = await readWindow(system.stream(path, { signal: new AbortController().signal }), {
    first: 49_999,
    maxLines: 10,
    maxChars: 1000,
    maxBytes: 10_000_000,
  });
  expect(window).toEqual({
    lines: ["49999| line 49999", "50000| line 50000"],
    cutAt: undefined,
    stop: { kind: "end", total: 50_000 },
  });
});
