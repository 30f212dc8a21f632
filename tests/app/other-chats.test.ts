import { expect, test } from "bun:test";
import { createOtherChats } from "../../src/app/gateway/other-chats.ts";
import { createOutbound } from "../../src/app/outbound.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import type { OutboundMessage } from "../../src/core/messages.ts";
import { never } from "../../src/lib/abort.ts";
import { testRun } from "../fakes/toolbox.ts";

function setUp({ allowed = ["telegram:7"], unified = false } = {}) {
  const bus = createMemoryBus();
  const elsewhere = createOtherChats({
    bus,
    clock: { now: () => Date.parse("2026-11-30T09:00:00Z") },
    mask: (text) => text.replaceAll("hidden", "***"),
    channels: () => ["telegram", "webhook"],
    mayWrite: async (channel, chatId) => allowed.includes(`${channel}:${chatId}`),
    sessionOf: (channel, chatId) => (unified ? "unified:default" : `${channel}:${chatId}`),
  });
  const outbound = createOutbound({ bus, mask: (text) => text.replaceAll("hidden", "***"), elsewhere });
  return { bus, outbound };
}

async function first<Message>(source: AsyncIterable<{ readonly message: Message }>): Promise<Message> {
  for await (const { message } of source) return message;
  throw new Error("The bus ended");
}

const plain = { content: "hi", media: [], buttons: [] };
const run = testRun({ sessionKey: "telegram:1", channel: "telegram", chatId: "1", thread: "5" });

test("send() goes to the chat that is answered, in its thread, when no other is named", async () => {
  const { bus, outbound } = setUp();
  const buttons = [[{ label: "Yes", send: "yes" }]];
  expect(await outbound(run).send({ ...plain, content: "a hidden word", buttons }, "call_1")).toEqual({
    channel: "telegram",
    chatId: "1",
  });
  expect(await first<OutboundMessage>(bus.outbound(never))).toMatchObject({
    kind: "final",
    outcome: "message",
    id: `${run.turn}/message/call_1`,
    turn: run.turn,
    channel: "telegram",
    chatId: "1",
    thread: "5",
    content: "a *** word",
    answers: [],
    buttons,
  });
});

test("send() goes to another chat that is allowed, and leaves a note in its session", async () => {
  const { bus, outbound } = setUp();
  await outbound(run).send({ ...plain, chatId: "7" }, "call_1");
  const sent = await first<OutboundMessage>(bus.outbound(never));
  expect(sent).toMatchObject({ channel: "telegram", chatId: "7", content: "hi" });
  expect(sent.thread).toBeUndefined();
  expect(await first(bus.inbound(never))).toMatchObject({
    kind: "note",
    id: `${run.turn}/message/call_1/note`,
    channel: "telegram",
    chatId: "7",
    sessionKey: "telegram:7",
    content: "hi",
  });
});

test("send() puts a call that is made again once", async () => {
  const { bus, outbound } = setUp();
  const seen: OutboundMessage[] = [];
  const ended = new AbortController();
  const reading = (async () => {
    for await (const { message } of bus.outbound(ended.signal)) seen.push(message);
  })();
  for (const key of ["call_1", "call_1", "call_2"]) await outbound(run).send({ ...plain, chatId: "7" }, key);
  ended.abort();
  await reading;
  expect(seen.map(({ id }) => String(id).split("/").at(-1))).toEqual(["call_1", "call_2"]);
});

test.each([
  ["a chat that nobody allowed", { chatId: "8" }, /"8" in telegram: nobody there may talk to you/],
  ["a channel that is not enabled", { channel: "slack", chatId: "7" }, /"slack": it is not enabled/],
  ["an allowed id in another channel", { channel: "webhook", chatId: "7" }, /nobody there may talk/],
])("send() refuses %s, and puts nothing", async (_, place, problem) => {
  const { bus, outbound } = setUp();
  await expect(outbound(run).send({ ...plain, ...place }, "call_1")).rejects.toThrow(problem);
  const ended = new AbortController();
  const next = bus.outbound(ended.signal)[Symbol.asyncIterator]().next();
  ended.abort();
  expect((await next).done).toBe(true);
});

test("send() leaves no note where all chats share one session", async () => {
  const { bus, outbound } = setUp({ unified: true });
  await outbound({ ...run, sessionKey: "unified:default" }).send({ ...plain, chatId: "7" }, "call_1");
  const ended = new AbortController();
  const next = bus.inbound(ended.signal)[Symbol.asyncIterator]().next();
  ended.abort();
  expect((await next).done).toBe(true);
});
