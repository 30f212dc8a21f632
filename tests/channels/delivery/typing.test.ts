import { describe, expect, test } from "bun:test";
import { createTyping } from "../../../src/channels/delivery/typing.ts";
import type { InboundId } from "../../../src/core/messages.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import { createFakeLog } from "../../fakes/log.ts";
import { inboundMessage } from "../../fakes/messages.ts";
import { createFakeChannel } from "./setup.ts";

function setUp() {
  const clock = createFakeClock();
  const log = createFakeLog();
  const fake = createFakeChannel(clock);
  const typing = createTyping({ clock, log, channelOf: (name) => (name === "chat" ? fake : undefined) });
  const started = (id: string, chatId = "a", rest: { thread?: string; channel?: string } = {}) =>
    typing.started(inboundMessage({ id, channel: "chat", chatId, ...rest }));
  const ended = (id: string) => typing.ended(id as InboundId);
  return { clock, log, fake, started, ended };
}

describe("createTyping()", () => {
  test("shows it at once and every 4 seconds until the turn ends", async () => {
    const { clock, fake, started, ended } = setUp();
    started("1");
    await clock.advance(0);
    await clock.advance(9_000);
    expect(fake.calls.map(({ at }) => at)).toEqual([0, 4_000, 8_000]);
    ended("1");
    expect(clock.pending).toBe(0);
    await clock.advance(9_000);
    expect(fake.calls).toHaveLength(3);
  });

  test("goes on until the last of several turns in a chat ends, and shows it once for all", async () => {
    const { clock, fake, started, ended } = setUp();
    started("1");
    started("2");
    ended("1");
    ended("1");
    await clock.advance(0);
    await clock.advance(4_000);
    expect(fake.calls).toHaveLength(2);
    ended("2");
    expect(clock.pending).toBe(0);
  });

  test("keeps chats and threads apart", async () => {
    const { clock, fake, started } = setUp();
    started("1", "a");
    started("2", "b");
    started("3", "b", { thread: "t" });
    await clock.advance(0);
    expect(fake.calls.map(({ chatId, text }) => [chatId, text])).toEqual([
      ["a", ""],
      ["b", ""],
      ["b", "t"],
    ]);
  });

  test("cuts short what is being shown when the turn ends", async () => {
    const { clock, fake, started, ended } = setUp();
    let seen: AbortSignal | undefined;
    fake.answer = (_, signal) => {
      seen = signal;
      return new Promise(() => {});
    };
    started("1");
    await clock.advance(60_000);
    expect(fake.calls).toHaveLength(1);
    expect(seen?.aborted).toBe(false);
    ended("1");
    expect(seen?.aborted).toBe(true);
  });

  test("survives a platform that refuses, and a channel that does not run", async () => {
    const { clock, fake, log, started, ended } = setUp();
    fake.answer = () => Promise.reject(new Error("no typing here"));
    started("1");
    started("2", "a", { channel: "other" });
    await clock.advance(0);
    await clock.advance(4_000);
    expect(fake.calls).toHaveLength(2);
    expect(log.lines).toEqual(Array(2).fill("debug Could not show typing in chat: no typing here"));
    ended("1");
    ended("2");
    ended("never started");
    expect(clock.pending).toBe(0);
  });

  test("shows no more than a thousand turns", () => {
    const { clock, started } = setUp();
    for (let count = 0; count < 5_000; count++) started(`${count}`, `${count}`);
    expect(clock.pending).toBe(1_000);
  });
});
