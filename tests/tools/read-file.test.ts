import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { readWindow } from "../../src/tools/line-window.ts";
import { readFile } from "../../src/tools/read-file.ts";
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
    text: "1| one\n2| two\n\n(End of the file: 2 lines)",
  });
});

test("readFile() shows a last line that has no newline", async () => {
  put("open.txt", "one\ntwo");
  expect((await call(readFile, { path: "open.txt" })).text).toBe(
    "1| one\n2| two\n\n(End of the file: 2 lines)",
  );
});

test("readFile() shows blank lines, also the last", async () => {
  put("blank.txt", "\n\na\n\n");
  expect((await call(readFile, { path: "blank.txt" })).text).toBe(
    "1| \n2| \n3| a\n4| \n\n(End of the file: 4 lines)",
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
  expect(first.text).toBe(`${numbered(1, 2)}\n\n(Lines 1 to 2. More follow: go on with offset=3)`);
  const second = await call(readFile, { path: "five.txt", offset: 3, limit: 3 });
  expect(second.text).toBe(`${numbered(3, 5)}\n\n(End of the file: 5 lines)`);
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
  expect(text).toBe(`${numbered(1, 2000)}\n\n(Lines 1 to 2000. More follow: go on with offset=2001)`);
});

test("readFile() shows at most 128,000 characters a call, in whole lines", async () => {
  put("wide.txt", `${"x".repeat(1000)}\n`.repeat(200));
  const { text } = await call(readFile, { path: "wide.txt" });
  expect(text.length).toBeLessThan(129_000);
  expect(text).toContain(`127| ${"x".repeat(1000)}\n\n(Lines 1 to 127. More follow: go on with offset=128)`);
});

test("readFile() cuts a line that is longer than a call can show, between characters", async () => {
  put("one-line.txt", `${"😀".repeat(300_000)}\nnext\n`);
  const { text } = await call(readFile, { path: "one-line.txt" });
  expect(text.length).toBeLessThan(128_400);
  expect(text.isWellFormed()).toBe(true);
  expect(text).not.toContain("\ufffd");
  expect(text).toContain("(Line 1 is longer: only its first 127996 characters are shown.");
  expect(text).toEndWith("(Lines 1 to 1. More follow: go on with offset=2)");
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
    text: 'Cannot read "nul.bin": it is a binary file (7 bytes)',
  });
});

test("readFile() refuses bytes that are no UTF-8", async () => {
  put("latin1.txt", new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a]));
  expect((await call(readFile, { path: "latin1.txt" })).text).toContain("not UTF-8 text (5 bytes)");
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
  expect(text).toStartWith(`${numbered(1, 2)}\n\n(Lines 1 to 2. More follow`);
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
  expect(await call(readFile, { path: "none.txt" })).toEqual({
    ok: false,
    text: 'Cannot read "none.txt": there is no such file; list_dir shows what is there',
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
