/** A pause that a call begins is there before whoever made the call goes on. */

import { expect, test } from "bun:test";
import { createBackground } from "../../src/app/background.ts";
import type { Settings } from "../../src/app/settings.ts";
import type { InboundId } from "../../src/core/messages.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";

const caller = { sessionKey: "a", origin: "subagent", turn: "subagent:a/run" as InboundId } as const;

test("observe() resolves when the first failure has begun a pause", async () => {
  const log = createFakeLog();
  const background = createBackground({
    platform: { clock: createFakeClock() },
    settings: {} as Settings,
    log,
  });
  await background.observe(caller, { ok: false, error: { kind: "quota", message: "x" }, partial: "" });
  expect(background.pause.leftMs()).toBe(300_000);
  expect(log.lines.join("\n")).toContain("paused");
});

test("createBackground() without a gateway speaks of a pause in the log alone, and to nobody who did not ask", async () => {
  const log = createFakeLog();
  const clock = createFakeClock();
  const background = createBackground({ platform: { clock }, settings: {} as Settings, log });
  const told: string[] = [];
  async function fail(): Promise<void> {
    await background.observe(caller, { ok: false, error: { kind: "auth", message: "x" }, partial: "" });
    await clock.advance(0);
  }
  await fail();
  expect(log.lines).toEqual(["info Work in the background is paused auth 5"]);
  await background.observe(caller, {
    ok: true,
    content: "hi",
    toolCalls: [],
    finishReason: "stop",
    usage: undefined,
  } as never);
  background.use(async (text) => void told.push(text));
  await fail();
  expect(told).toEqual([expect.stringContaining("I have paused what I do in the background")]);
  expect(log.lines.at(-1)).toBe("warn Work in the background is paused auth 5");
});

test("tellHourly() without a gateway warns at the terminal", async () => {
  const log = createFakeLog();
  const background = createBackground({
    platform: { clock: createFakeClock() },
    settings: {} as Settings,
    log,
  });
  background.tellHourly("too many tool calls", "limit:a");
  expect(log.lines).toEqual(["warn too many tool calls"]);
});
