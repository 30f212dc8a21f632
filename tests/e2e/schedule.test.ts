/** Jobs and the heartbeat through the compiled program: who hears of them, how often, and when nobody does. */

import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import { startTelegramServer, type TelegramServer } from "../fakes/telegram-server.ts";
import { type Answer, assistant, call, type Roles, textOf } from "./assistant.ts";
import { eventually, killGateways, startGateway, telegramHome } from "./gateway.ts";
import {
  endToEnd,
  type Home,
  modelAt,
  newHome,
  run,
  sessionOf,
  startModel,
  untilNoProcess,
  unusualSleep,
} from "./harness.ts";

endToEnd();
afterEach(killGateways);

const shown = (server: TelegramServer, chat = 1) => server.sent(chat).map(({ text }) => text);

async function setUp({
  roles = {},
  more = {},
  agentSettings = {},
  telegram = {},
}: {
  roles?: Roles;
  more?: object;
  agentSettings?: Readonly<Record<string, unknown>>;
  telegram?: object;
}) {
  const server = await startTelegramServer({ retryMs: 50 });
  // A bot cannot begin a chat: these have written before.
  for (const chat of [1, 2]) server.meet(chat);
  const model = await startModel(assistant(roles));
  const settings = { ...modelAt(model.url, agentSettings), ...more };
  const home = telegramHome(server, model.url, { sendToolHints: false, ...telegram }, settings);
  return { server, model, home };
}

const cron = (home: Home, ...args: readonly string[]) => run(["cron", ...args], { home });

async function jobsOf(home: Home): Promise<readonly JsonObject[]> {
  const { stdout } = await cron(home, "list", "--all", "--json");
  return JSON.parse(stdout) as readonly JsonObject[];
}

/** The tool's call when somebody says "tea", and the reminder when the job runs. */
const reminding: Answer = ({ body, said, result }) => {
  if (result !== undefined) return { text: [result.startsWith("Error") ? "I could not." : "I will."] };
  if (said === "tea") return call("cron", { action: "add", message: "Remind me of tea", every_seconds: 1 });
  return { text: [/Remind me of tea/.test(textOf(body)) ? "Drink your tea." : said] };
};

test("a reminder that was asked for in a chat comes to that chat, which knows of it", async () => {
  const { server, home } = await setUp({ roles: { agent: reminding } });
  await startGateway(home);
  server.say(1, "tea");
  await eventually(() => shown(server).includes("Drink your tea."));
  const [job] = await jobsOf(home);
  expect(job).toMatchObject({ enabled: true });
  expect((await cron(home, "remove", String(job?.["id"]))).code).toBe(0);
  expect(await jobsOf(home)).toEqual([]);
  await eventually(async () =>
    (await sessionOf(home, "telegram:1")).some(
      ({ role, content }) => role === "assistant" && content === "Drink your tea.",
    ),
  );
  // The job itself ran elsewhere.
  const own = await sessionOf(home, `cron:${String(job?.["id"])}`);
  expect(own.at(-1)).toMatchObject({ role: "assistant", content: "Drink your tea." });
});

test.each([
  ["the topic that it was asked for in", {}, "telegram:-100:topic:7"],
  ["the session that all chats share", { unifiedSession: true }, "unified:default"],
])("a reminder is noted in %s", async (_, agentSettings, session) => {
  const telegram = { allowFrom: ["*"], groupPolicy: "open" };
  const { server, home } = await setUp({ roles: { agent: reminding }, agentSettings, telegram });
  server.meet(-100, { type: "supergroup", title: "Team", is_forum: true });
  await startGateway(home);
  server.say(-100, { text: "tea", message_thread_id: 7, is_topic_message: true });
  await eventually(() => shown(server, -100).includes("Drink your tea."));
  await eventually(async () =>
    (await sessionOf(home, session)).some(
      ({ role, content }) => role === "assistant" && content === "Drink your tea.",
    ),
  );
});

test("the owner hears once of reminders whose time came long before the program ran", async () => {
  const { server, home } = await setUp({ more: { gateway: { port: 0, owner: "telegram:2" } } });
  mkdirSync(join(home.workspace, "cron"), { recursive: true });
  const job = (id: string, ageMs: number) => ({
    id,
    name: id,
    enabled: true,
    schedule: { kind: "at", atMs: Date.now() - ageMs },
    payload: {
      kind: "agent_turn",
      message: `Remind me of ${id}`,
      deliver: true,
      channel: "telegram",
      to: "1",
    },
  });
  const jobs = [job("rent", 40 * 3_600_000), job("tax", 100 * 3_600_000)];
  writeFileSync(join(home.workspace, "cron", "jobs.json"), JSON.stringify({ version: 1, jobs }));
  for (let starts = 0; starts < 2; starts++) {
    const gateway = await startGateway(home);
    await eventually(() => shown(server, 2).length > 0);
    await eventually(async () => (await jobsOf(home)).every(({ enabled }) => enabled === false));
    gateway.signal("SIGTERM");
    await gateway.exited;
  }
  expect(shown(server, 2)).toEqual([expect.stringMatching(/Remind me of rent.*Remind me of tax/s)]);
  expect(shown(server)).toEqual([]);
});

test("a job of one time that came due while nothing ran is done once, and is gone", async () => {
  const { server, home } = await setUp({ roles: { agent: reminding } });
  const at = new Date(Date.now() + 1_500).toISOString();
  const added = await cron(
    home,
    ...["add", "--name", "tea", "--message", "Remind me of tea", "--at", at],
    ...["--deliver", "--channel", "telegram", "--to", "1"],
  );
  expect(added).toMatchObject({ code: 0 });
  await eventually(() => Date.now() > Date.parse(at));
  let gateway = await startGateway(home);
  await eventually(() => shown(server).length === 1);
  await eventually(async () => (await jobsOf(home)).length === 0);
  gateway.signal("SIGTERM");
  await gateway.exited;
  gateway = await startGateway(home);
  server.say(1, "still there?");
  await eventually(() => shown(server).includes("still there?"));
  expect(shown(server)).toEqual(["Drink your tea.", "still there?"]);
});

test("jobs that are edited by hand while the gateway runs are taken up, and a broken file is kept", async () => {
  const { server, home } = await setUp({ roles: { agent: reminding } });
  const gateway = await startGateway(home);
  const file = join(home.workspace, "cron", "jobs.json");
  mkdirSync(join(home.workspace, "cron"), { recursive: true });
  writeFileSync(file, '{"version": 1, "jobs": [ {"id": "a",}, ]}');
  const broken = await cron(home, "add", "--name", "x", "--message", "y", "--every", "10m");
  expect(broken.code).not.toBe(0);
  expect(broken.stderr).toContain("jobs.json");
  expect(readFileSync(file, "utf8")).toBe('{"version": 1, "jobs": [ {"id": "a",}, ]}');
  const job = {
    id: "byhand01",
    name: "tea",
    enabled: true,
    schedule: { kind: "every", everyMs: 1_000 },
    payload: { kind: "agent_turn", message: "Remind me of tea", deliver: true, channel: "telegram", to: "1" },
    state: {},
    createdAtMs: Date.now(),
    updatedAtMs: Date.now(),
    deleteAfterRun: false,
  };
  writeFileSync(file, JSON.stringify({ version: 1, jobs: [job] }));
  // What the command line does is known at once; an edit by hand is looked for every few minutes.
  expect((await cron(home, "add", "--name", "later", "--message", "y", "--every", "10d")).code).toBe(0);
  await eventually(() => shown(server).includes("Drink your tea."));
  expect((await jobsOf(home)).map(({ id }) => id)).toContain("byhand01");
  expect(gateway.stderr()).not.toContain("TypeError");
});

test("a job cannot make jobs", async () => {
  const results: string[] = [];
  const { home } = await setUp({
    roles: {
      agent({ result }) {
        if (result === undefined) return call("cron", { action: "add", message: "more", every_seconds: 1 });
        results.push(result);
        return { text: ["done"] };
      },
    },
  });
  await startGateway(home);
  await cron(home, "add", "--name", "breeder", "--message", "breed", "--every", "1");
  await eventually(() => results.length > 0);
  expect(results[0]).toStartWith("Error:");
  expect(await jobsOf(home)).toHaveLength(1);
});

test("a command of a job that takes too long is ended with all it began", async () => {
  const sleep = unusualSleep();
  const results: string[] = [];
  const { home } = await setUp({
    roles: {
      agent({ result }) {
        if (result === undefined) return call("exec", { command: `${sleep} & ${sleep}`, timeout: 1 });
        results.push(result);
        return { text: ["done"] };
      },
    },
  });
  await startGateway(home);
  const at = new Date(Date.now() + 1_000).toISOString();
  await cron(home, "add", "--name", "sleeper", "--message", "sleep", "--at", at);
  await eventually(() => results.length > 0);
  await untilNoProcess(sleep);
});

test("the heartbeat asks no model while there is no task, and tells the owner once when there is", async () => {
  let asked = 0;
  const { server, model, home } = await setUp({
    more: { gateway: { port: 0, owner: "telegram:1", heartbeat: { intervalS: 86_400 } } },
    roles: {
      agent: () => ({ text: ["The build failed."] }),
      judges: {
        heartbeat() {
          asked++;
          return call("heartbeat", { action: "run", tasks: "watch the build" });
        },
        evaluate_notification: () =>
          call("evaluate_notification", { should_notify: true, reason: "it failed" }),
      },
    },
  });
  await startGateway(home);
  const idle = await run(["heartbeat", "now"], { home });
  expect(idle).toMatchObject({ code: 0 });
  expect(model.requests).toEqual([]);
  const file = join(home.workspace, "HEARTBEAT.md");
  writeFileSync(file, `${readFileSync(file, "utf8")}\n- Watch the build\n`);
  expect((await run(["heartbeat", "now"], { home })).code).toBe(0);
  await eventually(() => shown(server).length === 1);
  expect(shown(server)).toEqual(["The build failed."]);
  await eventually(async () =>
    (await sessionOf(home, "telegram:1")).some(({ content }) => content === "The build failed."),
  );
  // The same alert again is no news.
  await run(["heartbeat", "now"], { home });
  await eventually(() => asked === 2);
  await eventually(async () => (await sessionOf(home, "heartbeat")).length === 4);
  // The next is not looked at before that one is over, and nobody was told of it.
  await eventually(async () => {
    await run(["heartbeat", "now"], { home });
    return asked === 3;
  });
  expect(shown(server)).toEqual(["The build failed."]);
  server.say(1, "anything?");
  await eventually(() => shown(server).length === 2);
  expect(shown(server)).toEqual(["The build failed.", "The build failed."]);
});

test("work that nobody waits for pauses when the provider wants money, and the owner hears once", async () => {
  const { server, home } = await setUp({
    more: { gateway: { port: 0, owner: "telegram:1", heartbeat: { enabled: false } } },
    roles: {
      agent: () => ({
        status: 402,
        body: {
          error: { message: "Insufficient credits", type: "insufficient_quota", code: "insufficient_quota" },
        },
      }),
    },
  });
  await startGateway(home);
  await cron(home, "add", "--name", "a", "--message", "one", "--every", "1");
  await cron(home, "add", "--name", "b", "--message", "two", "--every", "1");
  await eventually(() => shown(server).length > 0);
  await eventually(async () => (await jobsOf(home)).length === 2);
  expect(shown(server)).toHaveLength(1);
  expect(shown(server)[0]).toMatch(/pause/i);
});

test("a session that makes more calls than it may is refused, and the owner hears once", async () => {
  const results: string[] = [];
  const { server, home } = await setUp({
    more: { gateway: { port: 0, owner: "telegram:2" }, limits: { toolCallsPerHour: 2 } },
    roles: {
      agent({ result }) {
        if (result !== undefined) results.push(result);
        if (results.length >= 4) return { text: ["enough"] };
        return call("list_dir", { path: results.length % 2 === 0 ? "." : "memory" });
      },
    },
  });
  await startGateway(home);
  server.say(1, "go");
  await eventually(() => shown(server).includes("enough"));
  expect(results.map((result) => result.startsWith("Error:"))).toEqual([false, false, true, true]);
  await eventually(() => shown(server, 2).length === 1);
  expect(shown(server, 2)[0]).toContain("telegram:1");
});

test("a job that comes too often is left out, and the owner hears once", async () => {
  const { server, home } = await setUp({
    more: { gateway: { port: 0, owner: "telegram:2" }, limits: { tasksPerHour: 2 } },
    roles: { agent: () => ({ text: ["tick"] }) },
  });
  await startGateway(home);
  const added = await cron(home, "add", "--name", "fast", "--message", "x", "--every", "1");
  expect(added.stderr).toContain("more often than once a minute");
  await eventually(() => shown(server, 2).length === 1);
  expect(shown(server, 2)[0]).toContain("limits.tasksPerHour");
  await eventually(async () => {
    const [job] = await jobsOf(home);
    return job?.["lastStatus"] === "skipped";
  });
  const [job] = await jobsOf(home);
  expect(job).toMatchObject({ runs: [{ status: "ok" }, { status: "ok" }, { status: "skipped" }] });
});

test("heartbeat now fails and says why when the key is refused, and then how long it pauses", async () => {
  const refused = { status: 401, body: { error: { message: "No such key", code: "invalid_api_key" } } };
  const { home } = await setUp({ roles: { judges: { heartbeat: () => refused } } });
  await startGateway(home);
  const file = join(home.workspace, "HEARTBEAT.md");
  writeFileSync(file, `${readFileSync(file, "utf8")}\n- Watch the build\n`);
  const first = await run(["heartbeat", "now"], { home });
  expect(first).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("refused the API key (401)."),
  });
  const second = await run(["heartbeat", "now"], { home });
  expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining("paused for 5 minutes more") });
});

test("jobs without a gateway wait, and everybody who makes one says so", async () => {
  const { home } = await setUp({ roles: { agent: reminding } });
  const waits = "No gateway runs for this workspace: jobs wait until one does";
  const added = await cron(home, "add", "--name", "a", "--message", "one", "--every", "1h");
  expect(added.stderr).toContain(waits);
  expect((await cron(home, "list")).stderr).toContain(waits);
  const results: string[] = [];
  const model = await startModel(
    assistant({
      agent({ result }) {
        if (result === undefined)
          return call("cron", { action: "add", message: "Remind me of tea", every_seconds: 3600 });
        results.push(result);
        return { text: ["done"] };
      },
    }),
  );
  const own = newHome(modelAt(model.url));
  expect((await run(["agent", "-m", "tea"], { home: own })).code).toBe(0);
  expect(results).toEqual([expect.stringContaining(waits)]);
});
