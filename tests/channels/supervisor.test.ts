import { expect, test } from "bun:test";
import { createSupervisor } from "../../src/channels/supervisor.ts";
import { type Channel, SendError } from "../../src/core/channel.ts";
import { UserError } from "../../src/core/errors.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";

type Start = (signal: AbortSignal) => Promise<void>;

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function channelThat(start: Start): Channel {
  return { start, stop: async () => {}, send: async () => "" };
}

function setUp(channels: Readonly<Record<string, Start>>) {
  const clock = createFakeClock();
  const log = createFakeLog();
  const changes: string[] = [];
  const ended = new AbortController();
  const supervisor = createSupervisor({
    channels: Object.entries(channels).map(([name, start]) => ({
      name,
      async create(reports) {
        return channelThat(async (signal) => {
          reports.report({ isConnected: true, detail: `as ${name}` });
          reports.heard();
          await start(signal);
        });
      },
    })),
    clock,
    log,
    onChange: (name) => changes.push(name),
  });
  return { supervisor, clock, log, changes, ended };
}

const stateOf = ({ status }: ReturnType<typeof createSupervisor>, name: string) =>
  status().find((one) => one.name === name);

test("run() starts a channel that ends again, with growing waits, and leaves the others alone", async () => {
  const starts: number[] = [];
  const { supervisor, clock, ended } = setUp({
    broken: async () => {
      starts.push(clock.elapsed());
      throw new Error("the line broke");
    },
    fine: untilAborted,
  });
  await supervisor.open();
  const running = supervisor.run(ended.signal);
  await clock.advance(0);
  await clock.advance(7_000);
  expect(starts).toEqual([0, 1_000, 3_000, 7_000]);
  expect(stateOf(supervisor, "broken")).toMatchObject({ state: "disconnected", restarts: 4 });
  expect(stateOf(supervisor, "fine")).toMatchObject({ state: "connected", detail: "as fine", restarts: 0 });
  ended.abort();
  await running;
});

test("run() waits at most five minutes, and begins with a second again after a steady minute", async () => {
  const starts: number[] = [];
  let isSteady = false;
  const { supervisor, clock, ended } = setUp({
    flaky: async (signal) => {
      starts.push(clock.elapsed());
      if (isSteady) await clock.sleep(60_000, signal);
      throw new Error("again");
    },
  });
  await supervisor.open();
  const running = supervisor.run(ended.signal);
  await clock.advance(0);
  await clock.advance(3_600_000);
  const last = starts.at(-1) ?? 0;
  expect(last - (starts.at(-2) ?? 0)).toBe(300_000);
  isSteady = true;
  await clock.advance(last + 300_000 + 60_000 + 1_000 - clock.elapsed());
  expect(starts.at(-1)).toBe(last + 300_000 + 61_000);
  ended.abort();
  await running;
});

test.each([
  ["wrong credentials", new SendError("unauthorized", "the token is wrong")],
  ["what only the owner can mend", new UserError("Read settings: the token is missing")],
])("run() ends a channel for good for %s, and says so", async (_, error) => {
  let starts = 0;
  const { supervisor, clock, log, ended } = setUp({
    wrong: async () => {
      starts++;
      throw error;
    },
    fine: untilAborted,
  });
  await supervisor.open();
  const running = supervisor.run(ended.signal);
  await clock.advance(3_600_000);
  expect(starts).toBe(1);
  expect(stateOf(supervisor, "wrong")).toMatchObject({ state: "failed", detail: error.message });
  expect(supervisor.get("wrong")).toBeUndefined();
  expect(supervisor.get("fine")).toBeDefined();
  expect(log.lines.filter((line) => line.startsWith("error"))).toHaveLength(1);
  ended.abort();
  await running;
});

test("run() goes on until it is told to end, also when every channel has ended for good", async () => {
  const { supervisor, clock, ended } = setUp({
    wrong: async () => {
      throw new UserError("Read settings: the token is missing");
    },
  });
  await supervisor.open();
  let isOver = false;
  const running = supervisor.run(ended.signal).then(() => {
    isOver = true;
  });
  await clock.advance(3_600_000);
  expect(isOver).toBe(false);
  ended.abort();
  await running;
});

test("open() makes the others when one cannot be made", async () => {
  const clock = createFakeClock();
  const supervisor = createSupervisor({
    channels: [
      { name: "bad", create: async () => Promise.reject(new UserError("Read settings: no")) },
      { name: "good", create: async () => channelThat(untilAborted) },
    ],
    clock,
    log: createFakeLog(),
    onChange: () => {},
  });
  await supervisor.open();
  expect(supervisor.status().map(({ state }) => state)).toEqual(["failed", "starting"]);
  const ended = new AbortController();
  const running = supervisor.run(ended.signal);
  await clock.advance(10_000);
  ended.abort();
  await running;
  expect(supervisor.status().map(({ state }) => state)).toEqual(["failed", "stopped"]);
});

test("run() takes a source that comes to its end for one that broke", async () => {
  let starts = 0;
  const { supervisor, clock, ended } = setUp({
    short: async () => {
      starts++;
    },
  });
  await supervisor.open();
  const running = supervisor.run(ended.signal);
  await clock.advance(0);
  await clock.advance(3_000);
  expect(starts).toBe(3);
  ended.abort();
  await running;
});

test("status() tells when the platform was last heard from", async () => {
  const { supervisor, clock, ended } = setUp({ fine: untilAborted });
  await supervisor.open();
  expect(stateOf(supervisor, "fine")?.heardAt).toBeUndefined();
  const running = supervisor.run(ended.signal);
  await clock.advance(0);
  expect(stateOf(supervisor, "fine")?.heardAt).toBe("2023-11-14T22:13:20.000Z");
  ended.abort();
  await running;
});

test("get() gives a channel whose intake has ended, so that answers still get out", async () => {
  const { supervisor, clock, changes, ended } = setUp({ fine: untilAborted });
  await supervisor.open();
  const running = supervisor.run(ended.signal);
  await clock.advance(0);
  ended.abort();
  await running;
  expect(supervisor.get("fine")).toBeDefined();
  expect(changes).toContain("fine");
});

test("close() stops every channel, also when one does not stop well", async () => {
  const stopped: string[] = [];
  const log = createFakeLog();
  const supervisor = createSupervisor({
    channels: ["a", "b"].map((name) => ({
      name,
      create: async () => ({
        ...channelThat(untilAborted),
        async stop() {
          stopped.push(name);
          if (name === "a") throw new Error("it hangs");
        },
      }),
    })),
    clock: createFakeClock(),
    log,
    onChange: () => {},
  });
  await supervisor.open();
  await supervisor.close();
  expect(stopped).toEqual(["a", "b"]);
  expect(log.lines.filter((line) => line.includes("a") && line.includes("it hangs"))).toHaveLength(1);
});

function superviseOne(channel: Partial<Channel>, create?: () => Promise<Channel>) {
  const clock = createFakeClock();
  const log = createFakeLog();
  const ended = new AbortController();
  let report: (isConnected: boolean) => void = () => {};
  const supervisor = createSupervisor({
    channels: [
      {
        name: "odd",
        async create(reports) {
          report = (isConnected) => reports.report({ isConnected });
          return create === undefined ? { ...channelThat(untilAborted), ...channel } : create();
        },
      },
      { name: "fine", create: async () => channelThat(untilAborted) },
    ],
    clock,
    log,
    onChange: () => {},
  });
  return { supervisor, clock, log, ended, report: (isConnected: boolean) => report(isConnected) };
}

test("open() gives up a channel that is never made, and stops one that is made too late", async () => {
  const late = Promise.withResolvers<Channel>();
  let stops = 0;
  const { supervisor, clock, log } = superviseOne({}, () => late.promise);
  let isOpen = false;
  const opening = supervisor.open().then(() => {
    isOpen = true;
  });
  await clock.advance(29_999);
  expect(isOpen).toBe(false);
  await clock.advance(1);
  await opening;
  expect(supervisor.status().map(({ state }) => state)).toEqual(["failed", "starting"]);
  expect(log.lines.join("\n")).toContain("could not be made within 30 s");
  const stopped = Promise.withResolvers<void>();
  late.resolve({
    ...channelThat(untilAborted),
    async stop() {
      stops++;
      stopped.resolve();
    },
  });
  await stopped.promise;
  expect(stops).toBe(1);
  expect(supervisor.get("odd")).toBeUndefined();
});

test("run() takes a start that throws at once for one that broke", async () => {
  let starts = 0;
  const { supervisor, clock, ended } = superviseOne({
    start() {
      starts++;
      throw new Error("before it began");
    },
  });
  await supervisor.open();
  const running = supervisor.run(ended.signal);
  await clock.advance(0);
  await clock.advance(1_000);
  expect(starts).toBe(2);
  expect(stateOf(supervisor, "odd")).toMatchObject({ state: "disconnected", detail: "before it began" });
  ended.abort();
  await running;
});

test("status() does not believe what a channel reports when it does not run", async () => {
  const { supervisor, clock, ended, report } = superviseOne({
    start: async () => Promise.reject(new Error("the line broke")),
  });
  await supervisor.open();
  report(true);
  expect(stateOf(supervisor, "odd")?.state).toBe("starting");
  const running = supervisor.run(ended.signal);
  await clock.advance(0);
  report(true);
  expect(stateOf(supervisor, "odd")).toMatchObject({ state: "disconnected", detail: "the line broke" });
  ended.abort();
  await running;
});

test("run() and close() wait five seconds for a channel that does not end", async () => {
  const forever = () => new Promise<void>(() => {});
  const { supervisor, clock, log, ended } = superviseOne({ start: forever, stop: forever });
  await supervisor.open();
  const running = supervisor.run(ended.signal);
  await clock.advance(0);
  ended.abort();
  await clock.advance(0);
  await clock.advance(5_000);
  await running;
  const closing = supervisor.close();
  await clock.advance(5_000);
  await closing;
  expect(log.lines.filter((line) => line.includes("did not end within 5 s"))).toHaveLength(2);
});

test("run() says little of a channel that works for a second, time and again", async () => {
  const { supervisor, clock, log, ended } = setUp({
    flapping: (signal) => clock.sleep(1_000, signal),
  });
  await supervisor.open();
  const running = supervisor.run(ended.signal);
  await clock.advance(0);
  await clock.advance(24 * 3_600_000);
  expect(log.lines.length).toBeLessThan(310);
  ended.abort();
  await running;
});
