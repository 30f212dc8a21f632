/** A heartbeat over real files, a bus that outlives it, and a model that does what a test says. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createMemoryBus } from "../../src/bus/memory.ts";
import type { BackgroundPause } from "../../src/core/background.ts";
import type { Bus } from "../../src/core/bus.ts";
import type { InboundId, InboundMessage } from "../../src/core/messages.ts";
import type { Clock } from "../../src/core/platform.ts";
import type { BackgroundResult } from "../../src/core/schedule.ts";
import { never } from "../../src/lib/abort.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createHeartbeat, type HeartbeatOptions } from "../../src/schedule/heartbeat.ts";
import { createFakeClock, type FakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { createFakeModel, type FakeModel, type Scripted } from "../fakes/model.ts";
import { tempFolder } from "../fakes/temp.ts";
import { until } from "../fakes/until.ts";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const INTERVAL = 30 * MINUTE;
export const OWNER = { channel: "telegram", chatId: "7" };

export const decides = (action: "skip" | "run", tasks?: string): Scripted => ({
  calls: [{ name: "heartbeat", arguments: { action, ...(tasks === undefined ? {} : { tasks }) } }],
});
export const judges = (should_notify: boolean): Scripted => ({
  calls: [{ name: "evaluate_notification", arguments: { should_notify, reason: "because" } }],
});

export function write(workspace: string, name: string, text: string): void {
  mkdirSync(dirname(join(workspace, name)), { recursive: true });
  writeFileSync(join(workspace, name), text);
}

export function readState(workspace: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(workspace, ".nanobot", "heartbeat.json"), "utf8"));
}

export interface World {
  readonly workspace: string;
  readonly clock: FakeClock;
  readonly bus: Bus;
  readonly model: FakeModel;
}

export function createWorld(tasks = "- Tell me when the build fails\n"): World {
  const workspace = tempFolder();
  write(workspace, "HEARTBEAT.md", tasks);
  return { workspace, clock: createFakeClock(), bus: createMemoryBus(), model: createFakeModel() };
}

/** One process of a world: it ends with `end`, and another can begin. */
export function startIn(world: World, options: Partial<HeartbeatOptions> = {}) {
  const log = createFakeLog();
  const { model } = world;
  const heartbeat = createHeartbeat({
    files: createFileSystem(),
    clock: world.clock,
    log,
    workspace: world.workspace,
    template: async () => "# Heartbeat\n",
    bus: world.bus,
    model: async () => ({
      model,
      name: "m",
      maxTokens: 8_192,
      temperature: 0.7,
      reasoningEffort: "low",
      promptTokens: 50_000,
    }),
    findOwner: async () => OWNER,
    intervalMs: INTERVAL,
    pause: noPause,
    timeZone: () => "UTC",
    ...options,
  });
  const ending = new AbortController();
  let running: Promise<void> | undefined;
  const looks = () => log.lines.filter((line) => line.includes("has looked at") || line.includes("missed"));
  return {
    heartbeat,
    log,
    looks,
    beat: () => heartbeat.now(never),
    now: async () => (await heartbeat.now(never)).kind,
    route: (inbound: InboundMessage, result: Partial<BackgroundResult> = {}) =>
      heartbeat.route(inbound, { outcome: "answer", content: "The build failed.", ...result }, never),
    /** Begins to beat, and resolves when it waits for the first one. */
    async run(): Promise<void> {
      running = heartbeat.run(ending.signal);
      await world.clock.whenPending(1);
    },
    /** Lets time pass, and resolves when what came due is done and the next beat is waited for. */
    async pass(ms: number): Promise<void> {
      const before = looks().length;
      const pending = world.clock.pending;
      await world.clock.advance(ms);
      if (world.clock.pending < pending) await until(() => looks().length > before);
      await world.clock.whenPending(1);
    },
    async end(): Promise<void> {
      ending.abort();
      await running;
    },
  };
}

export const noPause: BackgroundPause = { leftMs: () => 0, observe: () => {} };

/** A clock on the wall that somebody sets, beside one that only goes on. */
export function settable(clock: FakeClock): Clock & { set(byMs: number): void } {
  let offset = 0;
  return {
    now: () => clock.now() + offset,
    elapsed: () => clock.elapsed(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    after: (ms, task) => clock.after(ms, task),
    giveWay: () => clock.giveWay(),
    set(byMs) {
      offset += byMs;
    },
  };
}

/** Takes every message from the bus. The turns end when the test says so. */
export function takeTurns(bus: Bus) {
  const begun: InboundMessage[] = [];
  const open: (() => Promise<void>)[] = [];
  const taken = (async () => {
    for await (const delivery of bus.inbound(never)) {
      begun.push(delivery.message);
      open.push(() => delivery.done());
    }
  })();
  taken.catch(() => {});
  return {
    begun,
    async finish(): Promise<void> {
      for (const done of open.splice(0)) await done();
    },
  };
}

export function heartbeatMessage(
  id = "heartbeat:1700000000000",
  content = "Look at the tasks",
): InboundMessage {
  return {
    id: id as InboundId,
    kind: "message",
    channel: "none",
    senderId: "heartbeat",
    chatId: "",
    content,
    media: [],
    timestamp: "2026-11-30T09:00:00.000Z",
    origin: "heartbeat",
    sessionKey: "heartbeat",
    metadata: {},
  };
}
