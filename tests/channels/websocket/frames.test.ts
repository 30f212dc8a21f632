/** What clients say, and what they hear of it. */

import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { setUp } from "./fixture.ts";

test("hello is answered with the chat and the number to come back with", async () => {
  const { connect, clock } = await setUp();
  const client = await connect();
  const ready = await client.ask({ type: "hello" });
  expect(ready).toEqual({ type: "ready", chat: "main", seq: clock.now() * 1_000 });
  expect(await client.ask({ type: "hello", chat: "other-chat_1.x" })).toMatchObject({
    chat: "other-chat_1.x",
  });
});

test("a message is acknowledged when it is with the bus, and once more when it comes again", async () => {
  const { join, inbox, bus, hanging, clock, heard } = await setUp();
  const client = await join("home");
  expect(await client.ask({ type: "message", id: "m1", content: "hi\ud800" })).toEqual({
    type: "ack",
    id: "m1",
  });
  expect(inbox).toEqual([
    {
      id: "websocket:home:m1" as never,
      kind: "message",
      channel: "websocket",
      senderId: "websocket",
      chatId: "home",
      content: "hi\ufffd",
      media: [],
      timestamp: "2023-11-14T22:13:20.000Z",
      origin: "chat",
      sessionKey: "websocket:home",
      metadata: {},
    },
  ]);
  expect(await client.ask({ type: "message", id: "m1", content: "hi" })).toEqual({
    type: "ack",
    id: "m1",
    duplicate: true,
  });
  expect(heard()).toBe(3);
  bus("hangs");
  const answer = client.ask({ type: "message", id: "m2", content: "hi" });
  await hanging;
  expect(client.frames).toHaveLength(3);
  await clock.advance(5_000);
  expect(await answer).toMatchObject({ type: "error", id: "m2" });
  expect(inbox).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test("a message that cannot be recorded is refused, and taken when it is sent again", async () => {
  const { join, inbox, bus, log } = await setUp();
  const client = await join();
  bus("fails");
  const refused = await client.ask({ type: "message", id: "m1", content: "hi" });
  expect(refused).toEqual({
    type: "error",
    id: "m1",
    message: "The message was not taken. Send it again later",
  });
  expect(log.lines.join()).toContain("the disk is full");
  bus("takes");
  expect(await client.ask({ type: "message", id: "m1", content: "hi" })).toEqual({ type: "ack", id: "m1" });
  expect(inbox).toHaveLength(1);
});

test("messages of one client are taken in their order, also without a hello", async () => {
  const { connect, inbox } = await setUp();
  const client = await connect();
  for (const id of ["a", "b", "c"]) client.say({ type: "message", id, content: `said ${id}` });
  await client.frame(3);
  expect(client.frames.map(({ type, id }) => [type, id])).toEqual([
    ["ready", undefined],
    ["ack", "a"],
    ["ack", "b"],
    ["ack", "c"],
  ]);
  expect(inbox.map(({ id }) => id as string)).toEqual(["a", "b", "c"].map((id) => `websocket:main:${id}`));
});

test("two clients with the same id at the same time start one turn", async () => {
  const { join, inbox } = await setUp();
  const clients = [await join(), await join()];
  const answers = await Promise.all(
    clients.map((client) => client.ask({ type: "message", id: "same", content: "x" })),
  );
  expect(answers.map(({ duplicate }) => duplicate).sort()).toEqual([true, undefined]);
  expect(inbox).toHaveLength(1);
});

test("stop says /stop in the chat, each time anew, and is acknowledged when it has an id", async () => {
  const { join, inbox } = await setUp();
  const client = await join("home");
  client.say({ type: "stop" });
  client.say({ type: "stop" });
  expect(await client.ask({ type: "stop", id: "s1" })).toEqual({ type: "ack", id: "s1" });
  expect(inbox.map(({ content, sessionKey }) => [content, sessionKey])).toEqual(
    Array(3).fill(["/stop", "websocket:home"]),
  );
  expect(await client.ask({ type: "message", id: "s1", content: "not the same" })).toEqual({
    type: "ack",
    id: "s1",
  });
  expect(inbox).toHaveLength(4);
});

test("ping is answered with pong", async () => {
  const { connect } = await setUp();
  expect(await (await connect()).ask({ type: "ping" })).toEqual({ type: "pong" });
});

const bad: readonly (readonly [string, string, string | undefined])[] = [
  ["{", "A frame must be a JSON object", undefined],
  ["", "A frame must be a JSON object", undefined],
  ["null", "A frame must be a JSON object", undefined],
  ["7", "A frame must be a JSON object", undefined],
  ['[{"type":"ping"}]', "type", undefined],
  ["[".repeat(200_000), "A frame must be a JSON object", undefined],
  ["{}", "type", undefined],
  ['{"type":"shout"}', "type must be hello, message, stop or ping", undefined],
  ['{"type":"__proto__"}', "type", undefined],
  ['{"type":"message","content":"x"}', "id", undefined],
  ['{"type":"message","id":"","content":"x"}', "id must be", undefined],
  ['{"type":"message","id":"a:b","content":"x"}', "id must be", undefined],
  [`{"type":"message","id":"${"x".repeat(129)}","content":"x"}`, "id must be", undefined],
  ['{"type":"message","id":7,"content":"x"}', "id must be", undefined],
  ['{"type":"message","id":"m1"}', "content", "m1"],
  ['{"type":"message","id":"m1","content":""}', "content must not be empty", "m1"],
  ['{"type":"message","id":"m1","content":" \\n"}', "content must not be empty", "m1"],
  ['{"type":"message","id":"m1","content":["x"]}', "content must be a string", "m1"],
  ['{"type":"hello","chat":"../x"}', "chat must be", undefined],
  ['{"type":"hello","chat":"a b"}', "chat must be", undefined],
  ['{"type":"hello","chat":""}', "chat must be", undefined],
  ['{"type":"hello","after":"1"}', "after must be", undefined],
  ['{"type":"hello","after":-1}', "after must not", undefined],
  ['{"type":"hello","after":1.5}', "after must be", undefined],
  ['{"type":"hello","after":1e300}', "after must be", undefined],
];

test.each(bad)("a frame that is wrong is answered, and the client stays: %p", async (text, problem, id) => {
  const { join, inbox } = await setUp();
  const client = await join();
  client.raw(text);
  const error = await client.frame(1);
  expect(error.type).toBe("error");
  expect(String(error["message"])).toStartWith(problem);
  expect(error["id"]).toBe(id as string);
  expect(await client.ask({ type: "ping" })).toEqual({ type: "pong" });
  expect(client.closed).toBeUndefined();
  expect(inbox).toEqual([]);
});

test("a wrong hello leaves the client where it was", async () => {
  const { join, final } = await setUp();
  const client = await join("main");
  await client.ask({ type: "hello", chat: "a/b" });
  await final("still heard");
  expect(await client.frame(2)).toMatchObject({ type: "final", content: "still heard" });
});

test("any text at all is answered or taken", async () => {
  const { connect } = await setUp();
  const client = await connect();
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string({ unit: "binary" }), fc.json()), async (text) => {
      const heard = client.frames.length;
      client.raw(text);
      client.say({ type: "ping" });
      expect((await client.frame(heard)).type).toBe("error");
      expect((await client.frame(heard + 1)).type).toBe("pong");
    }),
  );
  expect(client.closed).toBeUndefined();
});

test("a client that says more than can be dealt with is told to wait", async () => {
  const { join, bus, hanging } = await setUp();
  const client = await join();
  bus("hangs");
  const content = "x".repeat(900_000);
  for (let id = 0; id < 4; id++) client.say({ type: "message", id: `${id}`, content });
  await hanging;
  expect(client.closed).toBeUndefined();
  client.say({ type: "message", id: "4", content });
  expect(client.closed).toBe(1013);
});

test("stop() closes every client, and they can come back", async () => {
  const { channel, join, connect, final } = await setUp();
  const client = await join();
  const idle = await connect();
  await channel.stop();
  expect([client.closed, idle.closed]).toEqual([1001, 1001]);
  await channel.stop();
  const again = await join();
  await final("after all");
  expect(await again.frame(1)).toMatchObject({ content: "after all" });
});

test("start() goes on until it is told to end", async () => {
  const { channel, reports, clock } = await setUp();
  const end = new AbortController();
  const running = channel.start(end.signal);
  while (reports.length === 0) await clock.giveWay();
  expect(reports).toEqual([true]);
  end.abort();
  await running;
  await channel.stop();
});
