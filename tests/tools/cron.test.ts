import { describe, expect, test } from "bun:test";
import { UserError } from "../../src/core/errors.ts";
import type { Job, Jobs, NewJob } from "../../src/core/schedule.ts";
import type { ToolContext } from "../../src/core/tool.ts";
import { createJobs } from "../../src/schedule/jobs.ts";
import { cron } from "../../src/tools/cron.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";
import { createMemoryFiles } from "../schedule/memory-files.ts";
import { createFixture } from "./fixture.ts";

const START = Date.UTC(2026, 10, 30, 9);

function setUp(changes: Partial<ToolContext> = {}, ports: Partial<ToolContext["ports"]> = {}) {
  const clock = createFakeClock(START);
  let ids = 0;
  const jobs: Jobs = createJobs({
    files: createMemoryFiles(clock.now).system,
    locks: {
      acquire: async () => ({ release: async () => {} }),
      tryAcquire: async () => ({ release: async () => {} }),
    },
    clock,
    ids: { next: () => `job0000${++ids}` },
    log: createFakeLog(),
    workspace: "/ws",
    legacyFile: undefined,
    timeZone: "Europe/Berlin",
    mostJobs: 3,
  });
  const told: string[] = [];
  const tellOwner = (text: string, key: string) => void told.push(`${key}: ${text}`);
  const fixture = createFixture({ ports: { jobs, tellOwner, clock, ...ports } });
  Object.assign(fixture.context, { channel: "telegram", chatId: "7", ...changes });
  return {
    jobs,
    clock,
    told,
    context: fixture.context,
    run: (args: object) => fixture.call(cron, args),
    /** As a model's call comes. */
    async raw(args: object) {
      const toolbox = createTestToolbox({
        tools: [cron],
        workspace: fixture.workspace,
        ports: () => fixture.context.ports,
      });
      return toolbox.run({ id: "cli:1/1/0", name: "cron", arguments: JSON.stringify(args) }, testRun({}));
    },
  };
}

describe("cron add", () => {
  test.each<[object, Partial<NewJob>, string]>([
    [
      { every_seconds: 600 },
      { schedule: { kind: "every", everyMs: 600_000 } },
      "every 10 minutes; next run 2026-11-30 10:10 (Europe/Berlin)",
    ],
    [
      { cron_expr: "0 9 * * 1-5", tz: "Asia/Tokyo" },
      { schedule: { kind: "cron", expr: "0 9 * * 1-5", tz: "Asia/Tokyo" } },
      "0 9 * * 1-5 (Asia/Tokyo); next run 2026-12-01 01:00 (Europe/Berlin)",
    ],
    [
      { cron_expr: "0 12 * * *" },
      { schedule: { kind: "cron", expr: "0 12 * * *" } },
      "next run 2026-11-30 12:00 (Europe/Berlin)",
    ],
    // Without an offset the agent's zone is meant.
    [
      { at: "2026-11-30T11:00:00" },
      { schedule: { kind: "at", atMs: START + 60 * 60_000 }, deleteAfterRun: true },
      "at 2026-11-30 11:00 (Europe/Berlin)",
    ],
    [
      { at: "2026-11-30T11:00Z" },
      { schedule: { kind: "at", atMs: START + 2 * 60 * 60_000 } },
      "at 2026-11-30 12:00",
    ],
    // What models fill in beside it.
    [
      { every_seconds: 60, cron_expr: "", at: "", tz: "" },
      { schedule: { kind: "every", everyMs: 60_000 } },
      "every 1 minute",
    ],
    [
      { every_seconds: 0, cron_expr: "@daily" },
      { schedule: { kind: "cron", expr: "@daily" } },
      "2026-12-01 00:00",
    ],
  ])("takes %j", async (args, expected, said) => {
    const { run, jobs } = setUp();
    const { ok, text } = await run({ action: "add", message: "Make tea", name: "Tea", ...args });
    expect([ok, text]).toEqual([true, expect.stringContaining(said)]);
    expect(await jobs.list()).toMatchObject([
      {
        name: "Tea",
        message: "Make tea",
        deliver: true,
        to: { channel: "telegram", chatId: "7" },
        ...expected,
      } as Partial<Job>,
    ]);
    expect(text).toContain((await jobs.list())[0]?.id ?? "-");
  });

  test("answers in the thread and the session it was made in, or tells nobody", async () => {
    const sessionKey = "telegram:7:topic:3";
    const { run, jobs } = setUp({ thread: "3", sessionKey });
    await run({ action: "add", message: "x", every_seconds: 60, deliver: false });
    expect(await jobs.list()).toMatchObject([
      { deliver: false, to: { channel: "telegram", chatId: "7", thread: "3", sessionKey } },
    ]);
  });

  test.each<[object, string]>([
    [{ every_seconds: 60 }, "message is missing"],
    [{ message: "x" }, "exactly one of at, every_seconds and cron_expr"],
    [{ message: "x", every_seconds: 60, at: "2026-12-01T09:00" }, "exactly one of"],
    [{ message: "x", every_seconds: 60, tz: "Asia/Tokyo" }, "tz goes with cron_expr only"],
    [{ message: "x", at: "2026-12-01T09:00", tz: "Asia/Tokyo" }, "tz goes with cron_expr only"],
    [{ message: "x", at: "tomorrow" }, '"tomorrow" is no time'],
    [{ message: "x", at: "2026-11-30T09:59" }, "has passed already"],
    [{ message: "x", cron_expr: "every day" }, "no cron expression"],
    [{ message: "x", cron_expr: "0 9 * * *", tz: "Mars/Olympus" }, "no time zone"],
    [{ message: "x", cron_expr: "0 0 30 2 *" }, "never comes"],
    [{ message: "x".repeat(10_001), every_seconds: 60 }, "longer than 10000"],
  ])("refuses %j", async (args, reason) => {
    const { run, jobs } = setUp();
    const { ok, text } = await run({ action: "add", ...args });
    expect([ok, text]).toEqual([false, expect.stringContaining(reason)]);
    expect(await jobs.list()).toEqual([]);
  });

  test.each<[Partial<ToolContext>]>([
    [{ origin: "cron", sessionKey: "cron:abc" }],
    [{ origin: "heartbeat", sessionKey: "heartbeat" }],
    // What a subagent reports to a job's session.
    [{ origin: "subagent", sessionKey: "cron:abc" }],
    [{ origin: "subagent", sessionKey: "heartbeat" }],
  ])("refuses a turn that nobody asked for: %j", async (changes) => {
    const { run, jobs, told } = setUp(changes);
    const result = await run({ action: "add", message: "x", every_seconds: 60 });
    expect(result).toMatchObject({
      ok: false,
      refused: true,
      text: expect.stringContaining("must not make jobs"),
    });
    expect(await jobs.list()).toEqual([]);
    expect(told).toEqual([expect.stringContaining(`jobs-make-jobs:${changes.sessionKey}: `)]);
  });

  test("refuses one job too many, and tells the owner", async () => {
    const { run, told } = setUp();
    for (let count = 0; count < 3; count++)
      expect((await run({ action: "add", message: "x", every_seconds: 60 })).ok).toBe(true);
    expect(await run({ action: "add", message: "x", every_seconds: 60 })).toMatchObject({
      ok: false,
      text: expect.stringContaining("there are 3 already"),
    });
    expect(told).toEqual([expect.stringContaining("limits.jobs")]);
  });

  test("says that jobs wait where no gateway runs", async () => {
    const asked: AbortSignal[] = [];
    const nobody = async (signal: AbortSignal) => asked.push(signal) < 0;
    const { run, context } = setUp({}, { isTimeKept: nobody });
    const waits = "\nNo gateway runs for this workspace: jobs wait until one does";
    expect((await run({ action: "add", message: "x", every_seconds: 60 })).text).toContain(waits);
    expect((await run({ action: "list" })).text).toContain(waits);
    expect(asked).toEqual([context.signal, context.signal]);
    const { run: kept } = setUp({}, { isTimeKept: async () => true });
    expect((await kept({ action: "add", message: "x", every_seconds: 60 })).text).not.toContain("No gateway");
  });

  test("takes arguments as models send them", async () => {
    const { raw, jobs } = setUp();
    const { text } = await raw({ action: "add", task: "x", everySeconds: "90", deliver: "false" });
    expect(text).toContain("every 1 minute 30 seconds");
    expect((await jobs.list())[0]?.deliver).toBe(false);
  });
});

describe("cron list and remove", () => {
  test("are about the jobs of this chat, and of this thread of it", async () => {
    const { run, jobs, context } = setUp({ thread: "3" });
    await run({ action: "add", name: "Mine", message: "secret words", every_seconds: 60 });
    for (const to of [
      { channel: "telegram", chatId: "7" },
      { channel: "telegram", chatId: "8", thread: "3" },
    ])
      await jobs.add({
        name: "Other",
        message: "x",
        schedule: { kind: "every", everyMs: 60_000 },
        deliver: true,
        to,
      });
    const { text } = await run({ action: "list" });
    expect(text).toMatch(
      /^Jobs of this chat:\n- job "Mine" \(id .*\): every 1 minute; next run .*\n {2}secret words$/,
    );
    for (const job of await jobs.list()) {
      const { ok } = await run({ action: "remove", job_id: job.id });
      expect(ok).toBe(job.name === "Mine");
    }
    expect((await jobs.list()).map(({ name }) => name)).toEqual(["Other", "Other"]);
    expect((await run({ action: "list" })).text).toBe("There are no jobs of this chat");
    expect(context.thread).toBe("3");
  });

  test("say how the last run went", async () => {
    const { run, jobs } = setUp();
    await run({ action: "add", name: "Tea", message: "x", every_seconds: 60 });
    const [job] = await jobs.list();
    const run1 = { runAtMs: START, status: "error", durationMs: 1, error: "no credit" } as const;
    const store = jobs as ReturnType<typeof createJobs>;
    await store.record([{ kind: "ended", jobId: job?.id ?? "", slotMs: START, run: run1 }]);
    expect((await run({ action: "list" })).text).toContain("last run error (no credit)");
    await jobs.setEnabled(job?.id ?? "", false);
    expect((await run({ action: "list" })).text).toContain("disabled");
  });

  test("say that a time that came waits for a gateway", async () => {
    const { run, jobs, clock } = setUp({}, { isTimeKept: async () => false });
    await run({ action: "add", message: "x", at: "2026-11-30T10:30" });
    await clock.advance(60 * 60_000);
    expect((await run({ action: "list" })).text).toContain(
      "missed; made up for when a gateway starts before",
    );
    const [job] = await jobs.list();
    await jobs.setEnabled(job?.id ?? "", false);
    expect((await run({ action: "list" })).text).not.toContain("No gateway");
  });

  test("let a job remove itself while it runs", async () => {
    const { run, jobs, context } = setUp();
    await run({ action: "add", message: "x", every_seconds: 60 });
    Object.assign(context, { origin: "cron", sessionKey: "cron:job00001" });
    const [job] = await jobs.list();
    expect((await run({ action: "remove", job_id: job?.id })).ok).toBe(true);
  });

  test("ask for an id, and refuse one that there is not", async () => {
    const { run } = setUp();
    expect((await run({ action: "remove" })).text).toContain("job_id is missing");
    expect((await run({ action: "remove", job_id: "x" })).text).toContain('no job "x" of this chat');
  });
});

test("cron says so where nobody keeps the time, or the file is broken", async () => {
  const { context, run } = setUp();
  const refuse = async () => {
    throw new UserError("Cannot read jobs.json: line 3");
  };
  Object.assign(context.ports, { jobs: { timeZone: "UTC", list: refuse, add: refuse } });
  for (const args of [{ action: "list" }, { action: "add", message: "x", every_seconds: 60 }])
    expect(await run(args)).toMatchObject({ ok: false, text: "Cannot read jobs.json: line 3" });
  Object.assign(context.ports, { jobs: undefined });
  expect(await run({ action: "list" })).toMatchObject({
    ok: false,
    text: expect.stringContaining("nobody keeps the time"),
  });
});
