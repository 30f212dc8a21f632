/** Answers on disk: what is kept, what makes room, and files that are not as we left them. */

import { expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openFinals } from "../../../src/channels/websocket/finals.ts";
import type { AppendFile, FileSystem } from "../../../src/core/platform.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import { createFakeLog } from "../../fakes/log.ts";
import { tempFolder } from "../../fakes/temp.ts";
import { setUp } from "./fixture.ts";

function recordOf(seq: number, { chat = "main", content = `${seq}` } = {}) {
  const at = "2023-11-14T22:13:20.000Z";
  const event = {
    type: "final",
    seq,
    id: `k${seq}`,
    turn: "t",
    at,
    outcome: "answer",
    content,
    answers: [],
  } as const;
  return { chat, event };
}

function openIn(folder: string, rest: Partial<Parameters<typeof openFinals>[0]> = {}) {
  const log = createFakeLog();
  const finals = openFinals({
    files: createFileSystem(),
    clock: createFakeClock(),
    log,
    folder,
    keepMessages: 1_000,
    keepSeconds: 7 * 86_400,
    ...rest,
  });
  return finals.then((open) => ({ ...open, log }));
}

const pathIn = (folder: string) => join(folder, "finals.jsonl");
const numbers = (
  { after }: { after: (chat: string, seq: number) => readonly { seq: number }[] },
  chat = "main",
) => after(chat, 0).map(({ seq }) => seq);

test("openFinals() makes no file before there is something to keep", async () => {
  const folder = join(tempFolder(), "below", "it");
  const finals = await openIn(folder);
  expect(existsSync(folder)).toBe(false);
  await finals.add(recordOf(1));
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(pathIn(folder)).mode & 0o777).toBe(0o600);
  expect(readFileSync(pathIn(folder), "utf8")).toStartWith('{"v":1}\n');
  await finals.close();
});

test("openFinals() finds what was added before, in order", async () => {
  const folder = tempFolder();
  const first = await openIn(folder);
  await Promise.all([1, 2, 3].map((seq) => first.add(recordOf(seq))));
  await first.add(recordOf(4, { chat: "other" }));
  await first.close();
  const second = await openIn(folder);
  expect(numbers(second)).toEqual([1, 2, 3]);
  expect(second.after("main", 2)).toEqual([recordOf(3).event]);
  expect(second.has("k4")).toBe(true);
  expect([second.latest("main"), second.latest("other"), second.latest("none")]).toEqual([3, 4, 0]);
  expect(second.highest()).toBe(4);
  await second.add(recordOf(5));
  await second.close();
  const third = await openIn(folder);
  expect(numbers(third)).toEqual([1, 2, 3, 5]);
  await third.close();
});

test("add() rejects after close()", async () => {
  const finals = await openIn(tempFolder());
  await finals.close();
  await expect(finals.add(recordOf(1))).rejects.toThrow("closed");
});

test("openFinals() closes a torn line, and goes on behind it", async () => {
  const folder = tempFolder();
  const first = await openIn(folder);
  await first.add(recordOf(1));
  await first.close();
  appendFileSync(pathIn(folder), '{"chat":"main","event":{"type":"fin');
  const second = await openIn(folder);
  await second.add(recordOf(2));
  await second.close();
  const third = await openIn(folder);
  expect(numbers(third)).toEqual([1, 2]);
  await third.close();
});

test("openFinals() skips damaged lines, and says so once", async () => {
  const folder = tempFolder();
  const good = (seq: number) => JSON.stringify(recordOf(seq));
  const bad = [
    "nonsense",
    '{"chat":"a/b","event":{}}',
    good(9).replace('"seq":9', '"seq":"9"'),
    "[]",
    "null",
  ];
  writeFileSync(pathIn(folder), ['{"v":1}', good(1), ...bad, good(2), ""].join("\n"));
  const finals = await openIn(folder);
  expect(numbers(finals)).toEqual([1, 2]);
  expect(finals.log.lines).toHaveLength(1);
  expect(finals.log.lines[0]).toEndWith(" 5");
  await finals.close();
});

test("openFinals() leaves a file of a newer version as it is", async () => {
  const folder = tempFolder();
  writeFileSync(pathIn(folder), '{"v":2}\nwhatever\n');
  await expect(openIn(folder)).rejects.toThrow("newer version");
  expect(readFileSync(pathIn(folder), "utf8")).toBe('{"v":2}\nwhatever\n');
});

test("add() keeps so many of each chat, and remembers which are gone", async () => {
  const folder = tempFolder();
  const first = await openIn(folder, { keepMessages: 2 });
  for (const seq of [1, 2, 3, 4]) await first.add(recordOf(seq));
  await first.add(recordOf(5, { chat: "other" }));
  const check = (finals: typeof first) => {
    expect(numbers(finals)).toEqual([3, 4]);
    expect(numbers(finals, "other")).toEqual([5]);
    expect([finals.lost("main"), finals.lost("other")]).toEqual([2, 0]);
    expect(finals.has("k1")).toBe(false);
  };
  check(first);
  await first.close();
  const second = await openIn(folder, { keepMessages: 2 });
  check(second);
  await second.close();
});

test("add() makes room by dropping the oldest, and a restart knows of it", async () => {
  const folder = tempFolder();
  const maxBytes = 20_000;
  const first = await openIn(folder, { maxBytes });
  await first.add(recordOf(1, { chat: "quiet" }));
  for (let seq = 2; seq <= 100; seq++) await first.add(recordOf(seq, { content: "x".repeat(1_000) }));
  expect(statSync(pathIn(folder)).size).toBeLessThanOrEqual(maxBytes);
  const kept = numbers(first);
  expect(kept.at(-1)).toBe(100);
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.length).toBeLessThan(20);
  await first.close();
  const second = await openIn(folder, { maxBytes });
  expect(numbers(second)).toEqual(kept);
  expect(second.lost("main")).toBe((kept[0] ?? 0) - 1);
  expect(second.lost("quiet")).toBe(1);
  expect(second.lost("other")).toBe(0);
  await second.close();
});

test("add() takes one that is larger than all the room", async () => {
  const folder = tempFolder();
  const finals = await openIn(folder, { maxBytes: 1_000 });
  await finals.add(recordOf(1));
  await finals.add(recordOf(2, { content: "x".repeat(5_000) }));
  expect(numbers(finals)).toContain(2);
  await finals.add(recordOf(3));
  expect(numbers(finals)).toContain(3);
  await finals.close();
});

/** Files that fail as long as they are told to. */
function failing(): FileSystem & { fails: "append" | "sync" | "replace" | undefined } {
  const files = createFileSystem();
  const state = {
    ...files,
    fails: undefined as "append" | "sync" | "replace" | undefined,
    async replace(...all: Parameters<FileSystem["replace"]>) {
      if (state.fails === "replace") throw new Error("the disk is full");
      return files.replace(...all);
    },
    async openAppend(...all: Parameters<FileSystem["openAppend"]>): Promise<AppendFile> {
      const file = await files.openAppend(...all);
      return {
        async append(bytes) {
          if (state.fails !== "append") return file.append(bytes);
          await file.append(bytes.subarray(0, 5));
          throw new Error("the disk is full");
        },
        async sync() {
          if (state.fails === "sync") throw new Error("the disk is full");
          return file.sync();
        },
        close: () => file.close(),
      };
    },
  };
  return state;
}

test.each(["append", "sync", "replace"] as const)(
  "add() rejects when %s fails, and works when it does again",
  async (what) => {
    const folder = tempFolder();
    const files = failing();
    const finals = await openIn(folder, { files });
    if (what !== "replace") await finals.add(recordOf(1));
    files.fails = what;
    await expect(finals.add(recordOf(2))).rejects.toThrow("the disk is full");
    expect(finals.has("k2")).toBe(false);
    files.fails = undefined;
    await finals.add(recordOf(3));
    await finals.add(recordOf(2));
    await finals.close();
    const again = await openIn(folder);
    expect([...numbers(again)].sort()).toEqual(what === "replace" ? [2, 3] : [1, 2, 3]);
    expect(again.log.lines).toEqual([]);
    await again.close();
  },
);

test("send() waits for a disk that fails, and says nothing to clients before", async () => {
  const files = failing();
  const { join: enter, final } = await setUp({}, { files });
  const client = await enter();
  await final("first");
  files.fails = "append";
  const failed = final("second", { key: "k" });
  await expect(failed).rejects.toMatchObject({ name: "SendError", kind: "down" });
  expect(client.frames).toHaveLength(2);
  files.fails = undefined;
  await final("second", { key: "k" });
  expect(client.frames.slice(1).map(({ content }) => content)).toEqual(["first", "second"]);
});

test("send() lets nothing of its chat overtake a final that is being written, and holds up no other chat", async () => {
  const files = createFileSystem();
  const release = Promise.withResolvers<void>();
  const writing = Promise.withResolvers<void>();
  const slow: FileSystem = {
    ...files,
    async replace(...all) {
      writing.resolve();
      await release.promise;
      return files.replace(...all);
    },
  };
  const { join: enter, final, show } = await setUp({}, { files: slow });
  const [client, other] = [await enter(), await enter("other")];
  const sent = final("first");
  await writing.promise;
  const shown = show("delta", "second");
  await show("delta", "elsewhere", "other");
  expect(other.frames).toHaveLength(2);
  const late = await enter();
  expect(client.frames).toHaveLength(1);
  release.resolve();
  await Promise.all([sent, shown]);
  for (const { frames } of [client, late]) {
    expect(frames.slice(1).map(({ content }) => content)).toEqual(["first", "second"]);
    expect(Number(frames[1]?.["seq"])).toBeLessThan(Number(frames[2]?.["seq"]));
  }
  // Nothing that is still to come may be behind what a client remembers.
  expect(Number(late.frames[0]?.["seq"])).toBeLessThan(Number(late.frames[1]?.["seq"]));
});
