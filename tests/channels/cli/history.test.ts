import { afterAll, afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHistory, type History } from "../../../src/channels/cli/history.ts";
import { createFileSystem } from "../../../src/platform/files.ts";

const folder = mkdtempSync(join(tmpdir(), "nanobot-"));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: History[] = [];
afterEach(async () => {
  for (const history of opened.splice(0)) await history.close();
});

let files = 0;
function fresh(content?: string) {
  const path = join(folder, `${++files}`, "history.jsonl");
  if (content !== undefined) {
    mkdirSync(join(path, ".."));
    writeFileSync(path, content);
  }
  const logged: string[] = [];
  const log = (message: string) => void logged.push(message);
  const open = () => {
    const history = createHistory(path, createFileSystem(), { debug: log, info: log, warn: log, error: log });
    opened.push(history);
    return history;
  };
  return { path, logged, open };
}

test("createHistory() gives back what was added, in order, also entries of several lines", async () => {
  const { open, path } = fresh();
  const history = open();
  expect(await history.load()).toEqual([]);
  await history.add("one");
  await history.add("two\nlines 語 \ud83d");
  expect(await open().load()).toEqual(["one", "two\nlines 語 \ufffd"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("createHistory() keeps the newest thousand", async () => {
  const { open, path } = fresh(Array.from({ length: 1_500 }, (_, index) => `"entry ${index}"\n`).join(""));
  const entries = await open().load();
  expect([entries.length, entries[0], entries.at(-1)]).toEqual([1_000, "entry 500", "entry 1499"]);
  expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(1_000);
});

test("createHistory() skips damaged lines, says so once, and appends on a line of its own", async () => {
  const { open, logged } = fresh('"one"\n{"not":"text"}\n\0\0\0\n"two"\n"torn');
  const history = open();
  expect(await history.load()).toEqual(["one", "two"]);
  expect(logged).toEqual(["Skipped damaged lines of the prompt history"]);
  await history.add("three");
  expect(await open().load()).toEqual(["one", "two", "three"]);
});

test("createHistory() takes control sequences out of what it reads", async () => {
  const { open } = fresh('"a\\u001b[31mb"\n');
  expect(await open().load()).toEqual(["ab"]);
});

for (const content of ["#!/bin/sh\nrm x\n", "\xff\xfe\0\x01", "[1,2,3]\n"]) {
  test(`createHistory() ignores and does not touch a file that is none: ${JSON.stringify(content)}`, async () => {
    const { open, path, logged } = fresh(content);
    const before = readFileSync(path);
    const history = open();
    expect(await history.load()).toEqual([]);
    await history.add("entry");
    expect(readFileSync(path)).toEqual(before);
    expect(logged).toEqual(["Ignored the prompt history"]);
  });
}

test("createHistory() ignores a folder in the file's place", async () => {
  const { open, path, logged } = fresh();
  mkdirSync(path, { recursive: true });
  const history = open();
  expect(await history.load()).toEqual([]);
  await history.add("entry");
  expect(logged).toEqual(["Ignored the prompt history"]);
});

test("createHistory() does not store an entry that is too long", async () => {
  const { open } = fresh();
  const history = open();
  await history.load();
  await history.add("x".repeat(20_000));
  await history.add("short");
  expect(await open().load()).toEqual(["short"]);
});
