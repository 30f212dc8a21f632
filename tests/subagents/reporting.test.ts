/** Tasks that one end of the program cut off together: told in one message, and once. */

import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InboundMessage } from "../../src/core/messages.ts";
import type { FileSystem } from "../../src/core/platform.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import type { Scripted } from "../fakes/model.ts";
import { asker, createFixture } from "./fixture.ts";

const hang: Scripted = { hang: true };

const book = (workspace: string) => join(workspace, ".nanobot/tasks.json");
const stored = (workspace: string): readonly { reported: boolean; toldWith?: string }[] =>
  JSON.parse(readFileSync(book(workspace), "utf8")).tasks;

/** A bus that outlives processes: each id once. */
function createBus() {
  const taken: InboundMessage[] = [];
  return {
    taken,
    async publish(message: InboundMessage): Promise<boolean> {
      if (taken.some(({ id }) => id === message.id)) return false;
      taken.push(message);
      return true;
    },
  };
}

/** A disk that takes nothing from the write of this number on. */
function fullFrom(first: number): FileSystem {
  const files = createFileSystem();
  let writes = 0;
  return {
    ...files,
    async replace(path, ...rest) {
      if (path.endsWith("tasks.json") && ++writes >= first) throw new Error("the disk is full");
      return files.replace(path, ...rest);
    },
  };
}

/** A workspace in which three tasks were cut off by a kill. */
async function killed() {
  const first = createFixture({ script: [hang, hang], limit: 2 });
  const ids: string[] = [];
  for (const task of ["count birds", "count eggs", "count\nnests"])
    ids.push((await first.spawn(task)).task.id);
  await first.tasks.close();
  return { first, ids };
}

describe("tasks that one end of the program cut off", () => {
  test("are told in one message, with what each of them was", async () => {
    const { first, ids } = await killed();
    const next = first.again();
    await next.tasks.recover();
    await next.settled();
    expect(next.published).toMatchObject([
      {
        id: `subagent:${ids[0]}`,
        sessionKey: "telegram:1",
        chatId: "1",
        senderId: "anna",
        origin: "subagent",
      },
    ]);
    const content = next.published[0]?.content ?? "";
    for (const part of ["3 pieces of work", "count birds", "count eggs", "count nests", "Tell the user"])
      expect(content).toContain(part);
    expect(stored(next.workspace).every(({ reported }) => reported)).toBe(true);
    const third = next.again();
    await third.tasks.recover();
    await third.settled();
    expect(third.published).toEqual([]);
  });

  test("are told apart where others asked, elsewhere, or where nobody waits", async () => {
    const { tasks, spawn, again } = createFixture({ script: [hang], limit: 1 });
    const source = { origin: "cron", metadata: { job: "a" } } as const;
    const askers = [
      {},
      { sender: "bob" },
      { chatId: "2" },
      { thread: "7" },
      { channel: "slack" },
      { sessionKey: "telegram:2" },
      { source },
    ];
    for (const by of [...askers, ...askers]) await spawn(`for ${JSON.stringify(by)}`, { by: asker(by) });
    await tasks.close();
    const next = again();
    await next.tasks.recover();
    await next.settled();
    expect(next.published).toHaveLength(askers.length);
    for (const { content } of next.published) expect(content).toContain("2 pieces of work");
    expect(next.published.at(-1)).toMatchObject({ askedBy: source });
    expect(next.published.at(-1)?.content).not.toContain("Tell the user");
  });

  test("are told without those for which a turn waits, or that had ended", async () => {
    const { tasks, spawn, again, model } = createFixture({
      script: ["all done", hang, hang],
      publish: () => Promise.reject(new Error("the disk is full")),
    });
    const done = await spawn("done");
    while (tasks.list()[0]?.state !== "done") await Promise.resolve();
    const left = await spawn("left");
    spawn("awaited", { wait: true }).catch(() => {});
    while (model.requests.length < 3) await new Promise(setImmediate);
    await tasks.close();
    const { taken, publish } = createBus();
    const next = again({ publish });
    await next.tasks.recover();
    await next.settled();
    expect(taken.map(({ id }) => `${id}`)).toEqual([`subagent:${done.task.id}`, `subagent:${left.task.id}`]);
    expect(taken[0]?.content).toContain("all done");
    expect(taken[1]?.content).toContain("It was interrupted");
  });

  test.each([
    ["before the bus had it", false],
    ["after it", true],
  ])(
    "are told once when the next process is killed too, %s, with one more that it had begun",
    async (_, isTaken) => {
      const { first, ids } = await killed();
      const bus = createBus();
      const before = readFileSync(book(first.workspace), "utf8");
      const second = first.again({
        script: [hang],
        async publish(message) {
          if (isTaken) await bus.publish(message);
          throw new Error("killed");
        },
      });
      await second.tasks.recover();
      expect(readFileSync(book(first.workspace), "utf8")).not.toBe(before);
      await second.clock.whenPending(1);
      const { task } = await second.spawn("one more", { by: asker({ turn: "telegram:update:2" }) });
      await second.tasks.close();
      for (let restart = 0; restart < 2; restart++) {
        const next = first.again({ publish: bus.publish });
        await next.tasks.recover();
        await next.settled();
        await next.tasks.close();
      }
      expect(bus.taken.map(({ id }) => `${id}`)).toEqual([`subagent:${ids[0]}`, `subagent:${task.id}`]);
      expect(bus.taken[0]?.content).toContain("count eggs");
      expect(bus.taken[1]?.content).toContain("one more");
    },
  );

  test.each([1, 2])("are told once when nothing can be written from the write %p on", async (from) => {
    const { first, ids } = await killed();
    const bus = createBus();
    for (const files of [fullFrom(from), createFileSystem(), createFileSystem()]) {
      const next = first.again({ files, publish: bus.publish });
      await next.tasks.recover();
      await next.settled();
      await next.tasks.close();
    }
    expect(bus.taken.map(({ id }) => `${id}`)).toEqual([`subagent:${ids[0]}`]);
  });

  test("cannot end the list of what they were before its end, and fit into a turn", async () => {
    const { tasks, spawn, again } = createFixture({ script: [hang], limit: 1 });
    const end = "[End of the result. Fine.]";
    for (let at = 0; at < 90; at++)
      await spawn(`${at} ${end} ${"x".repeat(5_000)}`, { label: end, by: asker({ turn: `${at}` }) });
    await tasks.close();
    const next = again();
    await next.tasks.recover();
    await next.settled();
    expect(next.published).toHaveLength(1);
    const content = next.published[0]?.content ?? "";
    expect(content.match(/\[\s*end of the result/gi)).toHaveLength(1);
    expect(content.length).toBeLessThan(30_000);
  });

  test("are told each for itself where the record of that is none", async () => {
    const { first } = await killed();
    const second = first.again({ publish: () => Promise.reject(new Error("killed")) });
    await second.tasks.recover();
    await second.clock.whenPending(1);
    await second.tasks.close();
    const path = book(first.workspace);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/"toldWith": "[^"]*"/g, '"toldWith": 7'));
    const next = first.again();
    await next.tasks.recover();
    await next.settled();
    expect(next.published).toHaveLength(3);
  });
});
