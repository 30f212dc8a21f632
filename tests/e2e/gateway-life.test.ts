/** How a gateway begins, tells how it is, and goes on when a platform does not. */

import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { startTelegramServer, type TelegramServer } from "../fakes/telegram-server.ts";
import { echo, eventually, killGateways, startGateway, telegramHome } from "./gateway.ts";
import { binary, endToEnd, modelAt, newHome, run, startModel } from "./harness.ts";

endToEnd();
afterEach(killGateways);

const shown = (server: TelegramServer, chat = 1) => server.sent(chat).map(({ text }) => text);

async function setUp(telegram: object = {}, more: object = {}) {
  const server = await startTelegramServer();
  const model = await startModel(echo);
  const home = telegramHome(server, model.url, telegram, more);
  return { server, model, home };
}

test("gateway answers /health at once and /ready when its channels are connected", async () => {
  const { server, home } = await setUp();
  const { url } = await startGateway(home);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  await eventually(async () => (await fetch(`${url}/ready`)).status === 200);
  server.fail("getUpdates", ...Array.from({ length: 3 }, () => ({ status: 502, body: "x" }) as const));
  // Ends the poll that is open.
  server.say(666, "hello");
  await eventually(async () => (await fetch(`${url}/ready`)).status === 503);
});

test("gateway starts while a platform cannot be reached, and goes on when it can", async () => {
  const { server, model } = await setUp();
  const { port } = new URL(server.url);
  await server.close();
  const home = telegramHome(server, model.url);
  const gateway = await startGateway(home);
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  const back = await startTelegramServer({ port: Number(port) });
  back.say(1, "hello");
  await eventually(() => shown(back).includes("echo: hello"));
});

test("a wrong token ends only its channel, and the line about it says which", async () => {
  const { server, home } = await setUp({ token: "123456789:AAwrongwrongwrongwrongwrongwrongwrong" }, {});
  const gateway = await startGateway(home);
  await eventually(() => gateway.stderr().includes("Channel telegram ended"));
  expect(gateway.stderr()).not.toContain("AAwrong");
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  const { code, stdout } = await run(["channels", "status"], { home });
  expect([code, stdout]).toEqual([1, expect.stringContaining("failed")]);
  await server.close();
});

test("channels test says whose the token is, and sends where it is told", async () => {
  const { server, home } = await setUp();
  server.meet(1);
  expect(await run(["channels", "test", "telegram", "--send", "1"], { home })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("@ourbot"),
  });
  expect(shown(server)).toHaveLength(1);
  server.revokeToken();
  const refused = await run(["channels", "test", "telegram"], { home });
  expect(refused.code).toBe(1);
  expect(refused.stderr).not.toContain(server.token);
  expect(await run(["channels", "test", "telegrm"], { home })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean "telegram"?'),
  });
});

test("channels status tells of a running gateway, and that none runs", async () => {
  const { server, home } = await setUp();
  expect((await run(["channels", "status"], { home })).code).toBe(1);
  await startGateway(home);
  await server.called("getUpdates", 1);
  await eventually(async () => (await run(["channels", "status"], { home })).stdout.includes("connected"));
});

test("a message that cannot be delivered is kept, listed, and sent when that is asked for", async () => {
  const { server, home } = await setUp({ streaming: false });
  const gateway = await startGateway(home);
  server.fail("sendMessage", { code: 403, description: "Forbidden: bot was blocked by the user" });
  server.say(1, "hello");
  const list = async () =>
    JSON.parse((await run(["outbox", "list", "--json"], { home })).stdout) as { id: string; state: string }[];
  await eventually(async () => (await list()).some(({ state }) => state === "failed"));
  // Another chat, and the same one, go on.
  server.say(2, "hi");
  await eventually(() => shown(server, 2).includes("echo: hi"));
  const [failed] = await list();
  expect((await run(["outbox", "retry", failed?.id ?? ""], { home })).code).toBe(0);
  await eventually(() => shown(server).includes("echo: hello"));
  expect(await list()).toEqual([]);
  gateway.signal("SIGTERM");
  expect(await gateway.exited).toBe(0);
  expect((await run(["outbox", "list"], { home })).stdout).toBe("Nothing waits to be delivered\n");
});

test("one gateway runs for a workspace", async () => {
  const { home } = await setUp();
  await startGateway(home);
  const second = await run(["gateway"], { home });
  expect(second.code).toBe(1);
  expect(second.stderr).toContain("a gateway runs for the workspace");
});

test("gateway refuses an address that is taken", async () => {
  const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { home } = await setUp({}, { gateway: { port: taken.port } });
  const { code, stderr } = await run(["gateway"], { home });
  expect([code, stderr]).toEqual([1, expect.stringContaining(String(taken.port))]);
  await taken.stop(true);
});

test.each([
  [
    { channels: { telegram: { enabled: true, allowFrom: "123" } } },
    /channels\.telegram\.allowFrom: expected a list/,
  ],
  [
    { channels: { telegram: { enabled: true, token: 5 } } },
    /Read config ".*config\.json": line \d+, channels\.telegram\.token: expected a string/,
  ],
  [{ gateway: { port: "x" } }, /gateway\.port: expected a whole number/],
])("gateway refuses the settings %j, as config check does", async (config, problem) => {
  const model = await startModel(echo);
  const home = newHome({ ...modelAt(model.url), ...config });
  for (const command of [["gateway"], ["config", "check"]]) {
    const { code, stdout, stderr } = await run(command, { home });
    expect([command, code, stdout + stderr]).toEqual([command, 2, expect.stringMatching(problem)]);
  }
});

test("gateway starts with a configuration of the original's, and says what each channel of it lacks", async () => {
  const channels = {
    slack: { enabled: true, botToken: "xoxb-1", dm: { enabled: true, policy: "open", allowFrom: [] } },
    napcat: { enabled: false, groupPolicy: 0.3 },
    websocket: { enabled: true, host: "127.0.0.1", port: 8765, path: "/", token: "", allowFrom: ["*"] },
  };
  const { server, home } = await setUp();
  const settings = JSON.parse(readFileSync(home.configFile, "utf8"));
  Object.assign(settings.channels, channels);
  writeFileSync(home.configFile, JSON.stringify(settings));
  const gateway = await startGateway(home);
  await eventually(() => gateway.stderr().includes("Channel websocket ended: Set channels.websocket.token"));
  expect(gateway.stderr()).toContain("channels.slack is not supported yet and has no effect");
  expect(gateway.stderr()).not.toContain("Unknown key");
  server.say(1, "hello");
  await eventually(() => shown(server).includes("echo: hello"));
  expect((await run(["config", "check"], { home })).code).toBe(0);
});

test("gateway refuses to start without a model", async () => {
  const { code, stderr } = await run(["gateway"], { home: newHome() });
  expect([code, stderr]).toEqual([2, expect.stringContaining("no model is configured")]);
});

test("gateway needs neither HOME nor a locale, in any folder", async () => {
  const { server, model } = await setUp();
  const home = telegramHome(server, model.url);
  const bare = { ...home, env: { NANOBOT_HOME: home.folder } };
  const gateway = await startGateway(bare, {
    command: ["/usr/bin/env", "-i", `NANOBOT_HOME=${home.folder}`, binary()],
  });
  server.say(1, "Grüße 🐈");
  await eventually(() => shown(server).includes("echo: Grüße 🐈"));
  gateway.signal("SIGTERM");
  expect(await gateway.exited).toBe(0);
});

test("agent that sends something to its own conversation comes to its end, with an answer", async () => {
  const model = await startModel((body) =>
    JSON.stringify(body["messages"]).includes('"role":"tool"')
      ? { text: ["the answer"] }
      : { toolCalls: [{ name: "message", arguments: { content: "the message" } }] },
  );
  const home = newHome(modelAt(model.url));
  const { code, stdout, stderr } = await run(["agent", "-m", "hello"], { home });
  expect([code, stdout, stderr]).toEqual([0, "the answer\n", "the message\n"]);
});

test("agent beside a gateway shares its workspace, and each keeps its sessions", async () => {
  const { server, home } = await setUp();
  await startGateway(home);
  const { code, stdout } = await run(["agent", "-m", "from the terminal"], { home });
  expect([code, stdout]).toEqual([0, expect.stringContaining("echo: from the terminal")]);
  server.say(1, "hello");
  await eventually(() => shown(server).includes("echo: hello"));
  const { stdout: sessions } = await run(["sessions", "list"], { home });
  for (const key of ["cli:direct", "telegram:1"]) expect(sessions).toContain(key);
});
