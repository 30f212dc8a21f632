import { describe, expect, test } from "bun:test";
import type { InboundMessage } from "../../src/core/messages.ts";
import type { NewJob, Schedule } from "../../src/core/schedule.ts";
import { DAY, HOUR, MINUTE, PATH, SECOND, START, setUp } from "./cron-fixture.ts";

function job(schedule: Schedule, changes: Partial<NewJob> = {}): NewJob {
  return { name: "Tea", message: "Make tea", schedule, deliver: false, ...changes };
}

const every = (everyMs: number): Schedule => ({ kind: "every", everyMs });
const cron = (expr: string, tz?: string): Schedule => ({
  kind: "cron",
  expr,
  ...(tz === undefined ? {} : { tz }),
});
const at = (atMs: number): Schedule => ({ kind: "at", atMs });
const to = { channel: "telegram", chatId: "7", thread: "3" };

describe("run() puts", () => {
  test("a message in the job's own session, for whoever is told", async () => {
    const { clock, jobs, begin, turns } = setUp();
    const { id } = await jobs.add(job(every(HOUR), { deliver: true, to }));
    const { end } = await begin();
    await clock.advance(HOUR);
    await end();
    expect(turns.put).toEqual([
      {
        id: `cron:${id}:${START + HOUR}`,
        kind: "message",
        origin: "cron",
        channel: "telegram",
        chatId: "7",
        thread: "3",
        senderId: "cron",
        sessionKey: `cron:${id}`,
        content: expect.stringMatching(/"Tea".*2026-11-30 10:00 \(UTC\).*\]\n\nMake tea$/s),
        media: [],
        timestamp: "2026-11-30T10:00:00.000Z",
        metadata: { job: id, deliver: true },
      } as unknown as InboundMessage,
    ]);
  });

  test("a message to nobody where nobody is told, or only the owner", async () => {
    const { clock, jobs, begin, turns } = setUp();
    await jobs.add(job(every(HOUR), { to }));
    await jobs.add(job(every(HOUR), { deliver: true }));
    const { end } = await begin();
    await clock.advance(HOUR);
    await end();
    expect(turns.put.map(({ channel, chatId }) => [channel, chatId])).toEqual([
      ["none", ""],
      ["none", ""],
    ]);
  });

  test("multiples of the period from when it was made, however long runs take (B059)", async () => {
    const { clock, jobs, begin, turns, slots } = setUp({ endsTurns: false });
    await jobs.add(job(every(MINUTE)));
    const { end } = await begin();
    for (let run = 0; run < 10; run++) {
      await clock.advance(MINUTE - (run === 0 ? 0 : 3 * SECOND));
      await clock.advance(3 * SECOND);
      turns.end(turns.put.at(-1)?.id ?? "", "answered", 3 * SECOND);
    }
    await end();
    expect(slots()).toEqual(Array.from({ length: 10 }, (_, run) => START + (run + 1) * MINUTE));
  });

  test("no slot while the run before goes on, and says so once in the history", async () => {
    const { clock, jobs, begin, turns, slots } = setUp({ endsTurns: false });
    await jobs.add(job(every(SECOND)));
    const first = await begin();
    await clock.advance(30 * SECOND);
    // Also for the process that comes after.
    await first.end();
    const second = await begin();
    await clock.advance(30 * SECOND);
    turns.end(turns.put[0]?.id ?? "", "answered", MINUTE);
    await clock.advance(SECOND);
    await second.end();
    expect(slots()).toEqual([START + SECOND, START + 61 * SECOND]);
    const [seen] = await jobs.list();
    expect(seen?.runs.map(({ status, runAtMs }) => [status, runAtMs - START])).toEqual([
      ["skipped", 2 * SECOND],
      ["ok", SECOND],
    ]);
    expect(seen?.runs[0]?.error).toContain("had not ended");
  });

  test("no slot again after a restart (B055)", async () => {
    const { clock, jobs, begin, slots } = setUp({ start: Date.UTC(2026, 10, 30, 21) });
    await jobs.add(job(cron("0 22 * * *")));
    const first = await begin();
    await clock.advance(HOUR);
    await first.end();
    await clock.advance(30 * MINUTE);
    const second = await begin();
    await clock.advance(HOUR);
    await second.end();
    expect(slots()).toEqual([Date.UTC(2026, 10, 30, 22)]);
  });

  test("no slot again that was put by a process that could not record it", async () => {
    const { clock, jobs, begin, slots, files, turns } = setUp({ endsTurns: false });
    await jobs.add(job(every(HOUR)));
    files.fail(new Error("the disk is full"));
    const first = await begin();
    await clock.advance(HOUR);
    await first.end();
    files.fail();
    expect((await jobs.list())[0]?.lastRunAtMs).toBeUndefined();
    const second = await begin();
    await clock.advance(HOUR);
    // The run of before is known to go on.
    expect(slots()).toEqual([START + HOUR]);
    turns.end(turns.put[0]?.id ?? "");
    await clock.advance(HOUR);
    await second.end();
    expect(slots()).toEqual([START + HOUR, START + 3 * HOUR]);
  });

  test("nothing early, and does not ask without a pause, when the time is far (B058)", async () => {
    const { clock, jobs, begin, slots } = setUp({ start: Date.UTC(2026, 10, 1, 5) });
    await jobs.add(job(cron("0 4 1 * *")));
    await jobs.add(job(every(40 * DAY)));
    const yearOn = await jobs.add(job(at(Date.UTC(2027, 10, 1, 5))));
    const first = await begin();
    await clock.advance(29 * DAY);
    expect(slots()).toEqual([]);
    await clock.advance(12 * DAY);
    expect(slots()).toEqual([Date.UTC(2026, 11, 1, 4), Date.UTC(2026, 10, 1, 5) + 40 * DAY]);
    await first.end();
    await clock.advance(323 * DAY);
    const second = await begin();
    expect(slots(yearOn.id)).toEqual([]);
    await clock.advance(DAY);
    await second.end();
    expect(slots(yearOn.id)).toEqual([Date.UTC(2027, 10, 1, 5)]);
  });

  test("a job that another process adds within 30 seconds, and one of this process at once", async () => {
    const { clock, jobs, begin, slots } = setUp();
    const { end, jobs: own, cron: service } = await begin();
    await own.add(job(every(SECOND)));
    await clock.advance(SECOND);
    expect(slots()).toEqual([START + SECOND]);
    const [mine] = await own.list();
    await own.remove(mine?.id ?? "");
    await jobs.add(job(every(31 * SECOND)));
    await clock.advance(65 * SECOND);
    expect(slots().slice(1)).toEqual([START + 32 * SECOND, START + 63 * SECOND]);
    const third = await jobs.add(job(every(10 * SECOND)));
    service.reload();
    await clock.advance(10 * SECOND);
    expect(slots(third.id)).toHaveLength(1);
    await end();
  });

  test("nothing of a job that was disabled, and makes up for nothing when it is enabled again", async () => {
    const { clock, jobs, begin, slots } = setUp();
    const { id } = await jobs.add(job(cron("0 10 * * *")));
    await jobs.setEnabled(id, false);
    const { end, cron: service } = await begin();
    await clock.advance(3 * HOUR);
    await jobs.setEnabled(id, true);
    service.reload();
    await clock.advance(2 * HOUR);
    expect(slots()).toEqual([]);
    await clock.advance(DAY);
    await end();
    expect(slots()).toEqual([START + HOUR + DAY]);
  });

  test("nothing that a schedule edited by hand would have had before", async () => {
    const { clock, jobs, begin, slots, files } = setUp();
    await jobs.add(job(cron("0 22 * * *")));
    const { end } = await begin();
    await clock.advance(3 * HOUR);
    files.write(PATH, files.text(PATH).replace("0 22 * * *", "0 10 * * *"));
    await clock.advance(2 * HOUR);
    expect(slots()).toEqual([]);
    await clock.advance(DAY);
    await end();
    expect(slots()).toEqual([START + HOUR + DAY]);
  });

  test("a slot again when the bus did not take it", async () => {
    const { clock, jobs, begin, slots, turns, log } = setUp();
    await jobs.add(job(at(START + HOUR), { deliver: true }));
    const { end } = await begin();
    turns.fail(new Error("the journal is down"));
    await clock.advance(3 * HOUR);
    expect(slots()).toEqual([]);
    expect(log.lines.filter((line) => line.includes("could not be begun"))).toHaveLength(1);
    turns.fail();
    await clock.advance(MINUTE);
    await end();
    expect(slots()).toEqual([START + HOUR]);
    expect(await jobs.list()).toEqual([]);
  });

  test("nothing while background work pauses, and what was missed once after", async () => {
    const { clock, jobs, begin, slots, pauseFor } = setUp();
    await jobs.add(job(every(10 * MINUTE)));
    await jobs.add(job(at(START + HOUR), { deliver: true }));
    const { end } = await begin();
    pauseFor(2 * HOUR + MINUTE);
    await clock.advance(2 * HOUR);
    expect(slots()).toEqual([]);
    await clock.advance(MINUTE);
    await end();
    expect(slots().sort()).toEqual([START + HOUR, START + 2 * HOUR]);
  });
});

describe("run(), when a job comes more often than it may,", () => {
  test("leaves out what is too much, records that once, and the owner hears", async () => {
    const { clock, jobs, begin, slots, exceeded } = setUp({ tasksPerHour: 5 });
    const { id } = await jobs.add(job(every(SECOND)));
    const calm = await jobs.add(job(every(20 * MINUTE)));
    const { end } = await begin();
    await clock.advance(50 * MINUTE);
    expect(slots(id)).toEqual([1, 2, 3, 4, 5].map((count) => START + count * SECOND));
    expect(slots(calm.id)).toEqual([START + 20 * MINUTE, START + 40 * MINUTE]);
    expect(exceeded).toEqual([`tasks cron:${id}`]);
    const [seen] = await jobs.list();
    expect(seen?.runs.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok", "ok", "skipped"]);
    expect(seen?.lastError).toContain("limits.tasksPerHour");
    // There is room again.
    await clock.advance(12 * MINUTE);
    await end();
    expect(slots(id)).toHaveLength(10);
  });

  test("never leaves out a job of one time, nor counts what is tried again", async () => {
    const { clock, jobs, begin, slots, turns, exceeded } = setUp({ tasksPerHour: 1 });
    const once = await jobs.add(job(at(START + HOUR)));
    const hourly = await jobs.add(job(every(HOUR)));
    const { end } = await begin();
    turns.fail(new Error("the journal is down"));
    await clock.advance(HOUR + 5 * MINUTE);
    turns.fail();
    await clock.advance(2 * MINUTE);
    await end();
    expect([slots(once.id), slots(hourly.id)]).toEqual([[START + HOUR], [START + HOUR]]);
    expect(exceeded).toEqual([]);
  });
});

describe("run(), when slots were missed,", () => {
  test("makes up for the newest, once", async () => {
    const { clock, jobs, begin, slots } = setUp();
    await jobs.add(job(every(HOUR)));
    await clock.advance(5.5 * HOUR);
    const first = await begin();
    await first.end();
    const second = await begin();
    await second.end();
    expect(slots()).toEqual([START + 5 * HOUR]);
  });

  test.each([
    ["skip", HOUR, "skipped"],
    ["once", 25 * HOUR, "skipped"],
    ["once", 23 * HOUR, "ok"],
    // Nobody would call that missed.
    ["skip", 9 * MINUTE, "ok"],
  ] as const)("with %s, after %d ms: %s", async (misfire, late, status) => {
    const { clock, jobs, begin } = setUp();
    const { id } = await jobs.add(job(cron("0 10 * * 1"), { misfire }));
    await clock.advance(HOUR + late);
    for (let restart = 0; restart < 3; restart++) await (await begin()).end();
    const [seen] = await jobs.list();
    expect([seen?.id, seen?.runs.map((run) => run.status)]).toEqual([id, [status]]);
    expect(seen?.runs[0]?.runAtMs).toBe(START + HOUR);
  });

  test("runs a job of one time that came while nobody was there, and removes it (B060)", async () => {
    const { clock, jobs, begin, slots } = setUp();
    await jobs.add(job(at(START + 2 * SECOND)));
    await jobs.add(job(at(START + 2 * SECOND), { name: "Kept", deleteAfterRun: false }));
    await clock.advance(10 * SECOND);
    const { end } = await begin();
    await clock.advance(0);
    await end();
    expect(slots()).toEqual([START + 2 * SECOND, START + 2 * SECOND]);
    expect((await jobs.list()).map(({ name, enabled, lastStatus }) => [name, enabled, lastStatus])).toEqual([
      ["Kept", false, "ok"],
    ]);
  });

  test("marks a job of one time that is long past, and keeps it to be seen (B060)", async () => {
    const { clock, jobs, begin, slots, log } = setUp();
    await jobs.add(job(at(START + HOUR), { deliver: true }));
    await clock.advance(26 * HOUR);
    await (await begin()).end();
    await (await begin()).end();
    expect(slots()).toEqual([]);
    expect(await jobs.list()).toMatchObject([
      { enabled: false, lastStatus: "skipped", lastError: expect.stringContaining("missed"), runs: [{}] },
    ]);
    expect(log.lines.filter((line) => line.includes("missed"))).toHaveLength(1);
  });

  test("tells the owner of jobs of one time that were missed, once and in one message", async () => {
    const { clock, jobs, begin, told } = setUp();
    await jobs.add(job(at(START + HOUR), { name: "Tea", message: "Make tea" }));
    await jobs.add(
      job(at(START + 2 * HOUR), { name: "Call", message: "Call Anna\nat home", misfire: "skip" }),
    );
    await jobs.add(job(cron("0 9 1 * *"), { name: "Rent" }));
    await clock.advance(60 * HOUR);
    await (await begin()).end();
    await (await begin()).end();
    expect(told()).toEqual([
      expect.stringMatching(
        /it is too late for it now:\n- 2026-11-30 10:00 \(UTC\), "Tea": Make tea\n- 2026-11-30 11:00 \(UTC\), "Call": Call Anna at home$/,
      ),
    ]);
    expect((await jobs.list()).map(({ enabled, lastStatus }) => [enabled, lastStatus])).toEqual([
      [false, "skipped"],
      [false, "skipped"],
      [true, "skipped"],
    ]);
  });

  test("gives up no missed job of one time before the owner was told of it", async () => {
    const { clock, jobs, begin, told, failToTell, log } = setUp();
    await jobs.add(job(at(START + HOUR)));
    await jobs.add(job(every(20 * MINUTE)));
    await clock.advance(30 * HOUR);
    failToTell(new Error("the disk is full"));
    const { end } = await begin();
    await clock.advance(20 * MINUTE);
    expect((await jobs.list()).map(({ enabled }) => enabled)).toEqual([true, true]);
    expect(log.lines.some((line) => line.includes("The owner was not told of jobs"))).toBe(true);
    failToTell();
    await clock.advance(20 * MINUTE);
    await end();
    expect(told()).toHaveLength(1);
    expect((await jobs.list()).map(({ enabled }) => enabled)).toEqual([false, true]);
  });

  test("makes up for the jobs one after the other, and keeps none of them from what comes on time", async () => {
    const { clock, jobs, begin, turns, slots } = setUp({ start: START + SECOND });
    for (let count = 0; count < 5; count++) await jobs.add(job(cron("0 10 * * *")));
    const { id } = await jobs.add(job(at(START + 2 * DAY + 90 * MINUTE)));
    await clock.advance(2 * DAY + 89 * MINUTE + 50 * SECOND);
    const { end } = await begin();
    const times = () =>
      turns.put.map(({ timestamp }) => Date.parse(timestamp) - START - 2 * DAY - 89 * MINUTE);
    expect(times()).toEqual([51 * SECOND]);
    await clock.advance(HOUR);
    await end();
    expect(times()).toEqual([51, 56, 60, 61, 66, 71].map((seconds) => seconds * SECOND));
    expect(new Set(slots()).size).toBe(2);
    expect(slots(id)).toHaveLength(1);
  });

  test("closes a job of one time whose process ended before it could say how it went", async () => {
    const { clock, jobs, begin, slots, turns } = setUp({ endsTurns: false });
    await jobs.add(job(at(START + HOUR)));
    const first = await begin();
    await clock.advance(HOUR);
    await first.end();
    turns.pending.clear();
    await (await begin()).end();
    expect(slots()).toEqual([START + HOUR]);
    expect(await jobs.list()).toEqual([]);
  });
});

describe("run(), when the file is broken,", () => {
  test("tells the owner once, and goes on with the jobs that it knew", async () => {
    const { clock, jobs, begin, told, files, slots } = setUp();
    await jobs.add(job(every(HOUR)));
    const good = files.text(PATH);
    const first = await begin();
    files.write(PATH, `${good}]`);
    await clock.advance(30 * SECOND);
    // What finds the line is loaded at that moment.
    await clock.whenPending(1);
    await clock.advance(2 * HOUR - 30 * SECOND);
    await first.end();
    const second = await begin();
    await clock.advance(HOUR);
    await second.end();
    expect(told()).toEqual([expect.stringMatching(/jobs\.json": line \d+: there is more after the end\./)]);
    expect(slots()).toEqual([START + HOUR, START + 2 * HOUR]);
  });

  test("says nothing of half a file that an editor is about to write", async () => {
    const { clock, jobs, begin, told, files } = setUp();
    await jobs.add(job(every(HOUR)));
    const good = files.text(PATH);
    const { end, cron: service } = await begin();
    files.write(PATH, good.slice(0, 100));
    service.reload();
    await clock.advance(30 * SECOND);
    files.write(PATH, good);
    await clock.advance(HOUR);
    await end();
    expect(told()).toEqual([]);
  });
});

describe("run(), when the clock is wrong,", () => {
  /** A file in which the last run is said to be at `lastRunAtMs`. */
  async function withLastRun(lastRunAtMs: number) {
    const fixture = setUp();
    await fixture.jobs.add(job(every(HOUR)));
    const text = fixture.files.text(PATH).replace('"lastRunAtMs": null', `"lastRunAtMs": ${lastRunAtMs}`);
    fixture.files.write(PATH, text);
    return fixture;
  }

  test("runs no slot a second time", async () => {
    const { clock, begin, slots } = await withLastRun(START + 4 * HOUR);
    const { end } = await begin();
    await clock.advance(6 * HOUR);
    await end();
    expect(slots()).toEqual([START + 5 * HOUR, START + 6 * HOUR]);
  });

  test("is not silent until a far time that somebody once believed", async () => {
    const { clock, begin, slots, jobs } = await withLastRun(START + 4 * 365 * DAY);
    const first = await begin();
    await clock.advance(2 * HOUR);
    await first.end();
    const second = await begin();
    await clock.advance(HOUR);
    await second.end();
    expect(slots()).toEqual([START + HOUR, START + 2 * HOUR, START + 3 * HOUR]);
    expect((await jobs.list())[0]?.lastRunAtMs).toBe(START + 3 * HOUR);
  });
});

describe("turnEnded()", () => {
  test("keeps the last 20 runs, with how long they took", async () => {
    const { clock, jobs, begin, turns } = setUp({ endsTurns: false });
    await jobs.add(job(every(MINUTE)));
    const { end } = await begin();
    for (let run = 0; run < 25; run++) {
      await clock.advance(MINUTE);
      turns.end(turns.put.at(-1)?.id ?? "", run === 24 ? "failed" : "answered", run);
    }
    await clock.advance(0);
    await end();
    const [seen] = await jobs.list();
    expect(seen?.runs.map(({ durationMs }) => durationMs)).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 5),
    );
    expect(seen).toMatchObject({
      lastStatus: "error",
      lastError: "failed",
      lastRunAtMs: START + 25 * MINUTE,
    });
  });

  test("records what is left to record as soon as that is possible", async () => {
    const { clock, jobs, begin, files, log, slots } = setUp();
    await jobs.add(job(every(MINUTE)));
    const { end } = await begin();
    files.fail(new Error("the disk is full"));
    await clock.advance(3 * MINUTE);
    expect((await jobs.list())[0]?.runs).toEqual([]);
    expect(log.lines.filter((line) => line.includes("Could not record"))).toHaveLength(1);
    files.fail();
    await clock.advance(MINUTE);
    await end();
    expect((await jobs.list())[0]?.runs.map(({ runAtMs }) => runAtMs)).toEqual(slots());
    expect(slots()).toHaveLength(4);
  });

  test("leaves a turn that shutdown cut off to the next process", async () => {
    const { clock, jobs, begin, turns } = setUp({ endsTurns: false });
    await jobs.add(job(at(START + HOUR)));
    const first = await begin();
    await clock.advance(HOUR);
    await first.end();
    const [put] = turns.put;
    first.cron.turnEnded({
      type: "turn.ended",
      inboundId: put?.id ?? ("" as never),
      status: "stopped",
      durationMs: 5,
    });
    await first.cron.flush();
    expect((await jobs.list())[0]).toMatchObject({ enabled: true, runs: [] });
    const second = await begin();
    turns.end(put?.id ?? "", "answered", 7);
    await clock.advance(0);
    await second.end();
    expect(await jobs.list()).toEqual([]);
  });

  test("keeps a job of one time that failed, disabled, and one that was put off meanwhile as it is", async () => {
    const { clock, jobs, begin, turns, files } = setUp({ endsTurns: false });
    await jobs.add(job(at(START + HOUR), { name: "Failed" }));
    await jobs.add(job(at(START + HOUR + SECOND), { name: "Put off" }));
    const { end } = await begin();
    await clock.advance(HOUR + SECOND);
    files.write(PATH, files.text(PATH).replace(`"atMs": ${START + HOUR + SECOND}`, `"atMs": ${START + DAY}`));
    for (const { id } of turns.put) turns.end(id, id.endsWith(`${START + HOUR}`) ? "failed" : "answered");
    await clock.advance(0);
    await end();
    expect((await jobs.list()).map(({ name, enabled }) => [name, enabled])).toEqual([
      ["Failed", false],
      ["Put off", true],
    ]);
  });

  test("ignores turns of others", async () => {
    const { jobs, begin, turns, clock } = setUp();
    await jobs.add(job(every(HOUR)));
    const { end } = await begin();
    for (const id of ["telegram:1", "cron:x", "cron::", `cron:gone:${START}`, `cron:gone:${START}/note`])
      turns.end(id, "failed");
    await clock.advance(0);
    await end();
    expect((await jobs.list())[0]?.runs).toEqual([]);
  });
});

describe("runNow()", () => {
  test("runs a job at once, and its next slot all the same", async () => {
    const { clock, jobs, begin, slots } = setUp();
    const { id } = await jobs.add(job(every(HOUR)));
    const { end, cron: service } = await begin();
    await clock.advance(10 * MINUTE);
    expect(await service.runNow(id, { force: false })).toBe(true);
    await clock.advance(HOUR);
    await end();
    expect(slots()).toEqual([START + 10 * MINUTE, START + HOUR]);
  });

  test("tries out a job of one time, which comes all the same", async () => {
    const { clock, jobs, begin, slots } = setUp();
    const { id } = await jobs.add(job(at(START + HOUR)));
    const { end, cron: service } = await begin();
    await clock.advance(MINUTE);
    await service.runNow(id, { force: false });
    await clock.advance(HOUR);
    await end();
    expect(slots()).toEqual([START + MINUTE, START + HOUR]);
    expect(await jobs.list()).toEqual([]);
  });

  test("keeps a slot of one time back until the run that was asked for has ended", async () => {
    const { clock, jobs, begin, slots, turns } = setUp({ endsTurns: false });
    const { id } = await jobs.add(job(at(START + HOUR)));
    const { end, cron: service } = await begin();
    await service.runNow(id, { force: false });
    await clock.advance(2 * HOUR);
    expect(slots()).toEqual([START]);
    turns.end(turns.put[0]?.id ?? "");
    await clock.advance(0);
    await end();
    expect(slots()).toEqual([START, START + HOUR]);
  });

  test("refuses a job that there is not, that is disabled, or that runs", async () => {
    const { jobs, begin, slots, clock } = setUp({ endsTurns: false });
    const { id } = await jobs.add(job(every(HOUR)));
    await jobs.setEnabled(id, false);
    const { end, cron: service } = await begin();
    await expect(service.runNow("nobody", { force: true })).rejects.toThrow('There is no job "nobody"');
    await expect(service.runNow(id, { force: false })).rejects.toThrow("it is disabled");
    await service.runNow(id, { force: true });
    await clock.advance(SECOND);
    await expect(service.runNow(id, { force: true })).rejects.toThrow("it runs already");
    await end();
    expect(slots()).toEqual([START]);
  });
});

describe("route()", () => {
  const signal = new AbortController().signal;

  async function routed(
    changes: Partial<NewJob>,
    result: { outcome: "answer" | "error"; content: string },
    { schedule = every(HOUR), failedBefore = false, owner = true, gone = false } = {},
  ) {
    const { clock, jobs, begin, turns, setOwner } = setUp({ endsTurns: false });
    if (!owner) setOwner(undefined);
    const { id } = await jobs.add(job(schedule, changes));
    const { end, cron: service } = await begin();
    await clock.advance(HOUR);
    if (failedBefore) {
      turns.end(turns.put[0]?.id ?? "", "failed");
      await clock.advance(HOUR);
    }
    const message = turns.put.at(-1);
    if (message === undefined) throw new Error("Nothing was put");
    if (gone) await jobs.remove(id);
    const target = await service.route(message, result, signal);
    expect(await service.route(message, result, signal)).toEqual(target);
    await end();
    return target;
  }

  const answer = { outcome: "answer", content: "It rains" } as const;
  const error = { outcome: "error", content: "I could not answer: no credit." } as const;
  const deliver = { deliver: true, to };

  test("sends an answer to the job's chat, in its thread", async () => {
    expect(await routed(deliver, answer)).toEqual({ ...to, content: "It rains" });
    expect(await routed(deliver, answer, { gone: true })).toEqual({ ...to, content: "It rains" });
  });

  test("sends it to the owner where no chat is named, or none of a channel there is", async () => {
    const owners = { channel: "telegram", chatId: "owner", content: "It rains" };
    expect(await routed({ deliver: true }, answer)).toEqual(owners);
    expect(await routed({ deliver: true, to: { channel: "cli", chatId: "direct" } }, answer)).toEqual(owners);
    expect(await routed({ deliver: true }, answer, { owner: false })).toBeUndefined();
  });

  test.each(["", " \n", "NO_REPLY", "**NO_REPLY**", "`NO_REPLY`.\n"])(
    "tells nobody of an answer that says nothing: %j",
    async (content) => {
      expect(await routed(deliver, { outcome: "answer", content })).toBeUndefined();
    },
  );

  test("tells nobody of a job that nobody wanted to hear of", async () => {
    for (const result of [answer, error]) expect(await routed({ to }, result)).toBeUndefined();
    expect(await routed({ to }, answer, { schedule: at(START + HOUR) })).toBeUndefined();
  });

  test("tells the owner of a job of one time that failed, which is disabled then", async () => {
    const target = await routed({ to }, error, { schedule: at(START + HOUR) });
    expect(target).toMatchObject({ channel: "telegram", chatId: "owner" });
    expect(target?.content).toContain("Make tea");
  });

  test("names the session that the job was made in, and none for the owner's chat", async () => {
    const made = { ...to, sessionKey: "telegram:7:topic:3" };
    expect(await routed({ deliver: true, to: made }, answer)).toEqual({ ...made, content: "It rains" });
    expect(await routed({ deliver: true, to: made }, answer, { gone: true })).toMatchObject(made);
    const elsewhere = { channel: "cli", chatId: "direct", sessionKey: "cli:direct" };
    const target = await routed({ deliver: true, to: elsewhere }, answer);
    expect(target).toEqual({ channel: "telegram", chatId: "owner", content: "It rains" });
  });

  test("never lets a reminder get lost: its own text comes with the failure", async () => {
    const target = await routed(deliver, error, { schedule: at(START + HOUR) });
    expect(target).toMatchObject(to);
    expect(target?.content).toContain("Make tea");
    expect(target?.content).toContain("no credit");
  });

  test("tells of the first of several failures", async () => {
    expect((await routed(deliver, error))?.content).toContain("no credit");
    expect(await routed(deliver, error, { failedBefore: true })).toBeUndefined();
    expect(await routed(deliver, answer, { failedBefore: true })).toMatchObject({ content: "It rains" });
  });
});
