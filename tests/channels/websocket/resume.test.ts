/** Clients that come back: what they are told of what they missed, in which order, and that it is all. */

import { expect, test } from "bun:test";
import type { InboundId } from "../../../src/core/messages.ts";
import { never } from "../../../src/lib/abort.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import { outboundFinal } from "../../fakes/messages.ts";
import { tempFolder } from "../../fakes/temp.ts";
import { type FakeClient, partOf, setUp, turnOf } from "./fixture.ts";

const seqOf = (frame: { readonly [key: string]: unknown } | undefined) => Number(frame?.["seq"]);
const contents = ({ frames }: FakeClient) => frames.slice(1).map(({ type, content }) => content ?? type);

test("every client of a chat hears everything, with growing numbers, and those of other chats nothing", async () => {
  const { join, show, final, channel } = await setUp();
  const clients = [await join(), await join()];
  const stranger = await join("other");
  await show("reasoning", "hm");
  await show("delta", "Hel");
  await show("delta", "lo");
  const { metadata, ...base } = outboundFinal({ channel: "websocket", chatId: "main", turn: turnOf("1") });
  await channel.show?.({ ...base, metadata, kind: "streamEnd", content: "", resuming: true }, never);
  await show("toolHint", "exec()");
  await show("progress", "looking");
  await channel.showTyping?.({ chatId: "main" }, never);
  await final("Hello", { answers: [turnOf("1"), turnOf("2"), "cron:1" as InboundId, turnOf("stop:s1")] });
  for (const client of clients) {
    expect(client.frames.map(({ type }) => type)).toEqual([
      "ready",
      "reasoning",
      "delta",
      "delta",
      "streamEnd",
      "toolHint",
      "progress",
      "typing",
      "final",
    ]);
    const numbers = client.frames.flatMap(({ seq }) => (typeof seq === "number" ? [seq] : []));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    expect(client.frames[4]).toMatchObject({ turn: "websocket:main:1", resuming: true });
    expect(client.frames.at(-1)).toEqual({
      type: "final",
      seq: numbers.at(-1) as number,
      id: "key_1",
      turn: "websocket:main:1",
      at: "2023-11-14T22:13:20.000Z",
      outcome: "answer",
      content: "Hello",
      answers: ["1", "2", "s1"],
    });
  }
  expect(stranger.frames).toHaveLength(1);
});

test("a final has the names of its files, and its buttons", async () => {
  const { join, channel } = await setUp();
  const client = await join();
  const media = { path: "/w/media/out.png", mime: "image/png" };
  const buttons = [[{ label: "Yes", send: "/approve X" }]];
  const message = outboundFinal({ channel: "websocket", chatId: "main", media: [media], buttons });
  await channel.send(partOf(message, "k0"), never);
  const rest = { ...partOf(message, "k1"), index: 1, content: { kind: "media", media } } as const;
  expect(await channel.send(rest, never)).toBe("");
  expect(client.frames).toHaveLength(2);
  expect(client.frames[1]).toMatchObject({ media: [{ name: "out.png", ...media }], buttons });
});

test("a turn that ends without a word ends for clients too, once", async () => {
  const { join, channel } = await setUp();
  const client = await join();
  const empty = { channel: "websocket", chatId: "main", turn: turnOf("1"), outcome: "stopped" } as const;
  for (let times = 0; times < 2; times++) await channel.ended?.(outboundFinal({ ...empty, content: " " }));
  await channel.ended?.(outboundFinal({ ...empty, content: "was sent" }));
  await channel.ended?.(outboundFinal({ ...empty, content: "", answers: [] }));
  expect(client.frames.slice(1)).toMatchObject([
    { type: "final", outcome: "stopped", answers: ["1"], content: "" },
  ]);
  expect(client.frames).toHaveLength(2);
});

test("streaming can be turned off", async () => {
  const { join, show, final, channel } = await setUp({ streaming: false });
  const client = await join();
  await show("delta", "Hel");
  const { metadata, ...base } = outboundFinal({ channel: "websocket", chatId: "main", turn: turnOf("1") });
  await channel.show?.({ ...base, metadata, kind: "streamEnd", content: "", resuming: false }, never);
  await show("progress", "looking");
  await final("Hello");
  expect(contents(client)).toEqual(["looking", "Hello"]);
});

test("a client that comes back hears what it missed and then what is new, without a seam", async () => {
  const { join, show, final } = await setUp();
  const client = await join();
  await show("delta", "a");
  await show("delta", "b");
  client.leave();
  await show("delta", "c");
  const again = await join("main", seqOf(client.frames[2]));
  await show("delta", "d");
  await final("abcd");
  expect(contents(again)).toEqual(["c", "d", "abcd"]);
});

test("a client that comes back after the answer hears the answer, and not what it was made of", async () => {
  const { join, show, final } = await setUp();
  const client = await join();
  await show("delta", "a");
  client.leave();
  await final("a note", { outcome: "message", answers: [] });
  await show("delta", "b");
  expect(contents(await join("main", seqOf(client.frames[1])))).toEqual(["a note", "b"]);
  await final("ab");
  expect(contents(await join("main", seqOf(client.frames[1])))).toEqual(["a note", "ab"]);
  expect(contents(await join("main", seqOf(client.frames[0])))).toEqual(["a note", "ab"]);
});

test("a client hears nothing of the past that it did not ask for, and all of it from 0 on", async () => {
  const { join, final } = await setUp();
  await final("before");
  const client = await join();
  await final("after");
  expect(contents(client)).toEqual(["after"]);
  expect(contents(await join("main", 0))).toEqual(["before", "after"]);
  expect(contents(await join("main", seqOf(client.frames[0])))).toEqual(["after"]);
});

test("a client is told of what is not kept any more", async () => {
  const { join, final } = await setUp({ keepMessages: 2 });
  const client = await join();
  for (const content of ["1", "2", "3", "4"]) await final(content);
  const missed = await join("main", seqOf(client.frames[1]));
  expect(missed.frames.map(({ type }) => type)).toEqual(["ready", "gap", "final", "final"]);
  expect(missed.frames[1]).toEqual({ type: "gap", oldest: seqOf(client.frames[3]) });
  expect(contents(await join("main", seqOf(client.frames[2])))).toEqual(["3", "4"]);
  expect(contents(await join("main", seqOf(client.frames[4])))).toEqual([]);
  expect(contents(await join("other", 0))).toEqual([]);
});

test("a client is told of text that there was no room for, until its answer is there", async () => {
  const { join, show, final } = await setUp();
  const client = await join();
  const piece = "x".repeat(300_000);
  for (let times = 0; times < 5; times++) await show("delta", piece);
  const after = seqOf(client.frames[1]);
  expect((await join("main", after)).frames[1]).toEqual({ type: "gap", oldest: seqOf(client.frames[3]) });
  await final("all of it");
  expect(contents(await join("main", after))).toEqual(["all of it"]);
});

test("what is too old is not kept", async () => {
  const { join, final, clock } = await setUp({ keepSeconds: 60 });
  await final("old");
  await clock.advance(59_000);
  expect(contents(await join("main", 0))).toEqual(["old"]);
  await clock.advance(2_000);
  const late = await join("main", 0);
  expect(late.frames.map(({ type }) => type)).toEqual(["ready", "gap"]);
  expect(contents(await join("main", seqOf(late.frames[0])))).toEqual([]);
});

test("numbers grow over a restart, also of both, and nothing that was kept is lost", async () => {
  const workspace = tempFolder();
  const clock = createFakeClock();
  const first = await setUp({}, { workspace, clock });
  const client = await first.join();
  await first.final("seen");
  client.leave();
  await first.final("missed");
  await first.show("delta", "gone with the process");
  await first.channel.stop();
  await clock.advance(1);
  const second = await setUp({}, { workspace, clock });
  const again = await second.join("main", seqOf(client.frames[1]));
  await second.final("new", { key: "fresh" });
  expect(contents(again)).toEqual(["missed", "new"]);
  const numbers = [client.frames[1], ...again.frames.slice(1)].map(seqOf);
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
  expect(new Set(numbers).size).toBe(3);
});

test("numbers grow when the clock went back meanwhile", async () => {
  const workspace = tempFolder();
  const first = await setUp({}, { workspace, clock: createFakeClock(2_000_000_000_000) });
  const client = await first.join();
  await first.final("before");
  for (let times = 0; times < 100; times++) await first.show("delta", "x");
  await first.channel.stop();
  const second = await setUp({}, { workspace, clock: createFakeClock(1_000_000_000_000) });
  const again = await second.join("main", seqOf(client.frames.at(-1)));
  await second.final("after", { key: "fresh" });
  expect(contents(again)).toEqual(["after"]);
});

test("a client whose number nobody gave hears all that is kept", async () => {
  const { join, final } = await setUp();
  await final("kept");
  const client = await join("main", Number.MAX_SAFE_INTEGER);
  expect(client.frames.map(({ type }) => type)).toEqual(["ready", "gap", "final"]);
});

test("a final is said once, however often it is sent, also after a restart", async () => {
  const workspace = tempFolder();
  const first = await setUp({}, { workspace });
  const client = await first.join();
  expect(await first.final("once", { key: "k" })).toBe("k");
  await Promise.all([first.final("once", { key: "k" }), first.final("once", { key: "k" })]);
  expect(contents(client)).toEqual(["once"]);
  await first.channel.stop();
  const second = await setUp({}, { workspace });
  await second.final("once", { key: "k" });
  expect(contents(await second.join("main", 0))).toEqual(["once"]);
});

test("send() takes a final that nobody hears, and refuses a chat that cannot be", async () => {
  const { final, join } = await setUp();
  await final("for later", { chatId: "quiet" });
  expect(contents(await join("quiet", 0))).toEqual(["for later"]);
  await expect(final("x", { chatId: "a/b" })).rejects.toMatchObject({ name: "SendError", kind: "refused" });
});

test("a client that does not keep up is told to come again, and the others are not", async () => {
  const { join, show } = await setUp();
  const [slow, fast] = [await join(), await join()];
  await show("delta", "a");
  slow.buffered = 4 * 1024 * 1024 + 1;
  await show("delta", "b");
  expect(slow.closed).toBe(1013);
  expect(fast.closed).toBeUndefined();
  const again = await join("main", seqOf(slow.frames[1]));
  expect(contents(again)).toEqual(["b"]);
  expect(contents(fast)).toEqual(["a", "b"]);
});

test("a client is told of a long past at its own pace, and of what is new in its turn", async () => {
  const { connect, final, clock } = await setUp();
  for (let index = 0; index < 10; index++) await final(`${index}`);
  const client = await connect();
  client.buffered = 2 * 1024 * 1024;
  client.say({ type: "hello", after: 0 });
  await client.frame(0);
  await clock.whenPending(1);
  await final("new");
  expect(contents(client)).toEqual([]);
  client.buffered = 0;
  await clock.advance(100);
  expect(contents(client)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "new"]);
  await final("newer");
  expect(contents(client).at(-1)).toBe("newer");
  expect(clock.pending).toBe(0);
});

test("a client that takes nothing of its past for a minute is told to come again", async () => {
  const { connect, final, clock } = await setUp();
  await final("past");
  const client = await connect();
  client.buffered = 2 * 1024 * 1024;
  client.say({ type: "hello", after: 0 });
  await clock.whenPending(1);
  await clock.advance(59_000);
  expect(client.closed).toBeUndefined();
  await clock.advance(1_100);
  expect(client.closed).toBe(1013);
  expect(clock.pending).toBe(0);
});

test("a client that leaves or goes elsewhere is told no more of its past", async () => {
  const { connect, final, clock } = await setUp();
  await final("past");
  const [gone, moved] = [await connect(), await connect()];
  for (const client of [gone, moved]) {
    client.buffered = 2 * 1024 * 1024;
    client.say({ type: "hello", after: 0 });
    await client.frame(0);
  }
  gone.leave();
  moved.buffered = 0;
  await moved.ask({ type: "hello", chat: "other" });
  await clock.advance(1_000);
  expect(clock.pending).toBe(0);
  await final("more");
  expect(contents(gone)).toEqual([]);
  expect(contents(moved)).toEqual(["ready"]);
});
