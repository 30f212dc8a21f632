/** Subagents through the compiled program: where their results go, and what becomes of them when all ends. */

import { afterEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { NOTHING_TO_SAY } from "../../src/lib/phrases.ts";
import type { Reply } from "../fakes/chat-reply.ts";
import { startTelegramServer, type TelegramServer } from "../fakes/telegram-server.ts";
import { tempFolder } from "../fakes/temp.ts";
import { type Answer, assistant, call, textOf } from "./assistant.ts";
import { eventually, killGateways, startGateway, telegramHome } from "./gateway.ts";
import {
  ask,
  binary,
  endToEnd,
  modelAt,
  newHome,
  run,
  sessionOf,
  startCommand,
  startModel,
  untilNoProcess,
  unusualSleep,
} from "./harness.ts";

endToEnd();
afterEach(killGateways);

const shown = (server: TelegramServer, chat = 1) => server.sent(chat).map(({ text }) => text);

/** "count" is given away; what comes back is told in the agent's own words. */
const giveAway: Answer = ({ body, said, result }) => {
  if (result !== undefined) return { text: ["I am on it."] };
  if (said === "count") return call("spawn", { task: "Count the birds", label: "birds" });
  const counted = /counted (\w+)/.exec(textOf(body))?.[1];
  if (said.startsWith("say ")) return { text: [said] };
  return { text: [counted === undefined ? "Something went wrong." : `There are ${counted} birds.`] };
};

function held() {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  return { release: gate.resolve, reached, gate };
}

async function setUp({ subagent, agent = giveAway }: { subagent: Answer; agent?: Answer }) {
  const server = await startTelegramServer({ retryMs: 50 });
  const model = await startModel(assistant({ agent, subagent }));
  const home = telegramHome(server, model.url, { sendToolHints: false });
  return { server, model, home, gateway: await startGateway(home) };
}

test("the result goes to the chat that asked, once, whoever speaks in between", async () => {
  const { release, reached, gate } = held();
  const { server, home } = await setUp({
    async subagent() {
      reached.resolve();
      await gate.promise;
      return { text: ["I counted 42"] };
    },
  });
  server.say(1, "count");
  await reached.promise;
  await eventually(() => shown(server).includes("I am on it."));
  const listed = await run(["tasks", "list", "--json"], { home });
  expect(JSON.parse(listed.stdout)).toMatchObject([{ label: "birds", state: "running" }]);
  server.say(2, "say hello");
  await eventually(() => shown(server, 2).length === 1);
  release();
  await eventually(() => shown(server).length === 2);
  expect(shown(server)).toEqual(["I am on it.", "There are 42 birds."]);
  expect(shown(server, 2)).toEqual(["say hello"]);
});

test("a task that a kill cut off is reported once, to the chat that asked", async () => {
  const { reached, gate } = held();
  const { server, home, gateway } = await setUp({
    async subagent() {
      reached.resolve();
      await gate.promise;
      return { text: ["late"] };
    },
  });
  server.say(1, "count");
  await reached.promise;
  await eventually(() => shown(server).includes("I am on it."));
  gateway.signal("SIGKILL");
  await gateway.exited;
  const again = await startGateway(home);
  await eventually(() => shown(server).length === 2);
  expect(shown(server)).toEqual(["I am on it.", "Something went wrong."]);
  again.signal("SIGTERM");
  expect(await again.exited).toBe(0);
  await startGateway(home);
  server.say(1, "say hello");
  await eventually(() => shown(server).includes("say hello"));
  expect(shown(server)).toHaveLength(3);
});

test("/stop ends a task with what it runs", async () => {
  const sleep = unusualSleep();
  const { server } = await setUp({ subagent: () => call("exec", { command: sleep }) });
  server.say(1, "count");
  await eventually(() => shown(server).includes("I am on it."));
  server.say(1, "/stop");
  await untilNoProcess(sleep);
  await eventually(() => shown(server).length === 2);
  expect(shown(server)[1]).toMatch(/1/);
});

test("a kill of the whole program leaves no command of a subagent behind on SIGTERM", async () => {
  const sleep = unusualSleep();
  const { server, gateway } = await setUp({
    subagent: () => call("exec", { command: `${sleep} & ${sleep}` }),
  });
  server.say(1, "count");
  await eventually(() => shown(server).includes("I am on it."));
  gateway.signal("SIGTERM");
  await gateway.exited;
  await untilNoProcess(sleep);
});

test("a subagent has no tool to send messages, to make jobs or to begin tasks, and sees no key", async () => {
  let names: readonly string[] = [];
  const { server } = await setUp({
    subagent({ body, result }): Reply {
      names = (body["tools"] as readonly { function: { name: string } }[]).map((tool) => tool.function.name);
      if (result === undefined) return call("exec", { command: "env" });
      return { text: [`I counted ${result.includes("key-of-the-fake") ? "secrets" : "none"}`] };
    },
  });
  server.say(1, "count");
  await eventually(() => shown(server).length === 2);
  expect(shown(server)[1]).toBe("There are none birds.");
  expect(names).toEqual(expect.arrayContaining(["read_file", "exec", "grep", "web_fetch"]));
  expect(names.filter((name) => ["message", "spawn", "cron"].includes(name))).toEqual([]);
});

test("agent -m stays until what it gave away has answered, with the program alone in an empty folder", async () => {
  const model = await startModel(assistant({ agent: giveAway, subagent: () => ({ text: ["I counted 7"] }) }));
  const home = newHome(modelAt(model.url));
  const folder = join(tempFolder(), "alone");
  mkdirSync(folder);
  const program = join(folder, "nanobot");
  copyFileSync(binary(), program);
  const { code, stdout } = await startCommand([program, "agent", "-m", "count"], { home, cwd: folder })
    .outcome;
  expect(stdout).toBe("I am on it.\nThere are 7 birds.\n");
  expect(code).toBe(0);
  const json = await ask("count", home, "--json");
  expect(
    json.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([{ content: "I am on it." }, { content: "There are 7 birds." }]);
});

/** A job gives its work away, and says itself nothing; none is nothing to tell either. */
const jobGivesAway: Answer = ({ body, said, result }) => {
  const silence = { text: [NOTHING_TO_SAY] };
  if (result !== undefined) return silence;
  const messages = body["messages"] as readonly { role: string }[];
  const last = JSON.stringify(messages.findLast(({ role }) => role === "user"));
  const counted = /counted (\w+)/.exec(last)?.[1];
  if (counted !== undefined) return counted === "0" ? silence : { text: [`There are ${counted}.`] };
  return said === "Count the birds" ? call("spawn", { task: said }) : { text: [said] };
};

async function withJob(counted: readonly string[], ...delivery: readonly string[]) {
  const counts = [...counted];
  const { server, home, gateway } = await setUp({
    agent: jobGivesAway,
    subagent: () => ({ text: [`I counted ${counts.shift() ?? "0"}`] }),
  });
  for (const chat of [1, 2]) server.meet(chat);
  const job = ["--name", "birds", "--message", "Count the birds", "--every", "1", ...delivery];
  expect((await run(["cron", "add", ...job], { home })).code).toBe(0);
  const [{ id } = { id: "" }] = JSON.parse((await run(["cron", "list", "--json"], { home })).stdout);
  // Before the first run there is no session.
  const lines = () => sessionOf(home, `cron:${id}`).catch(() => []);
  const told = async () => (await lines()).filter(({ turn }) => turn?.startsWith("subagent:") === true);
  return { server, home, gateway, told };
}

test("what comes of a task of a job is delivered like the job's own answer, and silence stays silence", async () => {
  const to = ["--deliver", "--channel", "telegram", "--to", "2"];
  const { server, told, home } = await withJob(["0", "5"], ...to);
  await eventually(() => shown(server, 2).length > 0);
  expect(shown(server, 2)).toEqual(["There are 5."]);
  expect(shown(server)).toEqual([]);
  expect((await told()).length).toBeGreaterThan(2);
  // The chat knows of it.
  await eventually(async () =>
    (await sessionOf(home, "telegram:2")).some(({ content }) => content === "There are 5."),
  );
});

test("what comes of a task of a job that is told to nobody is told to nobody", async () => {
  const { server, told } = await withJob(["5"]);
  await eventually(async () => (await told()).some(({ content }) => content === "There are 5."));
  server.say(1, "say hello");
  await eventually(() => shown(server).length > 0);
  expect(shown(server)).toEqual(["say hello"]);
});
