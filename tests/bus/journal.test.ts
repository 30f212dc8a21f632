import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { createJournalBus } from "../../src/bus/journal/journal-bus.ts";
import type { InboundId, OutboundId } from "../../src/core/messages.ts";
import { never } from "../../src/lib/abort.ts";
import { join } from "../../src/lib/path.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { busContract } from "../contracts/bus.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { inboundMessage, outboundDelta, outboundFinal } from "../fakes/messages.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createFakeDisk, type FakeDisk } from "./fake-disk.ts";
import { collect, FOLDER, messageIds, openJournal, settle } from "./gateway.ts";

const INBOX = `${FOLDER}/inbox.jsonl`;
const OUTBOX = `${FOLDER}/outbox.jsonl`;
const SEEN = `${FOLDER}/seen.jsonl`;
const DAY_MS = 24 * 60 * 60 * 1000;

const inboundId = (id: string) => id as InboundId;
const outboundId = (id: string) => id as OutboundId;

busContract("createJournalBus()", async (limits) =>
  createJournalBus({
    files: createFileSystem(),
    clock: createFakeClock(),
    log: createFakeLog(),
    folder: join(tempFolder(), ".nanobot"),
    ...(limits && { limits }),
  }),
);

async function reopened(disk: FakeDisk) {
  const { bus, clock, log } = await openJournal(disk.afterKill());
  const waiting = collect(bus);
  await settle(clock);
  return { bus, clock, log, waiting };
}

async function opened(disk = createFakeDisk(), options = {}) {
  const { bus, clock, log } = await openJournal(disk, options);
  return { disk, bus, clock, log, waiting: collect(bus) };
}

const receive = (bus: Awaited<ReturnType<typeof opened>>["bus"], id: string) =>
  bus.publishInbound(inboundMessage({ id }), never);

test("createJournalBus() makes files and a folder for the owner alone, each with its version first", async () => {
  const folder = join(tempFolder(), "deep", ".nanobot");
  const shared = { files: createFileSystem(), clock: createFakeClock(), log: createFakeLog(), folder };
  const bus = await createJournalBus({ ...shared, compactAt: 1 });
  await receive(bus, "a");
  for await (const { done } of bus.inbound(never)) {
    await done();
    break;
  }
  await bus.close();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of ["inbox", "outbox", "seen"]) {
    const path = join(folder, `${name}.jsonl`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toStartWith('{"v":1}\n');
  }
});

test("publishInbound() resolves when the message is on disk and not before", async () => {
  const { disk, bus, clock, waiting } = await opened();
  let sync = () => {};
  const syncing = new Promise<void>((resolve) => {
    sync = resolve;
  });
  disk.beforeSync = () => syncing;
  let isPublished = false;
  const published = receive(bus, "a").then(() => {
    isPublished = true;
  });
  await settle(clock);
  expect(disk.text(INBOX)).toContain('"id":"a"');
  expect(isPublished).toBe(false);
  expect(waiting.inbound).toEqual([]);
  sync();
  await published;
  expect(disk.afterPowerCut(0, false).text(INBOX)).toContain('"id":"a"');
});

test("done(), part(), failed() and resume() do not wait for a sync", async () => {
  const { disk, bus, clock, waiting } = await opened();
  for (const id of ["a", "b"]) await receive(bus, id);
  for (const id of ["c", "d"]) await bus.publishOutbound(outboundFinal({ id }), never);
  await settle(clock);
  disk.beforeSync = () => new Promise(() => {});
  await waiting.inbound[0]?.resume(1);
  await waiting.inbound[0]?.done();
  await bus.recordStream(inboundId("b"), "5");
  await waiting.outbound[0]?.part("1");
  await waiting.outbound[0]?.done();
  await waiting.outbound[1]?.failed("gone");
  const again = await reopened(disk);
  expect(messageIds(again.waiting.inbound)).toEqual(["b"]);
  expect(again.bus.outbox.list().map(({ id, state }) => [id as string, state])).toEqual([["d", "failed"]]);
});

test("publishInbound() shares writes and syncs among all that come at once", async () => {
  const { disk, bus } = await opened();
  const before = disk.operations;
  await Promise.all(Array.from({ length: 500 }, (_, index) => receive(bus, `in:${index}`)));
  expect(disk.operations - before).toBeLessThanOrEqual(4);
});

test("publishOutbound() writes nothing of what may be lost", async () => {
  const { disk, bus } = await opened();
  const before = disk.operations;
  await bus.publishOutbound(outboundDelta({ content: "secret" }), never);
  await bus.publishOutbound({ ...outboundDelta(), kind: "streamEnd", resuming: false }, never);
  await bus.close();
  expect(disk.operations - before).toBe(2);
  expect(disk.text(OUTBOX)).toBe('{"v":1}\n');
});

test("publishInbound() refuses a message too long to be read back, and goes on", async () => {
  const { bus } = await opened();
  const long = inboundMessage({ id: "long", content: "x".repeat(17 * 1024 * 1024) });
  await expect(bus.publishInbound(long, never)).rejects.toThrow("Cannot take a message");
  expect(bus.problem()).toBeUndefined();
  expect(await receive(bus, "long")).toBe(true);
});

test("inbound() hands out again what was not done, in order, before what is new", async () => {
  const { disk, bus, clock, waiting } = await opened();
  for (const id of ["a", "b", "c"]) await receive(bus, id);
  await settle(clock);
  await waiting.inbound[1]?.done();
  const again = await reopened(disk);
  await receive(again.bus, "d");
  await settle(again.clock);
  expect(messageIds(again.waiting.inbound)).toEqual(["a", "c", "d"]);
  expect(again.waiting.inbound.map(({ isRedelivered }) => isRedelivered)).toEqual([true, true, false]);
  expect(await receive(again.bus, "b")).toBe(false);
});

test("inbound() counts resumes over restarts, and when the file is made smaller", async () => {
  let disk = createFakeDisk();
  await receive((await opened(disk)).bus, "a");
  for (const count of [1, 2, 3]) {
    const { bus, clock, waiting } = await opened(disk, { compactAt: 1 });
    await settle(clock);
    expect(await waiting.inbound[0]?.resume(4)).toBe(count);
    for (const id of [1, 2, 3, 4]) await receive(bus, `other:${count}:${id}`);
    await settle(clock);
    for (const { done } of waiting.inbound.slice(1)) await done();
    await bus.close();
    disk = disk.afterKill();
  }
});

test("inbound() hands out nothing that an answer is known for, delivered or not", async () => {
  const { disk, bus, clock, waiting } = await opened();
  for (const id of ["a", "b", "c", "d", "e"]) await receive(bus, id);
  const answer = (id: string, answers: string[], channel = "cli") =>
    bus.publishOutbound(
      outboundFinal({ id, turn: answers[0] ?? "", answers: answers.map(inboundId), channel }),
      never,
    );
  await answer("a/final", ["a", "b"]);
  await answer("c/final", ["c"]);
  await answer("d/final", ["d"], "none");
  await settle(clock);
  await waiting.outbound[0]?.done();
  const again = await reopened(disk);
  expect(messageIds(again.waiting.inbound)).toEqual(["e"]);
  expect(messageIds(again.waiting.outbound)).toEqual(["c/final"]);
  for (const id of ["a", "b", "c", "d"]) expect(await receive(again.bus, id)).toBe(false);
});

test("inbound() hands out nothing whose id is remembered as done, although the record of that is lost", async () => {
  const disk = createFakeDisk();
  disk.write(INBOX, `{"v":1}\n${JSON.stringify({ put: inboundMessage({ id: "a" }) })}\n`);
  disk.write(SEEN, '{"v":1}\n{"ids":["a"],"at":1}\n');
  const { waiting } = await reopened(disk);
  expect(waiting.inbound).toEqual([]);
});

test("outbound() goes on with the next part of what was being sent", async () => {
  const { disk, bus, clock, waiting } = await opened();
  for (const id of ["a", "b"]) await bus.publishOutbound(outboundFinal({ id }), never);
  await settle(clock);
  await waiting.outbound[0]?.part("11");
  await waiting.outbound[0]?.part("12");
  const again = await reopened(disk);
  expect(again.waiting.outbound.map(({ message, sent }) => [message.id as string, sent])).toEqual([
    ["a", ["11", "12"]],
    ["b", []],
  ]);
  expect(again.bus.outbox.list().map(({ sent }) => sent)).toEqual([2, 0]);
});

test("publishOutbound() remembers an id for as long as the turn it belongs to is not done", async () => {
  const { disk, bus, clock, waiting } = await opened(createFakeDisk(), { compactAt: 1 });
  await receive(bus, "turn");
  const notice = (id: string) => outboundFinal({ id, turn: "turn", answers: [] });
  for (const id of ["n1", "n2", "n3", "n4", "n5"]) {
    await bus.publishOutbound(notice(id), never);
    await settle(clock);
    await waiting.outbound.at(-1)?.done();
    await settle(clock);
  }
  expect(disk.text(OUTBOX)).not.toContain("put");
  const again = await reopened(disk);
  expect(await again.bus.publishOutbound(notice("n1"), never)).toBe(false);
  expect(await again.bus.publishOutbound(notice("n5"), never)).toBe(false);

  await waiting.inbound[0]?.done();
  for (let index = 6; index < 30; index++) {
    await bus.publishOutbound(notice(`n${index}`), never);
    await settle(clock);
    await waiting.outbound.at(-1)?.done();
    await settle(clock);
  }
  expect(disk.text(OUTBOX)).not.toContain('"n1"');
});

test("outbox lists what waits and what failed, oldest first", async () => {
  const { bus, clock, waiting } = await opened();
  await bus.publishOutbound(outboundFinal({ id: "a", chatId: "1", thread: "t", content: "one" }), never);
  await clock.advance(1000);
  await bus.publishOutbound(outboundFinal({ id: "b", chatId: "2", content: "two" }), never);
  await settle(clock);
  await waiting.outbound[0]?.part("11");
  await waiting.outbound[0]?.failed("the chat is gone");
  expect(bus.outbox.list()).toEqual([
    {
      id: outboundId("a"),
      channel: "cli",
      chatId: "1",
      thread: "t",
      state: "failed",
      reason: "the chat is gone",
      createdAt: "2023-11-14T22:13:20.000Z",
      sent: 1,
      content: "one",
    },
    {
      id: outboundId("b"),
      channel: "cli",
      chatId: "2",
      thread: undefined,
      state: "waiting",
      reason: undefined,
      createdAt: "2023-11-14T22:13:21.000Z",
      sent: 0,
      content: "two",
    },
  ]);
});

test("outbox keeps what failed over a restart and hands it to nobody", async () => {
  const { disk, bus, clock, waiting } = await opened();
  for (const id of ["a", "b"]) await bus.publishOutbound(outboundFinal({ id }), never);
  await settle(clock);
  await waiting.outbound[0]?.failed("the chat is gone");
  const again = await reopened(disk);
  expect(messageIds(again.waiting.outbound)).toEqual(["b"]);
  expect(again.bus.outbox.list().map(({ state }) => state)).toEqual(["failed", "waiting"]);
});

test("outbox.retry() hands a failed message out again at the end, with its parts, also after a restart", async () => {
  const { disk, bus, clock, waiting } = await opened();
  for (const id of ["a", "b"]) await bus.publishOutbound(outboundFinal({ id }), never);
  await settle(clock);
  const [first] = waiting.outbound;
  await first?.part("11");
  await first?.failed("too slow");
  expect(await bus.outbox.retry(outboundId("a"))).toBe(true);
  await bus.publishOutbound(outboundFinal({ id: "c" }), never);
  await settle(clock);
  expect(messageIds(waiting.outbound)).toEqual(["a", "b", "a", "c"]);
  expect(waiting.outbound[2]?.sent).toEqual(["11"]);
  // Whoever failed with it the first time has no say in the second.
  await first?.done();
  await first?.failed("again");
  expect(bus.outbox.list().map(({ state }) => state)).toEqual(["waiting", "waiting", "waiting"]);
  const again = await reopened(disk);
  expect(messageIds(again.waiting.outbound)).toEqual(["b", "a", "c"]);
  expect(again.waiting.outbound[1]?.sent).toEqual(["11"]);
});

test("outbox.retry() and outbox.drop() say when there is nothing to do it with", async () => {
  const { bus } = await opened();
  await bus.publishOutbound(outboundFinal({ id: "a" }), never);
  expect(await bus.outbox.retry(outboundId("a"))).toBe(false);
  expect(await bus.outbox.retry(outboundId("nothing"))).toBe(false);
  expect(await bus.outbox.drop(outboundId("nothing"))).toBe(false);
});

test("outbox.drop() forgets a failed message and one that waits, and neither comes back", async () => {
  const { disk, bus, clock } = await opened();
  for (const id of ["a", "b", "c"]) await bus.publishOutbound(outboundFinal({ id }), never);
  const source = bus.outbound(never)[Symbol.asyncIterator]();
  expect(source).toBeDefined();
  const again = await openJournal(disk.afterKill());
  expect(await again.bus.outbox.drop(outboundId("b"))).toBe(true);
  const waiting = collect(again.bus);
  await settle(again.clock);
  expect(messageIds(waiting.outbound)).toEqual(["a", "c"]);
  await waiting.outbound[0]?.failed("gone");
  expect(await again.bus.outbox.drop(outboundId("a"))).toBe(true);
  expect(messageIds(again.bus.outbox.list().map((message) => ({ message })))).toEqual(["c"]);
  expect(await again.bus.publishOutbound(outboundFinal({ id: "a" }), never)).toBe(false);
  await settle(clock);
});

test("outbox.drop() of a message that is being sent leaves nothing for its delivery to do", async () => {
  const { bus, clock, waiting } = await opened();
  await bus.publishOutbound(outboundFinal({ id: "a" }), never);
  await settle(clock);
  await bus.outbox.drop(outboundId("a"));
  expect(waiting.outbound[0]?.isOver).toBe(true);
  await waiting.outbound[0]?.part("11");
  await waiting.outbound[0]?.failed("late");
  await waiting.outbound[0]?.done();
  expect(bus.outbox.list()).toEqual([]);
});

test("failed() gives up the oldest failure of a channel beyond a thousand, and says what is lost", async () => {
  const { disk, bus, clock, log, waiting } = await opened();
  await bus.publishOutbound(outboundFinal({ id: "other", channel: "x" }), never);
  for (let index = 0; index <= 1000; index++) {
    await bus.publishOutbound(outboundFinal({ id: `f:${index}`, chatId: `chat ${index}` }), never);
  }
  await settle(clock);
  await Promise.all(waiting.outbound.map(({ failed }) => failed("the platform is gone")));
  const list = bus.outbox.list();
  expect(list.length).toBe(1001);
  expect(list.map(({ id }) => id as string)).not.toContain("f:0");
  expect(log.lines.filter((line) => line.startsWith("error"))).toEqual([
    "error Gave up a message that was never delivered, because too many have failed since f:0 cli chat 0 2 the platform is gone",
  ]);
  expect((await reopened(disk)).bus.outbox.list()).toEqual(list);
});

test("openStream() knows after a restart where a turn that is not done is shown", async () => {
  const { disk, bus, clock, waiting } = await opened();
  for (const id of ["a", "b", "c"]) await receive(bus, id);
  await bus.recordStream(inboundId("a"), "50");
  await bus.recordStream(inboundId("b"), "60");
  await bus.recordStream(inboundId("b"), undefined);
  await bus.recordStream(inboundId("c"), "70");
  await bus.publishOutbound(outboundFinal({ id: "c/final", turn: "c" }), never);
  const again = await reopened(disk);
  const shown = () => ["a", "b", "c"].map((turn) => again.bus.openStream(inboundId(turn)));
  expect(shown()).toEqual(["50", undefined, "70"]);
  await again.waiting.outbound[0]?.done();
  expect(shown()).toEqual(["50", undefined, undefined]);
  await settle(clock);
  expect(waiting.outbound.length).toBe(1);
});

test("openStream() forgets turns that are over without an answer", async () => {
  const { disk, bus, clock, waiting } = await opened();
  for (const id of ["a", "b"]) {
    await receive(bus, id);
    await bus.recordStream(inboundId(id), "50");
  }
  await settle(clock);
  await waiting.inbound[0]?.done();
  const again = await reopened(disk);
  expect(again.bus.openStream(inboundId("a"))).toBeUndefined();
  expect(again.bus.openStream(inboundId("b"))).toBe("50");
});

test("publishOutbound() does not count what failed, and lets a restart go over the bound", async () => {
  const limits = { messages: 2, bytes: 1e6 };
  const { disk, bus, clock, waiting } = await opened(createFakeDisk(), { limits });
  for (const id of ["a", "b"]) await bus.publishOutbound(outboundFinal({ id }), never);
  await settle(clock);
  await waiting.outbound[0]?.failed("gone");
  await bus.publishOutbound(outboundFinal({ id: "c" }), never);
  await bus.outbox.retry(outboundId("a"));

  const again = await openJournal(disk.afterKill(), { limits });
  const anew = collect(again.bus);
  await settle(again.clock);
  expect(messageIds(anew.outbound)).toEqual(["b", "c", "a"]);
  const late = again.bus.publishOutbound(outboundFinal({ id: "d" }), never);
  await anew.outbound[0]?.done();
  await settle(again.clock);
  expect(anew.outbound.length).toBe(3);
  await anew.outbound[1]?.done();
  expect(await late).toBe(true);
});

test("done() makes the files smaller once most of them is done, and ids stay known", async () => {
  const { disk, bus, clock, waiting } = await opened(createFakeDisk(), { compactAt: 4000 });
  let largest = 0;
  for (let index = 0; index < 300; index++) {
    await receive(bus, `in:${index}`);
    await bus.publishOutbound(outboundFinal({ id: `in:${index}/final`, turn: `in:${index}` }), never);
    await settle(clock);
    await waiting.inbound[index]?.done();
    await waiting.outbound[index]?.done();
    largest = Math.max(largest, disk.text(INBOX).length, disk.text(OUTBOX).length);
  }
  expect(largest).toBeLessThan(6000);
  const again = await reopened(disk);
  for (let index = 0; index < 300; index++) expect(await receive(again.bus, `in:${index}`)).toBe(false);
});

test("done() makes a file smaller without losing what is being put", async () => {
  const { disk, bus, clock, waiting } = await opened(createFakeDisk(), { compactAt: 1000 });
  for (let index = 0; index < 5; index++) await receive(bus, `in:${index}`);
  await settle(clock);
  let sync = () => {};
  const syncing = new Promise<void>((resolve) => {
    sync = resolve;
  });
  disk.beforeSync = () => syncing;
  const late = receive(bus, "late");
  await settle(clock);
  const dones = waiting.inbound.map(({ done }) => done());
  const later = receive(bus, "later");
  await settle(clock);
  disk.beforeSync = async () => {};
  sync();
  expect(await Promise.all([late, later])).toEqual([true, true]);
  await Promise.all(dones);
  await settle(clock);
  expect(disk.text(INBOX)).not.toContain('"id":"in:0"');
  expect(messageIds((await reopened(disk)).waiting.inbound)).toEqual(["late", "later"]);
});

test("publishInbound() forgets a week after it knows better what was remembered under a wrong clock", async () => {
  const disk = createFakeDisk();
  disk.write(SEEN, '{"v":1}\n{"ids":["future"],"at":8e15}\n{"ids":["old"],"at":1}\n');
  const { bus, clock, waiting } = await opened(disk, { compactAt: 1, fewestSeen: 1 });
  expect(await receive(bus, "future")).toBe(false);
  await clock.advance(8 * DAY_MS);
  await receive(bus, "a");
  await settle(clock);
  await waiting.inbound[0]?.done();
  await settle(clock);
  for (const id of ["future", "old"]) expect(await receive(bus, id)).toBe(true);
});

test("publishInbound() takes an id again after a week, unless it is among the newest", async () => {
  const disk = createFakeDisk();
  const options = { compactAt: 1, fewestSeen: 3 };
  const { bus, clock, waiting } = await opened(disk, options);
  const handle = async (id: string) => {
    await receive(bus, id);
    await settle(clock);
    await waiting.inbound.at(-1)?.done();
    await settle(clock);
  };
  for (const id of ["a", "b", "c", "d"]) await handle(id);
  await clock.advance(6 * DAY_MS);
  await handle("e");
  expect(await receive(bus, "a")).toBe(false);
  await clock.advance(2 * DAY_MS);
  await handle("f");
  for (const id of ["e", "f", "d"]) expect(await receive(bus, id)).toBe(false);
  expect(await receive(bus, "a")).toBe(true);

  // The clock of this one begins where that of the other began: what is of the future stays.
  const again = await openJournal(disk.afterKill(), options);
  for (const id of ["e", "f", "d"]) expect(await receive(again.bus, id)).toBe(false);
});

test("publishInbound() knows an id after a restart although seen.jsonl was gone for a while", async () => {
  const disk = createFakeDisk();
  const { bus, clock, waiting } = await opened(disk, { compactAt: 1 });
  for (const id of ["a", "b"]) {
    if (id === "b") await disk.rename(SEEN, `${SEEN}.moved`);
    await receive(bus, id);
    await settle(clock);
    await waiting.inbound.at(-1)?.done();
    await settle(clock);
  }
  const again = await openJournal(disk.afterKill());
  for (const id of ["a", "b"]) expect(await receive(again.bus, id)).toBe(false);
});

test("createJournalBus() keeps seen.jsonl short by leaving out what is forgotten", async () => {
  const disk = createFakeDisk();
  const old = Array.from({ length: 25_000 }, (_, index) => `{"ids":["old:${index}"],"at":1}\n`);
  disk.write(SEEN, `{"v":1}\n${old.join("")}`);
  const { bus, clock, waiting } = await opened(disk, { compactAt: 1, fewestSeen: 10 });
  await receive(bus, "a");
  await settle(clock);
  await waiting.inbound[0]?.done();
  await settle(clock);
  expect(disk.text(SEEN).length).toBeLessThan(300);
  expect(await receive(bus, "old:24999")).toBe(false);
  expect(await receive(bus, "old:1")).toBe(true);
});

test("close() resolves when all that was recorded is on disk", async () => {
  const { disk, bus, clock, waiting } = await opened();
  await receive(bus, "a");
  await bus.publishOutbound(outboundFinal({ id: "b" }), never);
  await settle(clock);
  void waiting.inbound[0]?.done();
  void waiting.outbound[0]?.done();
  await bus.close();
  const { text } = disk.afterPowerCut(0, false);
  expect(text(INBOX)).toEndWith('{"done":"a"}\n');
  expect(text(OUTBOX)).toEndWith('{"done":"b"}\n');
  await expect(receive(bus, "late")).rejects.toThrow("shutting down");
});
