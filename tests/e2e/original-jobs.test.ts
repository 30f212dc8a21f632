/** The jobs of a home of the original: listed, copied, changed, and run by the gateway. */

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import { eventually, killGateways, startGateway } from "./gateway.ts";
import { endToEnd, type Home, startModel } from "./harness.ts";
import { changed, homeOf, json, messagesOf, snapshot, succeed } from "./original-home.ts";

endToEnd();
afterEach(killGateways);

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly nextRunAtMs?: number | null;
  readonly runs: readonly unknown[];
}

/** As it is in the file. */
interface RawJob {
  readonly id: string;
  readonly payload: { readonly kind: string };
}

/** Those of the workspace, if it has any. */
function rawJobs({ workspace }: Home): readonly RawJob[] {
  const file = join(workspace, "cron/jobs.json");
  if (!existsSync(file)) return [];
  return (JSON.parse(readFileSync(file, "utf8")) as { jobs: RawJob[] }).jobs;
}

const jobsOf = (home: Home) => json<readonly Listed[]>(home, "cron", "list", "--all");

describe("cron", () => {
  test("list shows the jobs of the first version, which lay beside the workspace", async () => {
    const home = homeOf("first");
    const before = snapshot(home.folder);
    const now = Date.now();
    const jobs = await jobsOf(home);
    expect(jobs.map(({ id, name, enabled }) => [id, name, enabled])).toEqual([
      ["5f0c91ab", "Water the tomatoes", true],
      ["77e2d0c4", "Market list", true],
      ["c3d4e5f6", "Greenhouse check", false],
      ["0a1b2c3d", "Call Lea", expect.any(Boolean)],
      ["9e8d7c6b", "Time capsule", true],
    ]);
    const next = Object.fromEntries(jobs.map(({ id, nextRunAtMs }) => [id, nextRunAtMs ?? undefined]));
    // Six hours from its last run, counted on; Saturday at nine in Vienna.
    expect(next["5f0c91ab"]).toBeGreaterThan(now - 21_600_000);
    expect(((next["5f0c91ab"] ?? 0) - Date.UTC(2026, 1, 18, 18, 30)) % 21_600_000).toBe(0);
    const market = new Intl.DateTimeFormat("en", {
      timeZone: "Europe/Vienna",
      weekday: "long",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
    });
    expect(market.format(next["77e2d0c4"])).toBe("Saturday 09:00");
    expect(next["77e2d0c4"]).toBeGreaterThan(now);
    expect(next["c3d4e5f6"]).toBeUndefined();
    expect(next["0a1b2c3d"]).toBeUndefined();
    expect(next["9e8d7c6b"]).toBe(Date.UTC(2099, 5, 1, 10));
    const said = await succeed(home, "cron", "list", "--all");
    for (const { name } of jobs) expect(said).toContain(name);
    expect(changed(before, snapshot(home.folder))).toEqual([]);
  });

  test("copies the jobs of the first version once, and lets go of those that are removed", async () => {
    const home = homeOf("first");
    const old = readFileSync(join(home.folder, "cron/jobs.json"), "utf8");
    expect(await jobsOf(home)).toHaveLength(5);
    for (const { id } of await jobsOf(home)) await succeed(home, "cron", "remove", id);
    expect(await jobsOf(home)).toEqual([]);
    expect(readFileSync(join(home.folder, "cron/jobs.json"), "utf8")).toBe(old);
  });

  test("list shows the jobs of the newer with their chats, and none of the original's own", async () => {
    const home = homeOf("newer");
    const before = snapshot(home.folder);
    const jobs = await json<readonly (Listed & { to?: JsonObject; deliver: boolean })[]>(
      home,
      "cron",
      "list",
      "--all",
    );
    expect(jobs).toMatchObject([
      {
        id: "b7d1f2e3",
        name: "Backup report",
        enabled: true,
        deliver: true,
        to: { channel: "telegram", chatId: "123" },
      },
      { id: "c8e2a3f4", name: "Stretch", enabled: false },
      {
        id: "d9f3b4a5",
        name: "Passport",
        to: { channel: "slack", chatId: "C042", thread: "1722600000.1234" },
      },
    ]);
    expect(jobs).toHaveLength(3);
    expect(jobs[0]?.runs).toHaveLength(2);
    expect(jobs[0]?.nextRunAtMs).toBeGreaterThan(Date.now());
    expect(jobs[2]?.nextRunAtMs).toBe(Date.UTC(2099, 0, 15, 9));
    expect(changed(before, snapshot(home.folder))).toEqual([]);
  });

  test("add, disable and remove leave the other jobs of the newer as they are, its own among them", async () => {
    const home = homeOf("newer");
    const before = rawJobs(home);
    await succeed(home, "cron", "add", "--name", "Tea", "--message", "Remind Ben of tea", "--every", "2h");
    await succeed(home, "cron", "disable", "b7d1f2e3");
    await succeed(home, "cron", "remove", "c8e2a3f4");
    const after = rawJobs(home);
    const unchanged = ["d9f3b4a5", "dream", "heartbeat"];
    expect(after.filter(({ id }) => unchanged.includes(id))).toEqual(
      before.filter(({ id }) => unchanged.includes(id)),
    );
    expect(after.map(({ id }) => id).slice(0, 4)).toEqual(["b7d1f2e3", "d9f3b4a5", "dream", "heartbeat"]);
    expect(after[0]).toMatchObject({
      enabled: false,
      payload: { sessionKey: "telegram:123", originChannel: "telegram", originMetadata: { message_id: 41 } },
      state: { runHistory: [{ status: "error", durationMs: 1_200 }, { status: "ok" }] },
    });
    expect((await jobsOf(home)).map(({ name }) => name)).toEqual(["Backup report", "Passport", "Tea"]);
  });
});

describe("the gateway of a home of the original", () => {
  test.each([
    ["first", "5f0c91ab", [], ["Water the tomatoes", "Market list"]],
    ["newer", "b7d1f2e3", ["workspace/cron/jobs.json"], ["Backup report"]],
  ] as const)(
    "makes up for the latest run that was missed, and for nothing else: the %s one",
    async (generation, id, files, names) => {
      const server = await startModel(() => ({ text: "NO_REPLY" }));
      const home = homeOf(generation, server.url);
      const before = snapshot(home.folder);
      const originals = rawJobs(home);
      const recorded = async () => (await jobsOf(home)).find((job) => job.id === id)?.runs ?? [];
      const earlier = (await recorded()).length;
      const gateway = await startGateway(home, {
        args: ["--port", "0", "--host", "127.0.0.1"],
        env: {
          NANOBOT_CHANNELS__TELEGRAM__ENABLED: "false",
          // Its old conversations are silent for long, and would be summed up.
          NANOBOT_AGENTS__DEFAULTS__IDLE_COMPACT_AFTER_MINUTES: "0",
        },
      });
      await eventually(async () => (await recorded()).length > earlier);
      gateway.signal("SIGTERM");
      expect(await gateway.exited).toBe(0);

      const asked = server.requests.map((request) => String(messagesOf(request).at(-1)?.["content"]));
      // A job of Saturdays is made up for on Sundays, too.
      const wanted: readonly string[] = names;
      for (const text of asked)
        expect(wanted).toContain(/The time of the job "([^"]+)"/.exec(text)?.[1] ?? text);
      expect(server.invalid).toEqual([]);
      expect(changed(before, snapshot(home.folder))).toEqual([...files]);
      const system = (jobs: readonly RawJob[]) =>
        jobs.filter(({ payload }) => payload.kind === "system_event");
      expect(system(rawJobs(home))).toEqual(system(originals));
    },
  );
});
