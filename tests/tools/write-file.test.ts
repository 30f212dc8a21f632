import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { writeFile } from "../../src/tools/write-file.ts";
import { createFixture } from "./fixture.ts";

const { base, workspace, put, call } = createFixture();
const read = (path: string) => readFileSync(join(workspace, path), "utf8");
const mode = (path: string) => statSync(join(workspace, path)).mode & 0o777;

test("writeFile() makes a file with its folders and says so", async () => {
  const result = await call(writeFile, { path: "a/b/c.txt", content: "é\nx" });
  expect(result).toEqual({ ok: true, text: 'Wrote 4 bytes (2 lines) to "a/b/c.txt", a new file' });
  expect(read("a/b/c.txt")).toBe("é\nx");
  expect([mode("a"), mode("a/b"), mode("a/b/c.txt")]).toEqual([0o755, 0o755, 0o644]);
});

test("writeFile() replaces a file, keeps its mode and leaves nothing else behind", async () => {
  chmodSync(put("bin/run.sh", "old"), 0o750);
  const result = await call(writeFile, { path: "bin/run.sh", content: "new one\n" });
  expect(result.text).toStartWith('Wrote 8 bytes (1 line) to "bin/run.sh", replaced 3 bytes\n(Warning: ');
  expect(read("bin/run.sh")).toBe("new one\n");
  expect(mode("bin/run.sh")).toBe(0o750);
  expect(readdirSync(join(workspace, "bin"))).toEqual(["run.sh"]);
});

test("writeFile() writes an empty file", async () => {
  expect((await call(writeFile, { path: "empty", content: "" })).text).toStartWith("Wrote 0 bytes (0 lines)");
  expect(read("empty")).toBe("");
});

test("writeFile() makes lone surrogates well-formed", async () => {
  await call(writeFile, { path: "emoji.txt", content: "a\ud83d 😀" });
  expect(read("emoji.txt")).toBe("a\ufffd 😀");
});

test("writeFile() refuses a folder", async () => {
  mkdirSync(join(workspace, "folder"));
  expect(await call(writeFile, { path: "folder", content: "x" })).toEqual({
    ok: false,
    text: 'Cannot write "folder": it is a folder; list_dir shows what is in it',
  });
  expect((await call(writeFile, { path: ".", content: "x" })).text).toContain("it is a folder");
});

test("writeFile() refuses a path that names a folder which is not there", async () => {
  expect((await call(writeFile, { path: "new-folder/", content: "x" })).text).toContain("names a folder");
  expect(existsSync(join(workspace, "new-folder"))).toBe(false);
});

test("writeFile() refuses a FIFO and leaves it", async () => {
  execFileSync("mkfifo", [join(workspace, "fifo")]);
  expect((await call(writeFile, { path: "fifo", content: "x" })).ok).toBe(false);
  expect(statSync(join(workspace, "fifo")).isFIFO()).toBe(true);
});

test("writeFile() refuses a read-only file", async () => {
  chmodSync(put("fixed.txt", "old"), 0o444);
  expect((await call(writeFile, { path: "fixed.txt", content: "new" })).text).toContain("it is read-only");
  expect(read("fixed.txt")).toBe("old");
});

test("writeFile() refuses a file in the place of a folder", async () => {
  put("plain.txt", "x");
  expect((await call(writeFile, { path: "plain.txt/y", content: "x" })).text).toContain("not a folder");
});

test.each(["../out.txt", "out/x.txt", "dangling"])(
  "writeFile() writes nothing outside through %j",
  async (path) => {
    const outside = createFixture();
    mkdirSync(join(outside.base, "elsewhere"));
    symlinkSync("../elsewhere", join(outside.workspace, "out"));
    symlinkSync("../elsewhere/new.txt", join(outside.workspace, "dangling"));
    expect((await outside.call(writeFile, { path, content: "x" })).text).toContain(
      "leads outside the workspace",
    );
    expect(readdirSync(outside.base).sort()).toEqual(["elsewhere", "ws"]);
    expect(readdirSync(join(outside.base, "elsewhere"))).toEqual([]);
  },
);

test("writeFile() writes through a link inside the workspace and keeps the link", async () => {
  symlinkSync("target.txt", join(workspace, "link.txt"));
  expect((await call(writeFile, { path: "link.txt", content: "x" })).text).toContain('to "target.txt"');
  expect(read("target.txt")).toBe("x");
  expect(read("link.txt")).toBe("x");
});

test.each(["sessions/cli.jsonl", ".nanobot/inbox.jsonl", "cron/jobs.json"])(
  "writeFile() refuses %j",
  async (path) => {
    expect((await call(writeFile, { path, content: "x" })).ok).toBe(false);
    expect(existsSync(join(workspace, path))).toBe(false);
  },
);

test("writeFile() counts lines as an editor does", async () => {
  for (const [content, lines] of [
    ["a", "1 line"],
    ["a\n", "1 line"],
    ["a\n\n", "2 lines"],
    ["\n", "1 line"],
  ]) {
    expect((await call(writeFile, { path: "count.txt", content })).text).toContain(`(${lines})`);
  }
  expect(existsSync(join(base, "count.txt"))).toBe(false);
});
