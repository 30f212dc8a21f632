/** What becomes of messages while turns run, are stopped, end with the program or are killed with it. */

import { afterEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import type { Reply } from "../fakes/chat-reply.ts";
import {
  startTelegramServer,
  type TelegramServer,
  type TelegramServerOptions,
} from "../fakes/telegram-server.ts";
import { echo, eventually, killGateways, lastSaid, startGateway, telegramHome } from "./gateway.ts";
import { endToEnd, modelAt, run, sessionOf, startModel, untilNoProcess, unusualSleep } from "./harness.ts";

endToEnd();
afterEach(killGateways);

type Script = (body: JsonObject) => Reply | Promise<Reply>;

async function setUp({
  script = echo,
  telegram = {},
  agent = {},
  more = {},
  platform = {},
}: {
  script?: Script;
  telegram?: object;
  agent?: Readonly<Record<string, unknown>>;
  more?: object;
  platform?: TelegramServerOptions;
} = {}) {
  const server = await startTelegramServer({ retryMs: 50, ...platform });
  const model = await startModel(script);
  const home = telegramHome(server, model.url, telegram, { ...modelAt(model.url, agent), ...more });
  return { server, model, home, gateway: await startGateway(home) };
}

const shown = (server: TelegramServer, chat = 1) => server.sent(chat).map(({ text }) => text);

/** A model whose answers to some texts wait until the test lets them go. */
function held(texts: readonly string[]) {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  return {
    release: gate.resolve,
    reached: reached.promise,
    async script(body: JsonObject): Promise<Reply> {
      if (texts.includes(lastSaid(body))) {
        reached.resolve();
        await gate.promise;
      }
      return echo(body);
    },
  };
}

test("a slow chat holds up no other", async () => {
  const { script, release, reached } = held(["slow"]);
  const { server } = await setUp({ script });
  server.say(1, "slow");
  await reached;
  server.say(2, "hi");
  await eventually(() => shown(server, 2).length === 1);
  expect(shown(server, 1)).toEqual([]);
  release();
  await eventually(() => shown(server, 1).length === 1);
});

test("updates that were handled are not asked for again, nor answered when they come again", async () => {
  const { server, gateway, home } = await setUp();
  server.say(1, "one");
  server.say(1, "two");
  await eventually(() => shown(server).length === 2);
  gateway.signal("SIGTERM");
  expect(await gateway.exited).toBe(0);
  server.updates.offerAgain([100, 101]);
  await startGateway(home);
  server.say(1, "three");
  await eventually(() => shown(server).includes("echo: three"));
  expect(shown(server)).toEqual(["echo: one", "echo: two", "echo: three"]);
  const users = (await sessionOf(home, "telegram:1")).filter(({ role }) => role === "user");
  expect(users).toHaveLength(3);
});

test("a message whose turn was killed is answered after the restart", async () => {
  const { script, release, reached } = held(["wait"]);
  const { server, gateway, home } = await setUp({ script });
  server.say(1, "wait");
  await reached;
  gateway.signal("SIGKILL");
  await gateway.exited;
  release();
  await startGateway(home);
  await eventually(() => shown(server).includes("echo: wait"));
  expect(shown(server)).toHaveLength(1);
});

test("SIGTERM lets a running turn come to its end, and exits with 0", async () => {
  const { script, release, reached } = held(["wait"]);
  const { server, gateway } = await setUp({ script });
  server.say(1, "wait");
  await reached;
  gateway.signal("SIGTERM");
  release();
  expect(await gateway.exited).toBe(0);
  expect(shown(server)).toEqual(["echo: wait"]);
});

test("SIGTERM keeps a turn that takes too long for the next start", async () => {
  const { script, release, reached } = held(["wait"]);
  const { server, gateway, home } = await setUp({ script, more: { gateway: { port: 0, drainSeconds: 0 } } });
  server.say(1, "wait");
  await reached;
  gateway.signal("SIGTERM");
  expect(await gateway.exited).toBe(0);
  expect(shown(server)).toEqual([]);
  release();
  await startGateway(home);
  await eventually(() => shown(server).includes("echo: wait"));
  expect(shown(server)).toHaveLength(1);
});

test("SIGTERM leaves no command behind, and the turn that ran it goes on at the next start", async () => {
  const sleep = unusualSleep();
  const { server, gateway, home } = await setUp({
    script: (body) =>
      JSON.stringify(body["messages"]).includes('"role":"tool"')
        ? echo(body)
        : { toolCalls: [{ name: "exec", arguments: { command: `${sleep} & touch begun; ${sleep}` } }] },
    more: { gateway: { port: 0, drainSeconds: 0 }, tools: { exec: { sandbox: "none" } } },
  });
  server.say(1, "work");
  await eventually(() => existsSync(join(home.workspace, "begun")));
  gateway.signal("SIGTERM");
  expect(await gateway.exited).toBe(0);
  await untilNoProcess(sleep);
  await startGateway(home);
  await eventually(() => shown(server).includes("echo: work"));
});

test("a second SIGTERM ends it at once", async () => {
  const { script, reached } = held(["wait"]);
  const { server, gateway } = await setUp({ script });
  server.say(1, "wait");
  await reached;
  let code: number | undefined;
  void gateway.exited.then((exit) => (code = exit));
  const began = performance.now();
  await eventually(() => {
    // Two that come in the same moment are one.
    gateway.signal("SIGTERM");
    return code !== undefined;
  });
  expect(code).toBe(130);
  expect(performance.now() - began).toBeLessThan(10_000);
});

test("a message that comes while a tool runs joins the turn, and one answer is for both", async () => {
  const { server, home } = await setUp({
    script: (body) => {
      const said = JSON.stringify(body["messages"]);
      if (!said.includes('"tool"'))
        return { toolCalls: [{ name: "exec", arguments: { command: "cat gate" } }] };
      return { text: [said.includes("and this") ? "both" : "one"] };
    },
    more: { tools: { exec: { sandbox: "none" } } },
  });
  const gate = join(home.workspace, "gate");
  await eventually(() => Bun.spawnSync(["mkfifo", gate]).success);
  server.say(1, "this");
  await eventually(() => server.calls.some(({ method }) => method === "sendChatAction"));
  server.say(1, "and this");
  await eventually(() => server.updates.waiting.length === 0);
  await Bun.spawn(["sh", "-c", `echo open > '${gate}'`]).exited;
  await eventually(() => shown(server).at(-1) === "both");
  expect(shown(server).filter((text) => text === "both" || text === "one")).toEqual(["both"]);
});

test("/stop ends a command at once, and what was done stays in the session", async () => {
  const { server, home } = await setUp({
    script: () => ({ toolCalls: [{ name: "exec", arguments: { command: "echo done > done; sleep 600" } }] }),
    more: { tools: { exec: { sandbox: "none" } } },
  });
  server.say(1, "work");
  await eventually(() => {
    try {
      return readFileSync(join(home.workspace, "done"), "utf8") === "done\n";
    } catch {
      return false;
    }
  });
  server.say(1, "/stop");
  await eventually(() => shown(server).includes("Stopped 1 task."));
  const lines = await sessionOf(home, "telegram:1");
  expect(lines.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});

test("/restart starts the program again, once, and it answers", async () => {
  const { server, gateway, home } = await setUp({ more: { gateway: { port: 0, restartMode: "exit" } } });
  server.say(1, "/restart");
  expect(await gateway.exited).toBe(75);
  const again = await startGateway(home);
  server.say(1, "hello");
  await eventually(() => shown(server).includes("echo: hello"));
  expect(shown(server).sort()).toEqual(["I am back.", "Restarting. I say so when I am back.", "echo: hello"]);
  again.signal("SIGTERM");
  expect(await again.exited).toBe(0);
});

test("/restart without a service begins one new process, which has the place of the old one, and says so", async () => {
  const { server, gateway, home } = await setUp({ more: { gateway: { port: 0, restartMode: "spawn" } } });
  const pidNow = async () => {
    const { stdout } = await run(["status", "--json"], { home });
    return (JSON.parse(stdout) as { gateway: { pid?: number } }).gateway.pid;
  };
  expect(await pidNow()).toBe(gateway.pid);
  server.say(1, "/restart");
  await eventually(() => shown(server).includes("I am back."));
  server.say(1, "hello");
  await eventually(() => shown(server).includes("echo: hello"));
  const pid = (await pidNow()) ?? 0;
  expect(pid).not.toBe(gateway.pid);
  // It writes to what the old one was given, so that this ends with both of them.
  process.kill(pid, "SIGTERM");
  expect(await gateway.exited).toBe(0);
  expect(await pidNow()).toBeUndefined();
  expect(shown(server)).toEqual(["Restarting. I say so when I am back.", "I am back.", "echo: hello"]);
});

test("a call that waits for the owner takes nobody's place, even where one turn runs at once", async () => {
  const { server, gateway } = await setUp({
    script: (body) =>
      lastSaid(body) === "work"
        ? { toolCalls: [{ name: "exec", arguments: { command: "id" } }] }
        : echo(body),
    agent: { maxConcurrentTurns: 1 },
    more: { gateway: { port: 0, owner: "telegram:1" }, tools: { exec: { policy: "ask", sandbox: "none" } } },
  });
  server.say(1, "work");
  await eventually(() => shown(server).some((text) => text.includes("/approve ")));
  server.say(2, "hi");
  await eventually(() => shown(server, 2).includes("echo: hi"));
  // Nor does the end wait the whole of its time for an answer that nobody takes in any more.
  gateway.signal("SIGTERM");
  expect(await Promise.race([gateway.exited, Bun.sleep(10_000)])).toBe(0);
});

test("a reply above the limit comes whole, in pieces that fit", async () => {
  const { server } = await setUp({ script: () => ({ text: ["word ".repeat(1_800)] }) });
  server.say(1, "much");
  await eventually(() => shown(server).join(" ").split(/\s+/).filter(Boolean).length === 1_800);
  const sent = server.calls.filter(({ method }) => method === "sendMessage" || method === "editMessageText");
  for (const { fields } of sent) expect(String(fields["text"]).length).toBeLessThanOrEqual(4_096);
  expect(shown(server).length).toBeGreaterThanOrEqual(3);
});
