/** What a hook is told, and what it makes of that. */

import { expect, test } from "bun:test";
import * as v from "valibot";
import { channel as definition } from "../../../src/channels/webhook/channel.ts";
import { config as schema } from "../../../src/channels/webhook/config.ts";
import { bearer, SECRET, setUp } from "./fixture.ts";

const variable = (name: string) => `\${${name}}`;
const hook = { secret: SECRET, scheme: "bearer" };

test.each([
  ["no secret", { hooks: { ci: { scheme: "bearer" } } }],
  ["an empty secret", { hooks: { ci: { ...hook, secret: "" } } }],
  ["a blank secret", { hooks: { ci: { ...hook, secret: " \t" } } }],
  ["a secret that is null", { hooks: { ci: { ...hook, secret: null } } }],
  ["no scheme", { hooks: { ci: { secret: SECRET } } }],
  ["a scheme that there is not", { hooks: { ci: { ...hook, scheme: "none" } } }],
  ["a wait that proxies do not hold", { hooks: { ci: { ...hook, wait: 96 } } }],
  ["a wait below zero", { hooks: { ci: { ...hook, wait: -1 } } }],
  ["no room for a body", { hooks: { ci: { ...hook, maxBodyBytes: 0 } } }],
  ["an address that is not of the web", { hooks: { ci: { ...hook, replyUrl: "file:///etc/passwd" } } }],
])("config refuses %s", (_, config) => {
  expect(v.safeParse(schema, config).success).toBe(false);
});

test.each([
  ["a variable that is empty", { secret: variable("SECRET_OF_HOOK") }, "it is empty"],
  ["a variable that is not set", { secret: variable("NOT_SET") }, "NOT_SET is not set"],
  [
    "a secret of Standard Webhooks that is no base64",
    { scheme: "standard", secret: "whsec_!!" },
    "whsec_ and base64",
  ],
  [
    "a reply secret that is no base64",
    { scheme: "standard", replyUrl: "http://localhost/", replySecret: "not base64!" },
    "replySecret",
  ],
  ["a bearer that no header can hold", { secret: "gar nicht so übel und lang" }, "only ASCII"],
  [
    "one to answer with that no header can hold",
    { replyUrl: "https://example.com/", replySecret: "twenty\u20acand more of it" },
    "only ASCII",
  ],
  ["an address with a password", { replyUrl: "https://me:pass@example.com/" }, "a user name or a password"],
  ["an address that a variable spoils", { replyUrl: variable("FILE") }, "only http and https"],
])("create() refuses %s", async (_, rest, why) => {
  const env = { SECRET_OF_HOOK: " ", FILE: "file:///etc/passwd" };
  const made = setUp({ ci: rest as object }, { env });
  await expect(made).rejects.toThrow(why);
  await expect(made).rejects.toThrow("channels.webhook.hooks.ci.");
});

test("create() refuses to do without hooks", async () => {
  await expect(setUp({})).rejects.toThrow("Describe a hook in channels.webhook.hooks");
});

test("create() takes secrets from the environment and keeps them to itself", async () => {
  const env = { HOOK: "secret-of-the-environment", REPLY: "reply-of-the-environment" };
  const { secrets, fetch, log } = await setUp(
    {
      ci: {
        secret: variable("HOOK"),
        replySecret: variable("REPLY"),
        replyUrl: "https://example.com/x?key=1",
      },
    },
    { env },
  );
  expect(new Set(secrets)).toEqual(new Set([env.HOOK, env.REPLY, "https://example.com/x?key=1"]));
  const response = await fetch(bearer("ci", "{}", { authorization: `Bearer ${env.HOOK}` }));
  expect(response.status).toBe(202);
  expect(log.lines).toEqual([]);
});

test.each([{ secret: "hunter2" }, { secret: "whsec_aHVudGVyMg==", scheme: "standard" as const }])(
  "create() warns of a secret that can be guessed, and does not say it: %j",
  async (hook) => {
    const { log } = await setUp({ ci: hook });
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toContain("channels.webhook.hooks.ci.secret");
    expect(log.lines[0]).not.toContain(hook.secret);
  },
);

test.each(["a/b", "CI", "", "a:b", "x".repeat(65), "ü"])("create() refuses a hook named %j", async (name) => {
  await expect(setUp({ [name]: {} })).rejects.toThrow("Rename the hook");
});

async function placeOf(rest: object, body: string) {
  const { fetch, inbox } = await setUp({ ci: rest });
  await fetch(bearer("ci", body));
  const { chatId, sessionKey, senderId } = inbox[0] ?? {};
  return { chatId, sessionKey, senderId };
}

test.each([
  [{}, "{}", "ci", "webhook:ci"],
  [{ chatId: "builds" }, "{}", "builds", "webhook:ci"],
  [{ chatId: "{{r.n}}", sessionKey: "{{r.n}}" }, '{"r":{"n":"octo/app"}}', "octo/app", "webhook:ci:octo/app"],
  [{ chatId: "{{r.n}}", sessionKey: "{{r.n}}" }, "{}", "ci", "webhook:ci"],
  [{ sessionKey: "telegram:1" }, "{}", "ci", "telegram:1"],
  [{ sessionKey: "{{k}}" }, '{"k":"telegram:1"}', "ci", "webhook:ci:telegram:1"],
  [{ sessionKey: "webhook:ci:{{k}}" }, '{"k":"x"}', "ci", "webhook:ci:x"],
  [{ chatId: "{{k}}" }, '{"k":"  a\\n\\u001b[31mb\\u202e  "}', "a b", "webhook:ci"],
  [{ chatId: "{{k}}" }, '{"k":"   "}', "ci", "webhook:ci"],
])("fetch() puts an event of %j where it belongs", async (rest, body, chatId, sessionKey) => {
  expect(await placeOf(rest, body)).toEqual({ chatId, sessionKey, senderId: "ci" });
});

test("fetch() keeps long chats apart that begin alike", async () => {
  const { fetch, inbox } = await setUp({ ci: { chatId: "{{k}}", senderId: "robot" } });
  for (const end of ["1", "2", "1"])
    await fetch(bearer("ci", JSON.stringify({ k: "x".repeat(5_000) + end })));
  const [first, second, third] = inbox.map(({ chatId }) => chatId);
  expect(first?.length).toBeLessThanOrEqual(128);
  expect(first).not.toBe(second);
  expect(first).toBe(third);
  expect(inbox[0]?.senderId).toBe("robot");
});

test("start() goes on until it is told to end", async () => {
  const { channel, reports } = await setUp();
  const end = new AbortController();
  const running = channel.start(end.signal);
  expect(reports).toEqual([true]);
  end.abort();
  await running;
  await channel.start(AbortSignal.abort());
  await channel.stop();
  await channel.stop();
});

test("the channel is no place for deltas", () => {
  expect(definition.capabilities).toMatchObject({ deltas: false, idempotencyKey: true, markup: "markdown" });
});
