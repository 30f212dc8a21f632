import { expect, test } from "bun:test";
import { controlCommands } from "../../src/app/gateway/control.ts";
import { createOtherChats } from "../../src/app/gateway/other-chats.ts";
import { createJournalBus } from "../../src/bus/journal/journal-bus.ts";
import { UserError } from "../../src/core/errors.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { never } from "../../src/lib/abort.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

const asked: JsonObject = {
  channel: "telegram",
  chatId: "7",
  content: "hi",
  media: [],
  buttons: [],
  key: "call_1",
  turn: "turn:1",
  sessionKey: "cli:direct",
  sender: "user",
  origin: "chat",
};

const absent = () => Promise.reject(new Error("It is not asked"));

async function setUp() {
  const clock = createFakeClock();
  const files = createFileSystem();
  const bus = await createJournalBus({ files, clock, log: createFakeLog(), folder: tempFolder() });
  const commands = controlCommands({
    version: "1",
    pid: 1,
    startedAt: "2026-11-30T09:00:00Z",
    address: "http://127.0.0.1:1",
    bus,
    channels: () => [],
    tasks: { list: () => [] },
    schedule: { cron: absent, heartbeat: absent },
    elsewhere: createOtherChats({
      bus,
      clock,
      mask: (text) => text,
      channels: () => ["telegram"],
      mayWrite: async (_, chatId) => chatId === "7",
      sessionOf: (channel, chatId) => `${channel}:${chatId}`,
    }),
  });
  return { bus, send: (more: JsonObject) => commands["message.send"]?.({ ...asked, ...more }, never) };
}

test("message.send puts a message for another chat, once for each call", async () => {
  const { bus, send } = await setUp();
  await send({});
  await send({});
  expect(bus.outbox.list()).toMatchObject([{ channel: "telegram", chatId: "7", content: "hi" }]);
  await bus.close();
});

test.each([{ channel: "none", chatId: "" }, { channel: "cli", chatId: "direct" }, { chatId: "8" }])(
  "message.send refuses %j, where nobody would get it",
  async (place) => {
    const { bus, send } = await setUp();
    await expect(send(place)).rejects.toThrow(UserError);
    expect(bus.outbox.list()).toEqual([]);
    await bus.close();
  },
);
