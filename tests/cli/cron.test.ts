import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { command } from "../../src/cli/cron.ts";
import { help } from "../../src/cli/help.ts";
import type { App } from "../../src/core/app.ts";
import { UserError } from "../../src/core/errors.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createJobs } from "../../src/schedule/jobs.ts";
import type { FakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp, runCommand } from "./fixture.ts";

const HOUR = 60 * 60_000;
/** 2023-11-14T22:13:20Z. */
const NOW = 1_700_000_000_000;

const NO_GATEWAY = "No gateway runs for this workspace: jobs wait until one does (nanobot gateway)\n";
const STATUS = {
  version: "1",
  pid: 1,
  startedAt: "2023-11-14T22:00:00.000Z",
  address: "http://127.0.0.1:1",
  journal: null,
  outbox: 0,
};

/** The command line of a workspace, with a gateway that answers, or with none. */
function setUp({
  gateway,
  mask = (text: string) => text,
  env = {},
}: {
  env?: Readonly<Record<string, string>>;
  gateway?: (name: string, args: JsonObject) => Awaited<ReturnType<App["askGateway"]>>;
  mask?: App["mask"];
} = {}) {
  const home = tempFolder();
  const app = createTestApp({ home, env });
  const workspace = join(home, "workspace");
  const log = createFakeLog();
  const asked: [string, JsonObject][] = [];
  let ids = 0;
  let channelsAsked = 0;
  const jobs = createJobs({
    files: createFileSystem(),
    locks: createLocks({ os: process.platform, folder: home }),
    clock: app.platform.clock,
    ids: { next: () => `job0000${++ids}` },
    log,
    workspace,
    legacyFile: undefined,
    timeZone: "Europe/Berlin",
    mostJobs: 100,
  });

  const run = (...args: string[]) =>
    runCommand(
      app,
      {
        log,
        mask,
        jobs: async () => jobs,
        async channels() {
          channelsAsked++;
          return ["telegram", "webhook"].map((name) => ({
            name,
            enabled: name === "telegram",
            exists: true,
            problem: undefined,
          }));
        },
        async askGateway(name, given) {
          asked.push([name, given]);
          return gateway?.(name, given) ?? { running: false };
        },
      },
      ["cron", ...args],
    );
  return {
    run,
    jobs,
    asked,
    log,
    workspace,
    clock: app.platform.clock as FakeClock,
    channelsAsked: () => channelsAsked,
    /** Somebody writes the file by hand. */
    save(content: unknown): void {
      mkdirSync(join(workspace, "cron"), { recursive: true });
      writeFileSync(join(workspace, "cron", "jobs.json"), JSON.stringify(content));
    },
    add: (...args: string[]) => run("add", "--name", "Tea", "--message", "Make tea", ...args),
  };
}

describe("nanobot cron add", () => {
  test.each<[string[], object, string]>([
    [
      ["--every", "10m"],
      { schedule: { kind: "every", everyMs: 600_000 } },
      "every 10 minutes, next run 2023-11-14 23:23:20",
    ],
    [["--every", "3600"], { schedule: { kind: "every", everyMs: HOUR } }, "every 1 hour"],
    [
      ["--cron", "0 9 * * *"],
      { schedule: { kind: "cron", expr: "0 9 * * *" } },
      "next run 2023-11-15 09:00 (Europe/Berlin)",
    ],
    [
      ["--cron", "0 9 * * *", "--tz", "Asia/Tokyo", "--misfire", "skip"],
      { schedule: { kind: "cron", expr: "0 9 * * *", tz: "Asia/Tokyo" }, misfire: "skip" },
      "0 9 * * * (Asia/Tokyo), next run 2023-11-15 01:00 (Europe/Berlin)",
    ],
    [
      ["--at", "2023-11-15T01:00"],
      { schedule: { kind: "at", atMs: Date.UTC(2023, 10, 15) }, deleteAfterRun: true },
      "at 2023-11-15 01:00",
    ],
    [["--every", "1h"], {}, ", tells nobody\n"],
    [["--every", "1h", "--deliver"], { deliver: true }, ", tells the owner\n"],
    [
      ["--every", "1h", "--deliver", "--channel", "telegram", "--to", "7"],
      { deliver: true, to: { channel: "telegram", chatId: "7" } },
      ", tells telegram:7\n",
    ],
  ])("takes %j", async (args, expected, said) => {
    const { add, jobs, asked } = setUp();
    const { code, out } = await add(...args);
    expect([code, out]).toEqual([0, expect.stringContaining(said)]);
    expect(out).toStartWith('Added "Tea" (job00001): ');
    expect(await jobs.list()).toMatchObject([
      { id: "job00001", deliver: false, message: "Make tea", ...expected },
    ]);
    expect(asked).toEqual([["cron.reload", {}]]);
  });

  test.each([
    ["telegramm", 1],
    ["webhook", 1],
    ["telegram", 0],
  ])("warns of a channel that tells nobody here: %s", async (channel, warnings) => {
    const { add, log } = setUp();
    expect(await add("--every", "1h", "--deliver", "--channel", channel, "--to", "7")).toMatchObject({
      code: 0,
    });
    expect(log.lines.filter((line) => line.includes("is not enabled"))).toHaveLength(warnings);
  });

  test.each<[string[], string]>([
    [[], "exactly one of --cron, --every and --at"],
    [["--every", "1h", "--at", "2030-01-01"], "exactly one of"],
    [["--every", "often"], 'Cannot tell how often --every "often" means'],
    [["--every", "0"], "shorter than a second"],
    [["--at", "soon"], 'Cannot tell which time --at "soon" means'],
    [["--at", "2023-11-14T23:13:20"], "has passed already"],
    [["--cron", "0 9 * * *", "--tz", "Mars/Olympus"], "no time zone"],
    [["--cron", "daily"], "no cron expression"],
    [["--every", "1h", "--tz", "UTC"], "--tz goes with --cron only"],
    [["--every", "1h", "--channel", "telegram", "--to", "7"], "need --deliver"],
    [["--every", "1h", "--deliver", "--channel", "telegram"], "go together"],
    [["--every", "1h", "--deliver", "--channel", " ", "--to", ""], "go together"],
    [["--every", "1h", "--misfire", "twice"], 'what --misfire "twice" means'],
  ])("refuses %j", async (args, reason) => {
    const { add, jobs } = setUp();
    await expect(add(...args)).rejects.toThrow(UserError);
    await expect(add(...args)).rejects.toThrow(reason);
    expect(await jobs.list()).toEqual([]);
  });

  test("asks for a name and a message", async () => {
    const { run } = setUp();
    await expect(run("add", "--message", "x", "--every", "1h")).rejects.toMatchObject({
      message: "Missing --name",
      hint: 'As in --name "tea"',
    });
    await expect(run("add", "--name", "x", "--every", "1h")).rejects.toMatchObject({
      message: "Missing --message",
      hint: 'As in --message "Remind me to drink tea"',
    });
  });

  test("hints at zones where the zone is wrong", async () => {
    const { add } = setUp();
    await expect(add("--cron", "0 9 * * *", "--tz", "+02:00")).rejects.toMatchObject({
      message: expect.stringContaining('no time zone "+02:00"'),
      hint: expect.stringMatching(/^An offset is none/),
    });
  });

  test("says that the job waits when no gateway runs, and nothing of it when one does", async () => {
    expect((await setUp().add("--every", "1h")).err).toContain(NO_GATEWAY);
    const { add } = setUp({ gateway: () => ({ running: true, value: true }) });
    expect((await add("--every", "1h")).err).not.toContain(NO_GATEWAY);
  });

  test("warns of a job that comes more often than once a minute", async () => {
    const { add, log } = setUp();
    await add("--every", "5s");
    expect(log.lines).toEqual([expect.stringMatching(/more often than once a minute.*720/)]);
  });

  test("prints the job with --json, and nothing else", async () => {
    const { add, jobs } = setUp({ mask: (text) => text.replaceAll("tea", "[masked]") });
    const { out, err } = await add("--every", "1h", "--json");
    const [job] = await jobs.list();
    expect(JSON.parse(out)).toEqual({ ...JSON.parse(JSON.stringify(job)), message: "Make [masked]" });
    expect(err).not.toContain(NO_GATEWAY);
  });

  test("makes a whole workspace where there was none", async () => {
    const { add, workspace } = setUp();
    await add("--every", "1h");
    expect(existsSync(join(workspace, "SOUL.md"))).toBe(true);
  });

  test("is done also when the gateway cannot be told", async () => {
    const { add, jobs, log } = setUp({
      gateway: () => {
        throw new UserError("The gateway has no command of that name");
      },
    });
    expect((await add("--every", "1h")).code).toBe(0);
    expect(await jobs.list()).toHaveLength(1);
    expect(log.lines).toEqual([expect.stringContaining("looks within 30 seconds")]);
  });
});

describe("nanobot cron list", () => {
  test("says that there are none", async () => {
    const { run } = setUp();
    expect(await run("list")).toEqual({ code: 0, out: "", err: "There are no jobs.\n" });
    expect(JSON.parse((await run("list", "--json")).out)).toEqual([]);
  });

  test("shows the jobs, and with --all those that are disabled too", async () => {
    const { run, add, jobs } = setUp();
    await add("--every", "1h", "--deliver", "--channel", "telegram", "--to", "7");
    await add("--cron", "0 9 * * *");
    await jobs.record([
      {
        kind: "ended",
        jobId: "job00001",
        slotMs: NOW,
        run: { runAtMs: NOW, status: "error", durationMs: 1, error: "no\ncredit" },
      },
    ]);
    await run("disable", "job00002");
    expect((await run("list")).out).toBe(
      [
        '"Tea" (job00001)',
        "  every 1 hour  next run 2023-11-15 00:13:20 (Europe/Berlin)  last run error: no credit",
        "  tells telegram:7  Make tea",
        '1 more disabled: see "nanobot cron list --all"',
        "",
      ].join("\n"),
    );
    expect((await run("list", "--all")).out).toContain(
      '"Tea" (job00002)\n  0 9 * * * (Europe/Berlin)  disabled\n',
    );
    const listed = JSON.parse((await run("list", "--all", "--json")).out);
    expect(listed).toMatchObject([
      { id: "job00001", lastStatus: "error" },
      { id: "job00002", enabled: false },
    ]);
  });

  test("says that enabled jobs wait when no gateway runs", async () => {
    const { run, add } = setUp();
    await add("--every", "1h");
    expect((await run("list")).err).toBe(NO_GATEWAY);
    expect((await run("list", "--json")).err).toBe("");
    await run("disable", "job00001");
    expect((await run("list", "--all")).err).toBe("");
  });

  test.each<[string, Parameters<typeof setUp>[0]]>([
    ["one runs", { gateway: () => ({ running: true, value: STATUS }) }],
    [
      "one runs that does not answer well",
      {
        gateway: (name) => {
          if (name === "status") throw new UserError("The gateway did not answer");
          return { running: true, value: true };
        },
      },
    ],
    ["the agent asks, whose sandbox hides it", { env: { NANOBOT_TOOL: "1" } }],
  ])("says nothing of the gateway when %s", async (_, options) => {
    const { run, add } = setUp(options);
    await add("--every", "1h");
    expect((await run("list")).err).toBe("");
  });

  test("says what becomes of a time that came while no gateway ran", async () => {
    const { run, add, clock } = setUp();
    await add("--at", "2023-11-15T00:00");
    await clock.advance(HOUR);
    expect((await run("list")).out).toContain(
      "missed; made up for when a gateway starts before 2023-11-16 00:00 (Europe/Berlin)",
    );
    await clock.advance(24 * HOUR);
    expect((await run("list")).out).toContain("missed; not made up for");
  });

  test("marks a channel that is not enabled, and looks at none when no job names one", async () => {
    const { run, add, channelsAsked } = setUp();
    await add("--every", "1h", "--deliver");
    await run("list");
    expect(channelsAsked()).toBe(0);
    await add("--every", "1h", "--deliver", "--channel", "webhook", "--to", "7");
    expect((await run("list")).out).toContain(
      "  tells the owner, since the channel of webhook:7 is not enabled  Make tea\n",
    );
  });

  test("shows what cannot be understood as that", async () => {
    const { run, save, log } = setUp({ mask: (text) => text.replaceAll("hunter2", "[masked]") });
    save({ version: 1, jobs: [7, { id: "q", name: "Q hunter2", schedule: null }] });
    const { out, err } = await run("list");
    expect(out).toMatch(
      /^Number 1 of the file\n {2}does not run, because it cannot be understood: it is no object\n"Q \[masked\]" \(q\)\n {2}does not run, .*of no kind that is known.*\n$/,
    );
    expect([err, log.lines]).toEqual(["", []]);
    expect(JSON.parse((await run("list", "--json")).out)).toEqual([
      { place: 1, problem: "it is no object" },
      { place: 2, id: "q", name: "Q [masked]", problem: expect.stringContaining("of no kind") },
    ]);
    await expect(run("remove", "q")).rejects.toMatchObject({
      hint: expect.stringContaining("mend it in the file"),
    });
  });

  test("prints no secret and nothing that steers a terminal", async () => {
    const { run, jobs } = setUp({ mask: (text) => text.replaceAll("hunter2", "[masked]") });
    await jobs.add({
      name: "\u009b2Jhunter2",
      message: "\u001b[1mhunter2\u202e",
      schedule: { kind: "every", everyMs: HOUR },
      deliver: true,
      to: { channel: "t\u009b2J", chatId: "hunter2" },
    });
    for (const args of [["list"], ["list", "--json"], ["remove", "job00001"]]) {
      const { out } = await run(...args);
      expect(out).not.toMatch(/[\u009b\u001b\u202e]|hunter2/);
      expect(out).toContain("[masked]");
    }
  });
});

describe("nanobot cron remove, enable and disable", () => {
  test("do that, and tell the gateway", async () => {
    const { run, add, jobs, asked } = setUp({ gateway: () => ({ running: true, value: true }) });
    await add("--every", "1h");
    expect((await run("disable", "job00001")).out).toBe('Disabled "Tea" (job00001)\n');
    expect((await run("enable", "job00001")).out).toStartWith(
      'Enabled "Tea" (job00001): next run 2023-11-15',
    );
    expect((await run("enable", "job00001", "--disable")).out).toBe('Disabled "Tea" (job00001)\n');
    expect((await jobs.list())[0]?.enabled).toBe(false);
    expect((await run("remove", "job00001")).out).toBe('Removed "Tea" (job00001)\n');
    expect(await jobs.list()).toEqual([]);
    expect(asked.map(([name]) => name)).toEqual(Array.from({ length: 5 }, () => "cron.reload"));
  });

  test("take the name of one job for a hint, and no name of two", async () => {
    const { run, add } = setUp();
    await add("--every", "1h");
    await run("add", "--name", "Job0001", "--message", "x", "--every", "1h");
    for (const word of ["remove", "enable", "disable", "run"]) {
      await expect(run(word, "tea")).rejects.toMatchObject({
        message: 'There is no job "tea"',
        hint: 'Did you mean "job00001"?',
        exitCode: 2,
      });
      await expect(run(word, "job0001")).rejects.toMatchObject({ hint: 'Did you mean "job00002"?' });
    }
    await add("--every", "1h");
    await expect(run("remove", "tea")).rejects.toMatchObject({ hint: 'See "nanobot cron list --all"' });
  });

  test("say that a job that is enabled waits when no gateway runs", async () => {
    const { run, add } = setUp();
    await add("--every", "1h");
    expect((await run("disable", "job00001")).err).toBe("");
    expect((await run("enable", "job00001")).err).toBe(NO_GATEWAY);
    expect((await run("remove", "job00001")).err).toBe("");
  });

  test("refuse an id that there is not, and say which was meant", async () => {
    const { run, add } = setUp();
    await add("--every", "1h");
    for (const word of ["remove", "enable", "disable"])
      await expect(run(word, "job0001")).rejects.toMatchObject({
        name: "UserError",
        message: 'There is no job "job0001"',
        hint: 'Did you mean "job00001"?',
      });
    await expect(run("remove", "x")).rejects.toMatchObject({
      hint: expect.stringContaining("nanobot cron list"),
    });
    await expect(run("remove")).rejects.toThrow("Missing ID");
  });
});

describe("nanobot cron run", () => {
  test("asks the gateway", async () => {
    const { run, add, asked } = setUp({ gateway: () => ({ running: true, value: true }) });
    await add("--every", "1h");
    expect(await run("run", "job00001")).toEqual({ code: 0, out: 'Begun "Tea" (job00001)\n', err: "" });
    await run("run", "job00001", "--force");
    expect(asked.slice(1)).toEqual([
      ["cron.run", { id: "job00001", force: false }],
      ["cron.run", { id: "job00001", force: true }],
    ]);
  });

  test("says so when none runs", async () => {
    const { run, add } = setUp();
    await add("--every", "1h");
    await expect(run("run", "job00001")).rejects.toMatchObject({
      message: "No gateway runs for this workspace",
      exitCode: 1,
    });
  });
});

test("nanobot cron changes nothing for the agent's own commands", () => {
  const owners = Object.entries(command.subcommands ?? {}).filter(([, { ownerOnly }]) => ownerOnly === true);
  expect(owners.map(([name]) => name).sort()).toEqual(["add", "disable", "enable", "remove", "run"]);
});

test("nanobot cron --help lists what there is", async () => {
  const text = await help(["cron"], command);
  for (const line of ["list", "add", "remove ID", "enable ID", "disable ID", "run ID"])
    expect(text).toContain(`\n  ${line} `);
});
