import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import fc from "fast-check";
import { UserError } from "../../src/core/errors.ts";
import type { FileSystem } from "../../src/core/platform.ts";
import type { NewJob } from "../../src/core/schedule.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createIds } from "../../src/platform/ids.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createJobs } from "../../src/schedule/jobs.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

const START = Date.UTC(2026, 10, 30, 9);
const HOUR = 60 * 60_000;

const tea: NewJob = {
  name: "Tea",
  message: "Make tea",
  schedule: { kind: "every", everyMs: HOUR },
  deliver: true,
  to: { channel: "telegram", chatId: "7", thread: "3", sessionKey: "telegram:7:topic:3" },
};

function setUp({ legacy = false, mostJobs = 100 } = {}) {
  const workspace = tempFolder();
  const folder = join(workspace, "cron");
  const path = join(folder, "jobs.json");
  const legacyFile = join(tempFolder(), "jobs.json");
  const log = createFakeLog();
  const clock = createFakeClock(START);
  const open = (files: FileSystem = createFileSystem()) =>
    createJobs({
      files,
      locks: createLocks({ os: process.platform, folder: workspace }),
      clock,
      ids: createIds({ now: clock.now, random: Math.random }),
      log,
      workspace,
      legacyFile: legacy ? legacyFile : undefined,
      timeZone: "Europe/Berlin",
      mostJobs,
    });
  mkdirSync(folder);
  return {
    folder,
    path,
    legacyFile,
    log,
    clock,
    open,
    jobs: open(),
    text: () => readFileSync(path, "utf8"),
    stored: () => JSON.parse(readFileSync(path, "utf8")),
    /** As an editor saves it: another file in the place of the old one. */
    save(content: unknown, name = path) {
      writeFileSync(
        `${name}.new`,
        typeof content === "string" ? content : JSON.stringify(content, undefined, 2),
      );
      renameSync(`${name}.new`, name);
    },
  };
}

/** The first version's shape. */
const firstGeneration = {
  version: 1,
  jobs: [
    {
      id: "a1b2c3d4",
      name: "water",
      enabled: true,
      schedule: { kind: "every", atMs: null, everyMs: 3_600_000, expr: null, tz: null },
      payload: { kind: "agent_turn", message: "Drink!", deliver: true, channel: "telegram", to: "12345" },
      state: { nextRunAtMs: START + 1, lastRunAtMs: START - 5, lastStatus: "ok", lastError: null },
      createdAtMs: 1_700_000_000_000,
      updatedAtMs: 1_700_000_000_000,
      deleteAfterRun: false,
    },
  ],
};

/** Today's shape, in snake_case and with what Python and people leave in it. */
const newerGeneration = {
  version: 1,
  made_by: "somebody",
  jobs: [
    {
      id: "11112222",
      name: "news",
      enabled: true,
      schedule: { kind: "cron", at_ms: null, every_ms: "", expr: "0 9 * * *", tz: "Asia/Tokyo" },
      payload: {
        kind: "agent_turn",
        message: "The news",
        deliver: false,
        channel: null,
        to: null,
        session_key: "slack:C1:171.5",
        origin_channel: "slack",
        origin_chat_id: "C1",
        origin_metadata: { slack: { thread_ts: "171.5" } },
      },
      state: {
        next_run_at_ms: null,
        last_run_at_ms: "1700000000000",
        last_status: "error",
        last_error: "boom",
        run_history: [
          null,
          { run_at_ms: 1_700_000_000_000, status: "error", duration_ms: 12, error: "boom" },
          7,
        ],
      },
      created_at_ms: "1690000000000",
      updated_at_ms: 1_690_000_000_000,
      delete_after_run: false,
      colour: "blue",
    },
    {
      id: "dream",
      name: "dream",
      enabled: true,
      schedule: { kind: "every", everyMs: 7_200_000 },
      payload: { kind: "system_event", message: "" },
    },
  ],
};

describe("list()", () => {
  test("reads the first version's file", async () => {
    const { jobs, save } = setUp();
    save(firstGeneration);
    expect(await jobs.list()).toEqual([
      {
        id: "a1b2c3d4",
        name: "water",
        enabled: true,
        schedule: { kind: "every", everyMs: 3_600_000 },
        message: "Drink!",
        deliver: true,
        to: { channel: "telegram", chatId: "12345" },
        misfire: "once",
        deleteAfterRun: false,
        nextRunAtMs: 1_700_000_000_000 + Math.ceil((START - 1_700_000_000_000) / HOUR) * HOUR,
        lastRunAtMs: START - 5,
        lastStatus: "ok",
        lastError: undefined,
        runs: [],
        createdAtMs: 1_700_000_000_000,
        updatedAtMs: 1_700_000_000_000,
      },
    ]);
  });

  test("reads today's file, whose jobs answer where they were made, and leaves out what is not for us", async () => {
    const { jobs, save, log } = setUp();
    save(newerGeneration);
    expect(await jobs.list()).toMatchObject([
      {
        id: "11112222",
        schedule: { kind: "cron", expr: "0 9 * * *", tz: "Asia/Tokyo" },
        deliver: true,
        to: { channel: "slack", chatId: "C1", thread: "171.5" },
        lastRunAtMs: 1_700_000_000_000,
        lastStatus: "error",
        lastError: "boom",
        runs: [{ runAtMs: 1_700_000_000_000, status: "error", durationMs: 12, error: "boom" }],
        createdAtMs: 1_690_000_000_000,
        nextRunAtMs: Date.UTC(2026, 11, 1, 0),
      },
    ]);
    expect(log.lines).toEqual([]);
  });

  test("keeps halves of characters from the models, and remembers in which session a job was made", async () => {
    const { jobs, save } = setUp();
    const [good] = firstGeneration.jobs;
    const payload = { ...good?.payload, message: "Tea \ud83d", sessionKey: "telegram:7:topic:3" };
    const flood = { ...payload, sessionKey: "k".repeat(1_001) };
    save({
      version: 1,
      jobs: [
        { ...good, name: "\ud83d", payload },
        { ...good, id: "flood", payload: flood },
      ],
    });
    const [first, second] = await jobs.list();
    expect([first?.name, first?.message]).toEqual(["\ufffd", "Tea \ufffd"]);
    expect(first?.to).toMatchObject({ sessionKey: "telegram:7:topic:3" });
    expect(second?.to).not.toHaveProperty("sessionKey");
  });

  test("is empty without a file, and makes none", async () => {
    const { jobs, path } = setUp();
    expect(await jobs.list()).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });

  test("leaves out a job that cannot be understood, says so once, and keeps it where it is", async () => {
    const { jobs, save, log, stored } = setUp();
    const [good] = firstGeneration.jobs;
    const bad = [
      null,
      7,
      "job",
      {},
      { ...good, id: "b1", schedule: { kind: "every", everyMs: "soon" } },
      { ...good, id: "b2", schedule: { kind: "every", everyMs: 5 } },
      { ...good, id: "b3", schedule: { kind: "cron", expr: "at noon" } },
      { ...good, id: "b4", schedule: { kind: "cron", expr: "0 9 * * *", tz: "Mars/Olympus" } },
      { ...good, id: "b5", schedule: { kind: "at", atMs: null } },
      { ...good, id: "b6", schedule: null },
      { ...good, id: "b7", payload: { kind: "agent_turn", message: "  " } },
      { ...good, id: "b8", payload: { kind: "shell", message: "x" } },
      { ...good, id: "b9", enabled: "yes" },
      { ...good, id: "b10", payload: { message: "x".repeat(10_001) } },
      { ...good, id: "b\u0000" },
      { ...good, id: "b\n" },
      { ...good, id: "b\ud83d" },
      { ...good, id: "x".repeat(201) },
      good,
    ];
    save({ version: 1, jobs: [good, ...bad] });
    expect((await jobs.current()).jobs.map(({ id }) => id)).toEqual(["a1b2c3d4"]);
    expect((await jobs.list()).map(({ id }) => id)).toEqual(["a1b2c3d4"]);
    await jobs.add(tea);
    await jobs.current();
    expect(log.lines).toHaveLength(bad.length);
    expect(stored().jobs.slice(0, -1)).toEqual([good, ...bad]);
    await jobs.current();
    expect(log.lines).toHaveLength(bad.length);
    expect(await jobs.unreadable()).toHaveLength(bad.length);
  });

  test("tells commands of what cannot be understood when they ask, and nobody else", async () => {
    const { jobs, save, log } = setUp();
    const [good] = firstGeneration.jobs;
    save({ version: 1, jobs: [good, 7, { ...good, id: "b1", name: "One\ntwo", schedule: null }] });
    await jobs.list();
    await jobs.remove("x");
    expect(await jobs.unreadable()).toEqual([
      { place: 2, id: undefined, name: undefined, problem: "it is no object" },
      { place: 3, id: "b1", name: "One two", problem: expect.stringContaining("of no kind that is known") },
    ]);
    expect(log.lines).toEqual([]);
  });
});

const broken: readonly (readonly [string, string | Uint8Array, string])[] = [
  [
    "a comma too many",
    '{\n  "version": 1,\n  "jobs": [\n    {"id": "a"},\n  ]\n}',
    "line 4: there is a comma too many",
  ],
  ["half a file", '{"version": 1, "jobs": [{"id": "a", "na', "line 1: a string is not closed"],
  ["nothing", "", "it is empty"],
  ["another shape", "[]", "it is no object with a list of jobs"],
  ["no list", '{"jobs": {"a": 1}}', 'its "jobs" are no list'],
  ["bytes", new Uint8Array([0x7b, 0xff, 0xfe]), "the text is not UTF-8"],
  ["a newer version", '{"version": 2, "jobs": []}', "a newer nanobot wrote it"],
  ["nesting", `{"jobs": [{"id": "a", "more": ${"[".repeat(9_000)}${"]".repeat(9_000)}}]}`, "100 deep"],
  ["half a nesting", `{"jobs": ${"[".repeat(100_000)}`, "it is nested too deeply"],
  ["too much", `{"jobs": [${" ".repeat(4 * 1024 * 1024)}]}`, "it is larger than 4 MiB"],
];

describe.each(broken)("with a file that is broken by %s (B051),", (_, content, problem) => {
  test("nothing is written over it, what is asked for is refused, and it is reported once", async () => {
    const { jobs, path, log, clock } = setUp();
    writeFileSync(path, content);
    const before = readFileSync(path);
    expect((await jobs.current()).jobs).toEqual([]);
    await jobs.current();
    for (const work of [
      () => jobs.list(),
      () => jobs.add(tea),
      () => jobs.remove("a"),
      () => jobs.setEnabled("a", false),
      () => jobs.record([{ kind: "put", jobId: "a", slotMs: clock.now() }]),
    ]) {
      await expect(work()).rejects.toThrow(UserError);
      await expect(work()).rejects.toThrow(problem);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(join(path, ".."))).toEqual(["jobs.json"]);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toContain(problem);
  });

  test("the jobs that were known go on, until it is mended", async () => {
    const { jobs, path, save } = setUp();
    await jobs.add(tea);
    const good = readFileSync(path, "utf8");
    expect((await jobs.current()).jobs).toHaveLength(1);
    writeFileSync(path, content);
    expect((await jobs.current()).jobs.map(({ name }) => name)).toEqual(["Tea"]);
    save(good.replace("Make tea", "Make coffee"));
    expect((await jobs.current()).jobs.map(({ message }) => message)).toEqual(["Make coffee"]);
    expect((await jobs.add(tea)).name).toBe("Tea");
  });
});

describe("add()", () => {
  test("writes a job in the original's shape", async () => {
    const { jobs, stored, path } = setUp();
    const job = await jobs.add({ ...tea, misfire: "skip" });
    expect(job).toMatchObject({
      ...tea,
      enabled: true,
      misfire: "skip",
      deleteAfterRun: false,
      nextRunAtMs: START + HOUR,
    });
    expect(job.id).toMatch(/^[a-z0-9]{8}$/);
    expect(stored()).toEqual({
      version: 1,
      jobs: [
        {
          id: job.id,
          name: "Tea",
          enabled: true,
          schedule: { kind: "every", everyMs: HOUR },
          payload: {
            kind: "agent_turn",
            message: "Make tea",
            deliver: true,
            channel: "telegram",
            to: "7",
            thread: "3",
            sessionKey: "telegram:7:topic:3",
          },
          state: {
            nextRunAtMs: START + HOUR,
            lastRunAtMs: null,
            lastStatus: null,
            lastError: null,
            runHistory: [],
          },
          createdAtMs: START,
          updatedAtMs: START,
          deleteAfterRun: false,
          misfire: "skip",
        },
      ],
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await jobs.list()).toEqual([job]);
  });

  test("deletes jobs of one time after their run, unless it is told not to", async () => {
    const { jobs } = setUp();
    const schedule = { kind: "at", atMs: START + HOUR } as const;
    expect((await jobs.add({ ...tea, schedule })).deleteAfterRun).toBe(true);
    expect((await jobs.add({ ...tea, schedule, deleteAfterRun: false })).deleteAfterRun).toBe(false);
  });

  test("keeps every field that it does not know, of the file and of each job", async () => {
    const { jobs, save, stored } = setUp();
    save(newerGeneration);
    await jobs.add(tea);
    await jobs.record([{ kind: "put", jobId: "11112222", slotMs: START }]);
    const { jobs: all, ...rest } = stored();
    expect(rest).toEqual({ version: 1, made_by: "somebody" });
    expect(all[1]).toEqual(newerGeneration.jobs[1]);
    const { state, ...job } = all[0];
    const { state: _, ...before } = newerGeneration.jobs[0] ?? {};
    expect(job).toEqual(before);
    expect(state).toMatchObject({
      lastRunAtMs: START,
      nextRunAtMs: Date.UTC(2026, 11, 1),
      last_status: "error",
    });
    expect(state).not.toHaveProperty("last_run_at_ms");
    expect(state).not.toHaveProperty("next_run_at_ms");
  });

  test("refuses one job too many, a message that says nothing or too much, and a time that is past", async () => {
    const { jobs, stored } = setUp({ mostJobs: 2 });
    await jobs.add(tea);
    await expect(jobs.add({ ...tea, message: " \u200b" })).rejects.toThrow("says nothing");
    await expect(jobs.add({ ...tea, message: "x".repeat(10_001) })).rejects.toThrow("longer than 10000");
    await expect(jobs.add({ ...tea, schedule: { kind: "at", atMs: START } })).rejects.toThrow(
      "has passed already",
    );
    await expect(jobs.add({ ...tea, schedule: { kind: "cron", expr: "0 0 30 2 *" } })).rejects.toThrow(
      "never comes",
    );
    await jobs.add(tea);
    await expect(jobs.add(tea)).rejects.toThrow("there are 2 already, and limits.jobs allows 2");
    expect(stored().jobs).toHaveLength(2);
  });

  test("says how many jobs there are, and how many there may be", async () => {
    const { jobs, save } = setUp({ mostJobs: 2 });
    const [good] = firstGeneration.jobs;
    save({ version: 1, jobs: ["a", "b", "c"].map((id) => ({ ...good, id })) });
    await expect(jobs.add(tea)).rejects.toThrow("there are 3 already, and limits.jobs allows 2");
  });

  test.each<[NewJob["schedule"], readonly unknown[]]>([
    [{ kind: "every", everyMs: 1_000 }, [expect.stringMatching(/more often than once a minute.* 3600$/)]],
    [
      { kind: "cron", expr: "*/20 * * * * *" },
      [expect.stringMatching(/more often than once a minute.* 180$/)],
    ],
    [{ kind: "every", everyMs: 60_000 }, []],
    [{ kind: "cron", expr: "* * * * *" }, []],
  ])(
    "warns of %j that comes more often than once a minute, and how often that is",
    async (schedule, lines) => {
      const { jobs, log } = setUp();
      await jobs.add({ ...tea, schedule });
      expect(log.lines).toEqual(lines as string[]);
    },
  );

  test("cuts a name that is long, folds its lines, and makes one of the message where there is none", async () => {
    const { jobs } = setUp();
    expect((await jobs.add({ ...tea, name: "x".repeat(500) })).name).toHaveLength(200);
    expect((await jobs.add({ ...tea, name: "a\n\u001b[1mb" })).name).toBe("a b");
    expect((await jobs.add({ ...tea, name: "  " })).name).toBe("Make tea");
  });

  test("is not disturbed by others that add at the same time", async () => {
    const { jobs, open, stored } = setUp();
    const [one, other] = [open(), open()];
    await Promise.all([jobs, one, other].flatMap((store) => [1, 2, 3].map(() => store.add(tea))));
    expect(stored().jobs).toHaveLength(9);
    expect(new Set((await jobs.list()).map(({ id }) => id)).size).toBe(9);
  });

  test("tells whoever listens, and record() does not", async () => {
    const { jobs } = setUp();
    let heard = 0;
    const stop = jobs.onChange(() => heard++);
    const { id } = await jobs.add(tea);
    await jobs.record([{ kind: "put", jobId: id, slotMs: START }]);
    expect(heard).toBe(1);
    await jobs.setEnabled(id, false);
    stop();
    await jobs.remove(id);
    expect(heard).toBe(2);
  });
});

describe("a change", () => {
  test("is made on what an editor has saved meanwhile", async () => {
    const { jobs, save, stored } = setUp();
    const { id } = await jobs.add(tea);
    const file = stored();
    file.jobs[0].payload.message = "Make coffee";
    file.jobs.push({ ...file.jobs[0], id: "by-hand" });
    save(file);
    await jobs.record([
      { kind: "ended", jobId: id, slotMs: START, run: { runAtMs: START, status: "ok", durationMs: 5 } },
    ]);
    expect((await jobs.list()).map((job) => [job.id, job.message, job.lastStatus])).toEqual([
      [id, "Make coffee", "ok"],
      ["by-hand", "Make coffee", undefined],
    ]);
  });

  test("begins anew when an editor saves the file while it is made", async () => {
    const { open, save, path, stored } = setUp();
    const system = createFileSystem();
    let looks = 0;
    const jobs = open({
      ...system,
      async stat(at) {
        // Between the reading and the writing.
        if (at === path && ++looks === 3) save({ ...firstGeneration, by: "hand" });
        return system.stat(at);
      },
    });
    await jobs.add(tea);
    expect(stored()).toMatchObject({ by: "hand", jobs: [{ name: "water" }, { name: "Tea" }] });
  });

  test("keeps a job of one time that failed, whatever is known of its run later", async () => {
    const { jobs } = setUp();
    const { id } = await jobs.add({ ...tea, schedule: { kind: "at", atMs: START + HOUR } });
    const slot = { kind: "ended", jobId: id, slotMs: START + HOUR } as const;
    const run = { runAtMs: START + HOUR, status: "error", durationMs: 1, error: "no credit" } as const;
    await jobs.record([{ ...slot, run }, slot]);
    expect(await jobs.list()).toMatchObject([{ enabled: false, lastError: "no credit", runs: [run] }]);
  });

  test("keeps the permissions of the file", async () => {
    const { jobs, path, save } = setUp();
    save(firstGeneration);
    const { mode } = statSync(path);
    await jobs.add(tea);
    expect(statSync(path).mode).toBe(mode);
  });

  test("of a job that is gone is none", async () => {
    const { jobs, text } = setUp();
    await jobs.add(tea);
    const before = text();
    expect(await jobs.remove("nobody")).toBeUndefined();
    expect(await jobs.setEnabled("nobody", true)).toBeUndefined();
    await jobs.record([{ kind: "put", jobId: "nobody", slotMs: START }]);
    expect(text()).toBe(before);
  });

  test("never touches the original's own jobs", async () => {
    const { jobs, save, text } = setUp();
    save(newerGeneration);
    const before = text();
    expect(await jobs.remove("dream")).toBeUndefined();
    expect(await jobs.setEnabled("dream", false)).toBeUndefined();
    expect(text()).toBe(before);
  });
});

describe("setEnabled()", () => {
  test("switches a job, and says when it runs", async () => {
    const { jobs, clock, stored } = setUp();
    const { id } = await jobs.add(tea);
    await clock.advance(HOUR);
    expect(await jobs.setEnabled(id, false)).toMatchObject({ enabled: false, nextRunAtMs: undefined });
    expect(stored().jobs[0]).toMatchObject({
      enabled: false,
      updatedAtMs: START + HOUR,
      state: { nextRunAtMs: null },
    });
    expect(await jobs.setEnabled(id, true)).toMatchObject({ enabled: true, nextRunAtMs: START + 2 * HOUR });
  });

  test("refuses a job of one time whose time has passed", async () => {
    const { jobs, clock } = setUp();
    const { id } = await jobs.add({ ...tea, schedule: { kind: "at", atMs: START + HOUR } });
    await jobs.setEnabled(id, false);
    await clock.advance(2 * HOUR);
    await expect(jobs.setEnabled(id, true)).rejects.toThrow("its time has passed");
  });
});

describe("the jobs of an older place", () => {
  test("are copied once, and left where they were", async () => {
    const { jobs, open, legacyFile, save, stored, log } = setUp({ legacy: true });
    save(firstGeneration, legacyFile);
    expect((await jobs.list()).map(({ name }) => name)).toEqual(["water"]);
    expect(JSON.parse(readFileSync(legacyFile, "utf8"))).toEqual(firstGeneration);
    expect(stored()).toEqual(firstGeneration);
    await jobs.remove("a1b2c3d4");
    expect(await open().list()).toEqual([]);
    expect(log.lines.filter((line) => line.includes("Copied"))).toHaveLength(1);
  });

  test("are left alone when the workspace has its own, and when they are broken", async () => {
    const own = setUp({ legacy: true });
    own.save(firstGeneration, own.legacyFile);
    own.save({ version: 1, jobs: [] });
    expect(await own.jobs.list()).toEqual([]);

    const damaged = setUp({ legacy: true });
    damaged.save('{"jobs": [,]}', damaged.legacyFile);
    expect(await damaged.jobs.list()).toEqual([]);
    expect(existsSync(damaged.path)).toBe(false);
    expect(damaged.log.lines.join()).toContain("line 1");
    expect((await damaged.jobs.add(tea)).name).toBe("Tea");
  });
});

describe("changes that the original's other programs asked for", () => {
  test("are taken over once, and kept under another name", async () => {
    const { jobs, folder, save, open, log, stored } = setUp();
    save({
      version: 1,
      jobs: [
        firstGeneration.jobs[0],
        { ...firstGeneration.jobs[0], id: "gone" },
        { ...firstGeneration.jobs[0], id: "stays" },
      ],
    });
    const added = {
      id: "new",
      name: "added",
      enabled: true,
      schedule: { kind: "every", every_ms: 60_000 },
      payload: { kind: "agent_turn", message: "x", origin_channel: "telegram", origin_chat_id: "5" },
      state: {},
    };
    const updated = { ...firstGeneration.jobs[0], name: "changed", state: { lastRunAtMs: 1 } };
    const lines = [
      { action: "add", params: added },
      { action: "update", params: updated },
      { action: "del", params: { job_id: "gone" } },
      { action: "explode", params: {} },
    ].map((line) => JSON.stringify(line));
    writeFileSync(join(folder, "action.jsonl"), `${lines.join("\n")}\n{"action": "add", "par`);
    const expected = [
      ["stays", "water"],
      ["new", "added"],
      ["a1b2c3d4", "changed"],
    ];
    expect((await jobs.list()).map(({ id, name }) => [id, name])).toEqual(expected);
    expect(stored().jobs[2].state.lastRunAtMs).toBe(START - 5);
    expect((await open().list()).map(({ id, name }) => [id, name])).toEqual(expected);
    expect(readdirSync(folder).sort()).toEqual([
      expect.stringMatching(/^action\.jsonl\.merged-/),
      "jobs.json",
    ]);
    expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(2);
  });

  test("stay where they are as long as the jobs cannot be read", async () => {
    const { jobs, folder, save } = setUp();
    save("{");
    writeFileSync(join(folder, "action.jsonl"), '{"action": "del", "params": {"job_id": "a"}}\n');
    expect((await jobs.current()).jobs).toEqual([]);
    expect(readdirSync(folder).sort()).toEqual(["action.jsonl", "jobs.json"]);
  });

  test("say nothing more of a file that cannot be read than whoever asks is told", async () => {
    const { jobs, folder, save, log } = setUp();
    save("{");
    writeFileSync(join(folder, "action.jsonl"), '{"action": "del", "params": {"job_id": "a"}}\n');
    await expect(jobs.list()).rejects.toMatchObject({ hint: "Mend it: until then it is left as it is" });
    expect(log.lines).toEqual([]);
  });
});

test("whatever JSON a file holds, it is read or refused, and nothing in it is lost by a change", async () => {
  const { jobs, path, stored } = setUp();
  const key = fc.constantFrom(
    "id",
    "name",
    "schedule",
    "payload",
    "state",
    "kind",
    "every_ms",
    "everyMs",
    "x",
    "__proto__",
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<unknown>(null, true, 1, -1, 3_600_000, "", "every", "at", "5", "a"),
      fc.array(tie("any"), { maxLength: 3 }),
      fc.dictionary(key, tie("any"), { maxKeys: 5 }),
    ),
  })).any;
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 4 }), value, async (list, extra) => {
      const content = JSON.stringify({ version: 1, extra, jobs: list });
      writeFileSync(`${path}.new`, content);
      renameSync(`${path}.new`, path);
      await jobs.list();
      const { id } = await jobs.add(tea);
      await jobs.remove(id);
      expect(stored()).toEqual(JSON.parse(content));
    }),
    { numRuns: 60 },
  );
});
