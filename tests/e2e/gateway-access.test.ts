/** Who is listened to, who decides, and what a gateway shows of what only its owner should know. */

import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import type { Reply } from "../fakes/chat-reply.ts";
import { startTelegramServer, type TelegramServer } from "../fakes/telegram-server.ts";
import { echo, eventually, killGateways, startGateway, telegramHome } from "./gateway.ts";
import { endToEnd, run, startModel } from "./harness.ts";

endToEnd();
afterEach(killGateways);

type Script = (body: JsonObject) => Reply | Promise<Reply>;

async function setUp({
  script = echo,
  telegram = {},
  more = {},
}: {
  script?: Script;
  telegram?: object;
  more?: object;
} = {}) {
  const server = await startTelegramServer();
  const model = await startModel(script);
  const home = telegramHome(server, model.url, telegram, more);
  return { server, model, home, gateway: await startGateway(home) };
}

const shown = (server: TelegramServer, chat = 1) => server.sent(chat).map(({ text }) => text);

/** Runs one command that the owner must allow, then says how that ended. */
function askFirst(command: string): Script {
  return (body) => {
    const messages = body["messages"] as readonly { role: string; content: string }[];
    const result = messages.findLast(({ role }) => role === "tool")?.content;
    if (result === undefined) return { toolCalls: [{ name: "exec", arguments: { command } }] };
    return { text: [result.startsWith("Error") ? "it was refused" : "it was done"] };
  };
}

const asking = { tools: { exec: { policy: "ask", sandbox: "none" } } };

test.each([
  ["123456789", "a string"],
  [123456789, "a number"],
  ["@alice", "a user name"],
  ["123456789|alice", "both"],
])("allowFrom %p lets the sender in by %s", async (entry) => {
  const { server } = await setUp({ telegram: { allowFrom: [entry] } });
  server.say(123456789, {
    text: "hello",
    from: { id: 123456789, is_bot: false, first_name: "A", username: "alice" },
  });
  await eventually(() => shown(server, 123456789).includes("echo: hello"));
});

test.each([[[]], [undefined], [[""]], [["12345678"]], [["1234567890"]], [["alic"]]])(
  "allowFrom %j lets nobody in, without a word and without a model",
  async (allowFrom) => {
    const { server, model, gateway } = await setUp({ telegram: { allowFrom } });
    server.say(123456789, {
      text: "hello",
      from: { id: 123456789, is_bot: false, first_name: "A", username: "alice" },
    });
    await eventually(() => server.updates.waiting.length === 0);
    await server.called("getUpdates", 2);
    expect(server.calls.filter(({ method }) => method.startsWith("send"))).toEqual([]);
    expect(model.requests).toEqual([]);
    if ((allowFrom ?? []).filter(Boolean).length === 0) {
      expect(gateway.stderr()).toContain("channels.telegram.allowFrom is empty, so nobody is answered");
    }
  },
);

test("pairing lets a stranger in by a code, also while the gateway runs", async () => {
  const { server, home } = await setUp({ telegram: { allowFrom: [], pairing: true } });
  server.say(77, "let me in");
  await eventually(() => shown(server, 77).length === 1);
  const code = /\b[A-Z2-9]{4}-[A-Z2-9]{4}\b/.exec(shown(server, 77)[0] ?? "")?.[0] ?? "";
  const { code: exit, stdout } = await run(["pairing", "approve", code], { home });
  expect([exit, stdout]).toEqual([0, expect.stringContaining("77")]);
  server.say(77, "hello");
  await eventually(() => shown(server, 77).includes("echo: hello"));
});

test("strangers in groups are ignored, and who may talk is heard when the bot is meant", async () => {
  const { server, model } = await setUp();
  const group = { chat: { id: -100, type: "supergroup", title: "Group" } };
  const from = { id: 1, is_bot: false, first_name: "One" };
  const mention = (text: string, name: string) => ({
    text,
    entities: [{ type: "mention", offset: text.indexOf(name), length: name.length }],
  });
  server.say(-100, { ...group, ...mention("@ourbot hi", "@ourbot"), from: { ...from, id: 666 } });
  server.say(-100, { ...group, text: "no mention of ourbot", from });
  server.say(-100, { ...group, ...mention("@ourbot2 hi", "@ourbot2"), from });
  server.say(-100, { ...group, ...mention("@OurBot what is this", "@OurBot"), from });
  await eventually(() => shown(server, -100).some((text) => text.includes("what is this")));
  expect(model.requests).toHaveLength(1);
});

test("what the owner must allow is put to the owner, by buttons", async () => {
  const { server, home } = await setUp({ script: askFirst("echo yes | tee -a allowed"), more: asking });
  server.say(1, "do it");
  await eventually(() => shown(server).some((text) => text.includes("/approve")));
  server.press(1, "Approve");
  await eventually(() => shown(server).includes("it was done"));
  expect(readFileSync(join(home.workspace, "allowed"), "utf8")).toBe("yes\n");
});

test("a stranger who is let in by * is not taken for the owner, and allows nothing", async () => {
  const telegram = { allowFrom: ["*"] };
  const { server, gateway } = await setUp({ script: askFirst("rm -r build"), more: asking, telegram });
  server.say(666, "clean up");
  await eventually(() => shown(server, 666).includes("it was refused"));
  expect(shown(server, 666).join("\n")).not.toContain("/approve");
  expect(gateway.stderr()).toContain("gateway.owner");
});

test("what the owner denies is not done, and nobody else can answer", async () => {
  const { server, home } = await setUp({
    script: askFirst("echo yes | tee -a allowed"),
    more: { ...asking, gateway: { port: 0, owner: "telegram:2" } },
  });
  server.meet(2);
  server.say(1, "do it");
  await eventually(() => shown(server, 2).some((text) => text.includes("/approve")));
  const question = shown(server, 2).join("\n");
  const code = /\/approve ([A-Z2-9-]{8,9})/.exec(question)?.[1] ?? "";
  server.say(1, `/approve ${code}`);
  await eventually(() => shown(server).some((text) => /owner/i.test(text)));
  server.say(2, `/deny ${code}`);
  await eventually(() => shown(server).includes("it was refused"));
  expect(readdirSync(home.workspace)).not.toContain("allowed");
});

test("a question stands through a kill, is not put twice, and its answer runs the call once", async () => {
  const { server, home, gateway } = await setUp({
    script: askFirst("echo yes | tee -a allowed"),
    more: asking,
  });
  const asked = () => shown(server).filter((text) => text.includes("/approve"));
  server.say(1, "do it");
  await eventually(() => asked().length === 1);
  // A kill before the platform's answer is recorded may double it, and that is all it may.
  await eventually(async () => (await run(["outbox", "list"], { home })).stdout.startsWith("Nothing"));
  gateway.signal("SIGKILL");
  await gateway.exited;
  await startGateway(home);
  server.press(1, "Approve");
  await eventually(() => shown(server).includes("it was done"));
  expect(asked()).toHaveLength(1);
  expect(readFileSync(join(home.workspace, "allowed"), "utf8")).toBe("yes\n");
});

test("files of the gateway are its owner's alone, and nothing of the token is logged", async () => {
  const { server, home, gateway } = await setUp({ more: { logging: { level: "debug" } } });
  server.say(1, "hello");
  await eventually(() => shown(server).includes("echo: hello"));
  server.fail("getUpdates", "drop", { status: 502, body: "x" });
  // Else the poll that runs would end in half a minute.
  server.say(1, "goodbye");
  await eventually(() => shown(server).includes("echo: goodbye"));
  await server.called("getUpdates", 4);
  expect(gateway.stderr()).not.toContain(server.token);
  const own = join(home.workspace, ".nanobot");
  expect(statSync(own).mode & 0o777).toBe(0o700);
  const files = readdirSync(own, { withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(["inbox.jsonl", "outbox.jsonl"]));
  for (const { name } of files) expect([name, statSync(join(own, name)).mode & 0o777]).toEqual([name, 0o600]);
  expect(statSync(join(own, "control.sock")).mode & 0o777).toBe(0o600);
});

test("a request without the secret is refused, wherever it says it comes from", async () => {
  const { server, gateway } = await setUp({
    telegram: { mode: "webhook", webhookUrl: "https://bot.example.com/x" },
  });
  await eventually(() => server.calls.some(({ method }) => method === "setWebhook"));
  const update = {
    update_id: 1,
    message: { message_id: 1, date: 1, chat: { id: 1, type: "private" }, text: "hi" },
  };
  for (const headers of [
    {},
    { "cf-connecting-ip": "127.0.0.1", "x-forwarded-for": "127.0.0.1" },
    { "x-telegram-bot-api-secret-token": "wrong" },
  ]) {
    const response = await fetch(`${gateway.url}/webhook/telegram`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(update),
    });
    expect([headers, response.status]).toEqual([headers, 401]);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("server")).toBeNull();
  }
});
