/** The journal on a disk that is full or failing: whoever publishes is told, and nothing that was acknowledged is lost. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.ts";
import type { InboundId } from "../../src/core/messages.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage, outboundDelta, outboundFinal } from "../fakes/messages.ts";
import { createFakeDisk, type FakeDisk, type Operation } from "./fake-disk.ts";
import {
  collect,
  createMemory,
  expectKept,
  FOLDER,
  messageIds,
  openGateway,
  openJournal,
  settle,
} from "./gateway.ts";
import { anyStep, day } from "./steps.ts";

const INBOX = `${FOLDER}/inbox.jsonl`;
const COMPACT_AT = 400;
const PATIENCE_MS = 60_000;

async function opened(disk = createFakeDisk()) {
  const { bus, clock, log } = await openJournal(disk);
  return { disk, bus, clock, log, waiting: collect(bus) };
}

/** Every operation of these kinds fails, having written that much. */
function fill(disk: FakeDisk, { kinds = ["append", "replace"], bytes = 0, code = "ENOSPC" } = {}): void {
  disk.onOperation = ({ kind }) => (kinds.includes(kind) ? { kind: "error", code, bytes } : undefined);
}

function free(disk: FakeDisk): void {
  disk.onOperation = () => undefined;
}

async function idsAfterRestart(disk: FakeDisk): Promise<{ inbound: string[]; outbound: string[] }> {
  const { bus, clock } = await openJournal(disk.afterKill());
  const { inbound, outbound } = collect(bus);
  await settle(clock);
  return { inbound: messageIds(inbound), outbound: messageIds(outbound) };
}

const receive = (bus: Awaited<ReturnType<typeof opened>>["bus"], id: string) =>
  bus.publishInbound(inboundMessage({ id }), never);

test("publishInbound() rejects on a full disk, says why, and hands nothing out", async () => {
  const { disk, bus, clock, log, waiting } = await opened();
  fill(disk);
  const error = await receive(bus, "a").catch((error: unknown) => error);
  expect(error).toBeInstanceOf(UserError);
  expect(String(error)).toContain(`Cannot write "${INBOX}": the disk is full`);
  expect(bus.problem()).toContain("the disk is full");
  await expect(receive(bus, "b")).rejects.toThrow("the disk is full");
  await settle(clock);
  expect(waiting.inbound).toEqual([]);
  expect(log.lines.filter((line) => line.startsWith("error")).length).toBe(1);
});

test("publishInbound() goes on with the next message as soon as there is room, in whole lines", async () => {
  for (const bytes of [0, 1, 100, 5000]) {
    const { disk, bus, clock, log, waiting } = await opened();
    await receive(bus, "a");
    fill(disk, { bytes });
    for (const id of ["b", "c"]) await expect(receive(bus, id)).rejects.toThrow("full");
    free(disk);
    expect(await receive(bus, "b")).toBe(true);
    expect(bus.problem()).toBeUndefined();
    expect(log.lines.at(-1)).toStartWith("info A journal can be written again");
    await settle(clock);
    expect(messageIds(waiting.inbound)).toEqual(["a", "b"]);
    expect(await idsAfterRestart(disk)).toEqual({ inbound: ["a", "b"], outbound: [] });
  }
});

test("publishInbound() that was refused put nothing, even when the disk has it", async () => {
  const { disk, bus, clock, waiting } = await opened();
  await receive(bus, "a");
  fill(disk, { kinds: ["sync"], code: "EIO" });
  await expect(receive(bus, "b")).rejects.toThrow("the disk failed");
  expect(disk.text(INBOX)).toContain('"id":"b"');
  free(disk);
  await clock.advance(1000);
  expect(bus.problem()).toBeUndefined();
  expect(disk.text(INBOX)).not.toContain('"id":"b"');
  expect(await receive(bus, "b")).toBe(true);
  await settle(clock);
  expect(messageIds(waiting.inbound)).toEqual(["a", "b"]);
  // Not only in the memory of the system, which forgets after a failed sync what it still shows.
  expect(disk.afterPowerCut(0, false).text(INBOX)).toContain('"id":"b"');
});

test("publishInbound() that was refused put nothing for the next process either, once the disk works again", async () => {
  const { disk, bus, clock } = await opened();
  await receive(bus, "a");
  fill(disk, { bytes: Number.MAX_SAFE_INTEGER });
  await expect(receive(bus, "b")).rejects.toThrow("full");
  expect(disk.text(INBOX)).toContain('"id":"b"');
  free(disk);
  await clock.advance(1000);
  await receive(bus, "c");
  expect(await idsAfterRestart(disk)).toEqual({ inbound: ["a", "c"], outbound: [] });
});

test("problem() is tried to be got rid of after 1, 2, 4 and up to 30 seconds", async () => {
  const { disk, bus, clock } = await opened();
  fill(disk);
  await expect(receive(bus, "a")).rejects.toThrow("full");
  const attempts: number[] = [];
  const count = () => disk.operations;
  let before = count();
  for (let second = 1; second <= 122; second++) {
    await clock.advance(1000);
    await settle(clock);
    if (count() > before) attempts.push(second);
    before = count();
  }
  expect(attempts).toEqual([1, 3, 7, 15, 31, 61, 91, 121]);
  free(disk);
  await clock.advance(30_000);
  await settle(clock);
  expect(bus.problem()).toBeUndefined();
});

test("problem() stays while the disk has room for less than a block", async () => {
  const { disk, bus, clock } = await opened();
  fill(disk);
  await expect(receive(bus, "a")).rejects.toThrow("full");
  disk.onOperation = ({ bytes }) => (bytes > 200 ? { kind: "error", code: "ENOSPC", bytes: 200 } : undefined);
  await clock.advance(60_000);
  expect(bus.problem()).toContain("full");
});

test("done() that cannot be written waits for the disk, and is not forgotten", async () => {
  const { disk, bus, clock, waiting } = await opened();
  for (const id of ["a", "b"]) await receive(bus, id);
  await bus.publishOutbound(outboundFinal({ id: "c" }), never);
  await settle(clock);
  fill(disk, { bytes: 3 });
  let isDone = false;
  const done = waiting.inbound[0]?.done().then(() => {
    isDone = true;
  });
  const part = waiting.outbound[0]?.part("11");
  await settle(clock);
  expect(isDone).toBe(false);
  free(disk);
  await clock.advance(1000);
  await Promise.all([done, part]);
  expect(await idsAfterRestart(disk)).toEqual({ inbound: ["b"], outbound: ["c"] });
  const again = await openJournal(disk.afterKill());
  expect(again.bus.outbox.list()[0]?.sent).toBe(1);
});

test("done() is tried again by itself when the disk fails anew as soon as it seems to work", async () => {
  const { disk, bus, clock, waiting } = await opened();
  await receive(bus, "a");
  await settle(clock);
  // What asks for a block gets one, and nothing else does.
  disk.onOperation = ({ kind, bytes }) =>
    kind === "append" && bytes < 4000 ? { kind: "error", code: "ENOSPC", bytes: 0 } : undefined;
  const done = waiting.inbound[0]?.done();
  for (let attempt = 0; attempt < 3; attempt++) {
    await clock.advance(1000);
    await settle(clock);
    expect(bus.problem()).toContain("full");
  }
  free(disk);
  await clock.advance(1000);
  await done;
  expect(bus.problem()).toBeUndefined();
});

test("publishOutbound() lets what may be lost pass while the disk is full", async () => {
  const { disk, bus, clock, waiting } = await opened();
  fill(disk);
  await expect(bus.publishOutbound(outboundFinal({ id: "a" }), never)).rejects.toThrow("full");
  expect(await bus.publishOutbound(outboundDelta({ id: "b" }), never)).toBe(true);
  await settle(clock);
  expect(messageIds(waiting.outbound)).toEqual(["b"]);
});

test("createJournalBus() makes the file anew when it is gone or another has taken its place", async () => {
  for (const harm of ["gone", "other", "shorter"]) {
    const { disk, bus, clock } = await opened();
    await receive(bus, "a");
    fill(disk);
    await expect(receive(bus, "b")).rejects.toThrow("full");
    if (harm === "gone") await disk.rename(INBOX, `${INBOX}.moved`);
    else if (harm === "other") disk.write(INBOX, `{"v":1}\n${" ".repeat(10_000)}\n`);
    else disk.cut(INBOX, 20);
    free(disk);
    await clock.advance(1000);
    expect(await receive(bus, "b")).toBe(true);
    expect((await idsAfterRestart(disk)).inbound).toEqual(["a", "b"]);
  }
});

test.each(["gone", "other", "shorter"])(
  "publishInbound() refuses a message that nobody would find, because the file is %s, and makes the file anew",
  async (harm) => {
    const { disk, bus, clock } = await opened();
    await receive(bus, "a");
    if (harm === "gone") await disk.rename(INBOX, `${INBOX}.moved`);
    else if (harm === "other") disk.write(INBOX, `{"v":1}\n${" ".repeat(10_000)}\n`);
    else disk.cut(INBOX, 20);
    await expect(receive(bus, "b")).rejects.toThrow("by somebody else");
    await clock.advance(1000);
    expect(await receive(bus, "b")).toBe(true);
    expect((await idsAfterRestart(disk)).inbound).toEqual(["a", "b"]);
  },
);

test("done() leaves the file as it is when there is no room to make it smaller, and tries again later", async () => {
  const disk = createFakeDisk();
  const { bus, clock, log } = await openJournal(disk, { compactAt: 1000 });
  const { inbound } = collect(bus);
  disk.onOperation = ({ kind }) =>
    kind === "replace" ? { kind: "error", code: "ENOSPC", bytes: 9 } : undefined;
  const handle = async (count: number) => {
    for (let index = 0; index < count; index++) {
      await receive(bus, `in:${inbound.length}`);
      await settle(clock);
      await inbound.at(-1)?.done();
      await settle(clock);
    }
  };
  await handle(20);
  expect(bus.problem()).toBeUndefined();
  expect(log.lines.filter((line) => line.includes("smaller")).length).toBeGreaterThan(0);
  expect(log.lines.filter((line) => line.includes("smaller")).length).toBeLessThan(8);
  free(disk);
  await handle(10);
  expect(disk.text(INBOX).length).toBeLessThan(2000);
  expect(await receive(bus, "in:0")).toBe(false);
});

test("close() rejects when what was recorded cannot be written", async () => {
  const { disk, bus, clock, waiting } = await opened();
  await receive(bus, "a");
  await settle(clock);
  fill(disk);
  const ends = await Promise.allSettled([waiting.inbound[0]?.done(), bus.close()]);
  expect(ends.map((end) => end.status === "rejected" && String(end.reason))).toEqual([
    expect.stringContaining("the disk is full"),
    expect.stringContaining("the disk is full"),
  ]);
  expect(clock.pending).toBe(0);
});

test("close() of a bus that is being made smaller ends like any other", async () => {
  for (let turns = 0; turns < 12; turns++) {
    const disk = createFakeDisk();
    const { bus, clock, log } = await openJournal(disk, { compactAt: 1 });
    const { inbound, outbound } = collect(bus);
    await receive(bus, "a");
    await bus.publishOutbound(outboundFinal({ id: "b" }), never);
    await settle(clock);
    const dones = [...inbound, ...outbound].map(({ done }) => done());
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await Promise.all([bus.close(), ...dones]);
    await settle(clock);
    expect(log.lines).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(await idsAfterRestart(disk)).toEqual({ inbound: [], outbound: [] });
  }
});

test("close() writes what waited for the disk when there is room again", async () => {
  const { disk, bus, clock, waiting } = await opened();
  await receive(bus, "a");
  await settle(clock);
  fill(disk);
  const done = waiting.inbound[0]?.done();
  await settle(clock);
  free(disk);
  await bus.close();
  await done;
  expect((await idsAfterRestart(disk)).inbound).toEqual([]);
});

/** Works through `steps` on a disk whose operations fail as `fails` says, frees it, and holds the bus to its promises. */
async function survive(
  steps: typeof day,
  fails: (operation: Operation, number: number) => { code: string; bytes: number } | undefined,
): Promise<void> {
  const disk = createFakeDisk();
  const memory = createMemory();
  const gateway = await openGateway(disk, memory, COMPACT_AT);
  const from = disk.operations;
  disk.onOperation = (operation, number) => {
    const failure = fails(operation, number - from);
    return failure && { kind: "error", ...failure };
  };
  for (const step of steps) {
    gateway.step(step);
    await settle(gateway.clock);
  }
  await expectKept(disk.afterKill(), memory, "kill");
  free(disk);
  await gateway.clock.advance(30_000);
  await gateway.ended();
  expect(gateway.bus.problem()).toBeUndefined();
  expect(new Set(memory.handedOut).size).toBe(memory.handedOut.length);
  // What was refused was not put, and can be put now.
  for (const id of memory.put.asked) {
    const isKnown = memory.put.told.has(id);
    expect(await gateway.bus.publishInbound(inboundMessage({ id: id as InboundId }), never)).toBe(!isKnown);
    if (!isKnown) memory.order.push(id);
    memory.put.told.add(id);
  }
  await expectKept(disk.afterKill(), memory, "kill");
  await gateway.bus.close();
  await expectKept(disk.afterPowerCut(0, false), memory, "kill");
}

test(
  "createJournalBus() keeps its promises when any single operation fails",
  async () => {
    const disk = createFakeDisk();
    const gateway = await openGateway(disk, createMemory(), COMPACT_AT);
    for (const step of day) {
      gateway.step(step);
      await settle(gateway.clock);
    }
    for (let failing = 0; failing < disk.operations; failing++) {
      for (const bytes of [0, 60, Number.MAX_SAFE_INTEGER]) {
        await survive(day, (_, number) => (number === failing ? { code: "ENOSPC", bytes } : undefined));
      }
    }
  },
  PATIENCE_MS,
);

test(
  "createJournalBus() keeps its promises when the disk is full for a while, or fails to sync",
  async () => {
    const trouble = fc.record({
      kinds: fc.constantFrom<Operation["kind"][]>(
        ["append"],
        ["sync"],
        ["replace"],
        ["append", "replace"],
        ["open", "append", "sync", "replace"],
      ),
      from: fc.nat(120),
      operations: fc.integer({ min: 1, max: 25 }),
      bytes: fc.oneof(fc.nat(400), fc.constant(Number.MAX_SAFE_INTEGER)),
      code: fc.constantFrom("ENOSPC", "EIO"),
    });
    const steps = fc.array(anyStep, { minLength: 10, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(steps, trouble, async (steps, { kinds, from, operations, bytes, code }) => {
        await survive(steps, ({ kind }, number) =>
          kinds.includes(kind) && number >= from && number < from + operations ? { code, bytes } : undefined,
        );
      }),
      { numRuns: 250 },
    );
  },
  PATIENCE_MS,
);
