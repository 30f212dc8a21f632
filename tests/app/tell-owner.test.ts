import { expect, test } from "bun:test";
import { createNotify } from "../../src/app/gateway/notify.ts";
import { createTellOwner } from "../../src/app/gateway/tell-owner.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import type { FinalMessage } from "../../src/core/messages.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { outboundFinal } from "../fakes/messages.ts";

async function setUp(owner: { channel: string; chatId: string } | undefined) {
  const clock = createFakeClock();
  const log = createFakeLog();
  const bus = createMemoryBus();
  const told: string[] = [];
  void (async () => {
    for await (const { message } of bus.outbound(new AbortController().signal))
      told.push(`${message.chatId} ${message.content}`);
  })();
  const notify = createNotify(bus, (text) => text);
  const tellOwner = createTellOwner({
    findOwner: async () => owner,
    notify,
    clock,
    log,
  });
  async function fail(id: string, chatId: string): Promise<void> {
    const message = outboundFinal({ id, channel: "telegram", chatId }) as FinalMessage;
    tellOwner({ message, reason: "the bot was blocked", sent: 0 });
    await clock.advance(0);
  }
  return { clock, log, told, fail };
}

test("tellOwner() tells of each chat once an hour, however many messages fail", async () => {
  const { clock, told, fail } = await setUp({ channel: "telegram", chatId: "1" });
  for (const id of ["a", "b", "c"]) await fail(id, "7");
  await fail("d", "8");
  expect(told).toEqual([
    expect.stringMatching(/^1 .*telegram:7.*the bot was blocked/),
    expect.stringMatching(/^1 .*telegram:8/),
  ]);
  await clock.advance(60 * 60_000);
  await fail("e", "7");
  expect(told).toHaveLength(3);
});

test("tellOwner() says nothing in the chat that takes nothing, nor to nobody", async () => {
  for (const owner of [{ channel: "telegram", chatId: "7" }, undefined]) {
    const { told, log, fail } = await setUp(owner);
    await fail("a", "7");
    expect([told, log.lines]).toEqual([[], []]);
  }
});
