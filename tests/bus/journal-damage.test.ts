/** The journal over files that were damaged, cut off, or written by another version. */

import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage, outboundFinal } from "../fakes/messages.ts";
import { createFakeDisk, type FakeDisk } from "./fake-disk.ts";
import { collect, FOLDER, messageIds, openJournal, settle } from "./gateway.ts";

const INBOX = `${FOLDER}/inbox.jsonl`;
const OUTBOX = `${FOLDER}/outbox.jsonl`;
const SEEN = `${FOLDER}/seen.jsonl`;
const HEADER = '{"v":1}\n';
const NULS = "\0".repeat(9000);

const putLine = (id: string) => `${JSON.stringify({ put: inboundMessage({ id }) })}\n`;
const finalLine = (id: string) => `${JSON.stringify({ put: outboundFinal({ id, answers: [] }), at: 5 })}\n`;

async function idsOf(disk: FakeDisk): Promise<string[]> {
  const { bus, clock } = await openJournal(disk);
  const { inbound } = collect(bus);
  await settle(clock);
  return messageIds(inbound);
}

const warnings = (lines: readonly string[]) => lines.filter((line) => !line.startsWith("info"));

test("createJournalBus() refuses a file of a newer version and touches none", async () => {
  for (const path of [INBOX, OUTBOX, SEEN]) {
    for (const header of ['{"v":2}', '{"v":2,"by":"nanobot 9"}', '{"v":"1.5"}', '{"v":null}']) {
      const disk = createFakeDisk();
      disk.write(INBOX, `${HEADER}{"torn`);
      disk.write(path, `${header}\n{"put":{"shape":"unheard of"}}\n`);
      const before = disk.paths().map((name) => [name, disk.text(name)]);
      const error = await openJournal(disk).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(UserError);
      expect(String(error)).toContain("newer version");
      expect(disk.paths().map((name) => [name, disk.text(name)])).toEqual(before);
      expect(disk.operations).toBe(0);
    }
  }
});

test("createJournalBus() loads every good line around NULs and half lines, and goes on on a fresh line", async () => {
  const good = Array.from({ length: 20 }, (_, index) => putLine(`good:${index}`));
  const tails = [NULS, `${NULS}{"put":{"id":"ha`, '{"put":{"id":"ha', '{"put', "\0", '{"done":"good:0"', "x"];
  for (const tail of tails) {
    const disk = createFakeDisk();
    const text = HEADER + good.join("") + putLine("last").trimEnd() + NULS + tail;
    disk.write(INBOX, text);
    const { bus, clock, log } = await openJournal(disk);
    const { inbound } = collect(bus);
    expect(await bus.publishInbound(inboundMessage({ id: "new" }), never)).toBe(true);
    await settle(clock);
    const whole = good.map((_, index) => `good:${index}`);
    const hasLast = tail.replaceAll("\0", "") === "";
    expect(messageIds(inbound)).toEqual([...whole, ...(hasLast ? ["last"] : []), "new"]);
    expect(warnings(log.lines).length).toBe(hasLast ? 0 : 1);
    // What is damaged lies where it lay.
    expect(disk.text(INBOX)).toStartWith(`${text}\n`);
    expect((await idsOf(disk.afterKill())).at(-1)).toBe("new");
  }
});

test("createJournalBus() takes a whole record whose newline is missing", async () => {
  const disk = createFakeDisk();
  disk.write(INBOX, HEADER + putLine("a").trimEnd());
  const { bus, log } = await openJournal(disk);
  expect(await bus.publishInbound(inboundMessage({ id: "a" }), never)).toBe(false);
  expect(warnings(log.lines)).toEqual([]);
});

test("createJournalBus() skips damaged lines in the middle and reports them once, over restarts too", async () => {
  const disk = createFakeDisk();
  const damaged = [
    "{",
    "null",
    "[]",
    "7",
    '"put"',
    '{"put":{}}',
    '{"done":7}',
    '{"unheard":"of"}',
    "\xff\xfe",
    "{}",
  ];
  disk.write(
    INBOX,
    Buffer.from(`${HEADER + putLine("a") + damaged.join("\n")}\n\n${putLine("b")}`, "latin1"),
  );
  const first = await openJournal(disk);
  expect(warnings(first.log.lines)).toEqual([
    `warn Left damaged lines of a journal out ${INBOX} ${damaged.length}`,
  ]);
  await first.bus.close();
  const second = await openJournal(disk);
  expect(warnings(second.log.lines)).toEqual([]);
  expect(await idsOf(disk.afterKill())).toEqual(["a", "b"]);
  await second.bus.close();
  disk.write(INBOX, `${disk.text(INBOX)}another\n`);
  expect(warnings((await openJournal(disk)).log.lines).length).toBe(1);
});

test("createJournalBus() reads a file whose first line is damaged", async () => {
  const disk = createFakeDisk();
  disk.write(INBOX, `{"v\n${putLine("a")}`);
  disk.write(OUTBOX, `${NULS}\n${finalLine("b")}`);
  disk.write(SEEN, `garbage\n{"ids":["c"],"at":5}\n`);
  const { bus, clock, log } = await openJournal(disk);
  const { inbound, outbound } = collect(bus);
  await settle(clock);
  expect(messageIds(inbound)).toEqual(["a"]);
  expect(messageIds(outbound)).toEqual(["b"]);
  expect(await bus.publishInbound(inboundMessage({ id: "c" }), never)).toBe(false);
  expect(warnings(log.lines).length).toBe(3);
});

test("createJournalBus() keeps a file of which nothing can be read, and begins another", async () => {
  for (const content of ["garbage", NULS, "[1,2,3]\n", '{"jobs":[],}\n', "\n\n\0\n"]) {
    const disk = createFakeDisk();
    for (const path of [INBOX, OUTBOX, SEEN]) disk.write(path, content);
    const { bus, log } = await openJournal(disk);
    const kept = disk.paths().filter((path) => path.endsWith(".corrupt-20231114T221320000Z"));
    expect(kept.length).toBe(3);
    for (const path of kept) expect(disk.text(path)).toBe(content);
    expect(warnings(log.lines).length).toBe(3);
    expect(await bus.publishInbound(inboundMessage({ id: "a" }), never)).toBe(true);
    expect(disk.text(INBOX)).toStartWith(HEADER);
  }
});

test("createJournalBus() takes an empty file for one that was just made", async () => {
  const disk = createFakeDisk();
  for (const path of [INBOX, OUTBOX, SEEN]) disk.write(path, "");
  const { bus, log } = await openJournal(disk);
  expect(await bus.publishInbound(inboundMessage({ id: "a" }), never)).toBe(true);
  expect(warnings(log.lines)).toEqual([]);
  expect(await idsOf(disk.afterKill())).toEqual(["a"]);
});

test("createJournalBus() keeps a file the disk cannot read to its end, with what could be read in a new one", async () => {
  const disk = createFakeDisk();
  disk.write(INBOX, HEADER + putLine("a") + putLine("b") + "x".repeat(5000));
  const { stream } = disk;
  disk.stream = async function* (path, options) {
    let bytes = 0;
    for await (const chunk of stream(path, options)) {
      yield chunk;
      bytes += chunk.length;
      if (bytes > 2000) throw Object.assign(new Error("bad sector"), { code: "EIO" });
    }
  };
  const { log } = await openJournal(disk);
  expect(warnings(log.lines).length).toBe(1);
  expect(disk.paths().some((path) => path.startsWith(`${INBOX}.corrupt-`))).toBe(true);
  expect(disk.text(INBOX)).toBe(HEADER + putLine("a") + putLine("b"));
});

test("createJournalBus() refuses to begin without a file that it is not allowed to read", async () => {
  const disk = createFakeDisk();
  disk.write(INBOX, HEADER + putLine("a"));
  disk.read = () => Promise.reject(Object.assign(new Error("no"), { code: "EACCES" }));
  await expect(openJournal(disk)).rejects.toThrow(`Cannot read "${INBOX}": permission denied`);
  expect(disk.paths()).toEqual([INBOX]);
});

test("createJournalBus() counts a part whose record is lost when the next one is there", async () => {
  const disk = createFakeDisk();
  const parts = [0, 2].map((index) => JSON.stringify({ part: "a", index, messageId: `m${index}` }));
  disk.write(OUTBOX, `${HEADER}${finalLine("a")}${parts.join("\n")}\n`);
  const { bus, clock } = await openJournal(disk);
  const { outbound } = collect(bus);
  await settle(clock);
  expect(outbound[0]?.sent).toEqual(["m0", "", "m2"]);
});

test("createJournalBus() opens and goes on whatever bytes are in its files", async () => {
  const bytes = fc.uint8Array({ maxLength: 60 }).map((part) => Buffer.from(part));
  const lines = fc.constantFrom(
    HEADER,
    putLine("a"),
    putLine("b"),
    finalLine("c"),
    '{"done":"a"}\n',
    '{"done":"c","turn":"x","answers":["a"]}\n',
    '{"void":"b"}\n',
    '{"failed":"c","reason":"gone"}\n',
    '{"retry":"c"}\n',
    '{"part":"c","index":3,"messageId":"m"}\n',
    '{"part":"c","index":1e99,"messageId":"m"}\n',
    '{"stream":"a","messageId":"m"}\n',
    '{"stream":"a"}\n',
    '{"resume":"a","progress":1,"count":2}\n',
    '{"ids":["z","y"],"at":1}\n',
    '{"__proto__":{"put":1}}\n',
    '{"damaged":"many"}\n',
  );
  const content = fc
    .array(
      fc.oneof(
        bytes,
        lines.map((line) => Buffer.from(line)),
      ),
      { maxLength: 12 },
    )
    .map((parts) => Buffer.concat(parts));
  await fc.assert(
    fc.asyncProperty(content, content, content, async (inbox, outbox, seen) => {
      const disk = createFakeDisk();
      for (const [path, bytes] of [
        [INBOX, inbox],
        [OUTBOX, outbox],
        [SEEN, seen],
      ] as const) {
        disk.write(path, bytes);
      }
      const { bus, clock } = await openJournal(disk, { compactAt: 1 });
      const { inbound, outbound } = collect(bus);
      await settle(clock);
      const before = messageIds(inbound);
      expect(await bus.publishInbound(inboundMessage({ id: "new" }), never)).toBe(true);
      expect(await bus.publishOutbound(outboundFinal({ id: "new" }), never)).toBe(true);
      await settle(clock);
      for (const { done } of [...inbound, ...outbound]) await done();
      await bus.close();
      const again = await openJournal(disk);
      const left = collect(again.bus);
      await settle(again.clock);
      expect(left.inbound.length + left.outbound.length).toBe(0);
      for (const id of [...before, "new"]) {
        expect(await again.bus.publishInbound(inboundMessage({ id }), never)).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});
