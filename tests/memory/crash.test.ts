import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AppendFile, FileSystem } from "../../src/core/platform.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createWorld, fileOf, rememberAll, saves, say, signal, turnOf } from "./fixture.ts";

const KEY = "telegram:1";
const OLD = "- Likes tea\n";
const NEW = "- Likes tea\n- Has a boat\n";

/** A disk on which one operation fails, or all from that one on, as for a process that is killed there. */
function createFailingFiles({ at, isEnd }: { at: number; isEnd: boolean }) {
  const files = createFileSystem();
  let done = 0;
  const fails = () => {
    const index = done++;
    return isEnd ? index >= at : index === at;
  };
  const broken = () => new Error("The disk failed");

  function guard<Args extends unknown[], T>(work: (...args: Args) => Promise<T>) {
    return async (...args: Args): Promise<T> => {
      if (fails()) throw broken();
      return work(...args);
    };
  }

  /** What was being written when it failed is half there. */
  function torn(file: AppendFile): AppendFile {
    return {
      ...file,
      async append(bytes) {
        if (!fails()) return file.append(bytes);
        if (bytes.length > 1) await file.append(bytes.subarray(0, bytes.length / 2));
        throw broken();
      },
      sync: guard(() => file.sync()),
      close: () => file.close(),
    };
  }

  const failing: FileSystem = {
    ...files,
    stat: guard(files.stat),
    linkStat: guard(files.linkStat),
    list: guard(files.list),
    read: guard(files.read),
    async *stream(path, options) {
      if (fails()) throw broken();
      yield* files.stream(path, options);
    },
    replace: guard(files.replace),
    makeFolder: guard(files.makeFolder),
    rename: guard(files.rename),
    remove: guard(files.remove),
    openAppend: guard(async (path, options) => torn(await files.openAppend(path, options))),
  };
  return { files: failing, hasFailed: () => done > at };
}

async function spoken(workspace: string): Promise<readonly string[]> {
  const { sessions } = createWorld({ workspace });
  const lines: string[] = [];
  for await (const { content } of sessions.read(KEY, signal)) lines.push(content);
  return lines;
}

// A model that is asked again answers again.
const script = Array.from({ length: 5 }, () => saves("A blue boat.", NEW));

async function crashAt(options: { at: number; isEnd: boolean }): Promise<boolean> {
  const workspace = tempFolder();
  mkdirSync(join(workspace, "memory"));
  writeFileSync(join(workspace, "memory", "MEMORY.md"), OLD);
  writeFileSync(join(workspace, "memory", "HISTORY.md"), "[2026-11-01 09:00] Before.\n");
  await say(createWorld({ workspace }), KEY, ...turnOf("I have a boat"), ...turnOf("It is blue"));
  const before = await spoken(workspace);
  const { files, hasFailed } = createFailingFiles(options);
  const failing = createWorld({ workspace, files, isPatient: false, script });
  await rememberAll(failing, KEY);
  const crashed = hasFailed();

  const next = createWorld({ workspace, isPatient: false, script });
  const all = { maxTokens: 1_000, keepTokens: 0, signal };
  const left = await next.sessions.unconsolidated({ key: KEY }, all);
  const history = await next.memory.history({ limit: 10 });
  if (left === undefined) expect(history.map(({ text }) => text)).toContain("A blue boat.");
  else expect(left.messages).toHaveLength(4);
  expect(history[0]?.text).toBe("Before.");
  expect([OLD, NEW]).toContain(fileOf(next, "MEMORY.md"));
  expect(await spoken(workspace)).toEqual(before);

  await rememberAll(next, KEY);
  await say(next, KEY, ...turnOf("after"));
  const texts = (await next.memory.history({ limit: 10 })).map(({ text }) => text);
  expect(texts).toContain("A blue boat.");
  expect(readFileSync(join(workspace, "memory", "HISTORY.md"), "utf8")).toStartWith(
    "[2026-11-01 09:00] Before.\n\n",
  );
  if (options.isEnd) expect(fileOf(next, "MEMORY.md")).toBe(NEW);
  expect(await spoken(workspace)).toEqual([...before, "after", "Yes."]);
  expect((await next.sessions.unconsolidated({ key: KEY }, all))?.messages).toHaveLength(2);
  return crashed;
}

test("createConsolidation() killed at any of its steps leaves no history lost and no mark without one", async () => {
  let steps = 0;
  while (await crashAt({ at: steps, isEnd: true })) steps++;
  expect(steps).toBeGreaterThan(20);
});

test("createConsolidation() with any one operation failing leaves no history lost and no mark without one", async () => {
  let steps = 0;
  while (await crashAt({ at: steps, isEnd: false })) steps++;
  expect(steps).toBeGreaterThan(20);
});
