import { describe, expect, test } from "bun:test";
import { derivedSecret } from "../../../src/channels/telegram/webhook.ts";
import { UserError } from "../../../src/core/errors.ts";
import { until } from "../../fakes/until.ts";
import { createFixture, type Fixture, type FixtureOptions, passUntil } from "./fixture.ts";

const SECRET = "a-secret_of-the-owner";

async function opened(options: FixtureOptions = {}): Promise<Fixture> {
  const config = { mode: "webhook", webhookSecretToken: SECRET, ...options.config };
  const fixture = await createFixture({ ...options, config });
  await fixture.start();
  return fixture;
}

function post(
  { channel }: Fixture,
  body: string | Uint8Array<ArrayBuffer>,
  secret: string | undefined = SECRET,
) {
  const request = new Request("http://127.0.0.1/webhook/telegram", {
    method: "POST",
    headers: secret === undefined ? {} : { "x-telegram-bot-api-secret-token": secret },
    body,
  });
  const info = { peer: "127.0.0.1", client: "127.0.0.1", upgrade: () => undefined };
  const answer = channel.routes?.[0]?.fetch(request, info);
  if (answer === undefined) throw new Error("There is no route");
  return answer.then(({ status }) => status);
}

const chat = { id: 7, type: "private", first_name: "Bob" };
const update = (id: number, text = "hello") =>
  JSON.stringify({
    update_id: id,
    message: {
      message_id: id,
      date: 1_700_000_000,
      chat,
      from: { id: 7, is_bot: false, first_name: "Bob" },
      text,
    },
  });

describe("start() by webhook", () => {
  test("sets the webhook at every start, with all that belongs to it, and checks it", async () => {
    const fixture = await opened({ publicUrl: "https://bot.example" });
    const { server } = fixture;
    const set = server.calls.find(({ method }) => method === "setWebhook");
    expect(set?.fields).toEqual({
      url: "https://bot.example/webhook/telegram",
      secret_token: SECRET,
      allowed_updates: ["message", "callback_query"],
      max_connections: 4,
      drop_pending_updates: false,
    });
    expect(fixture.reports.at(-1)).toEqual({ isConnected: true, detail: "@ourbot, by webhook" });
    expect(fixture.secrets).toEqual([server.token, SECRET]);
    await fixture.stop();
    await fixture.start();
    expect(server.calls.filter(({ method }) => method === "setWebhook")).toHaveLength(2);
    await fixture.close();
  });

  test("prefers the address that is set for it, and derives a secret that stays the same", async () => {
    const config = {
      webhookUrl: "https://other.example/hook/",
      webhookSecretToken: "",
      webhookMaxConnections: 9,
    };
    const fixture = await opened({ config });
    const set = fixture.server.calls.find(({ method }) => method === "setWebhook");
    expect(set?.fields).toMatchObject({
      url: "https://other.example/hook",
      secret_token: derivedSecret(fixture.server.token),
      max_connections: 9,
    });
    expect(derivedSecret("1:a")).toBe(derivedSecret("1:a"));
    expect(derivedSecret("1:a")).not.toBe(derivedSecret("1:b"));
    expect(derivedSecret("1:a")).toMatch(/^[A-Za-z0-9_-]{32,256}$/);
    expect(fixture.secrets).toContain(derivedSecret(fixture.server.token));
    await fixture.close();
  });

  test("tries again when the webhook cannot be set yet, and when it is not there after all", async () => {
    const fixture = await createFixture({ config: { mode: "webhook" } });
    const { server, reports, clock, channel } = fixture;
    const description = "Bad Request: bad webhook: Failed to resolve host: Name or service not known";
    server.fail("setWebhook", { code: 400, description });
    server.fail("getWebhookInfo", { status: 200, body: '{"ok":true,"result":{"url":""}}' });
    const ending = new AbortController();
    const work = channel.start(ending.signal);
    await passUntil(fixture, () => reports.at(-1)?.isConnected === true);
    expect(reports.map(({ detail }) => detail)).toEqual([
      `Telegram says: ${description}`,
      "Telegram took the address of the webhook and does not have it",
      "@ourbot, by webhook",
    ]);
    expect(clock.pending).toBeGreaterThan(0);
    ending.abort();
    await work;
    await fixture.close();
  });

  test("sets it again when somebody takes it away", async () => {
    const fixture = await opened();
    const { server, clock } = fixture;
    await fetch(`${server.url}/bot${server.token}/deleteWebhook`, { method: "POST" });
    expect(server.updates.webhook).toBeUndefined();
    await clock.whenPending(1);
    await clock.advance(5 * 60_000);
    await until(() => server.updates.webhook !== undefined);
    server.say(7, "hello");
    await until(() => fixture.emitted.length === 1);
    await fixture.close();
  });

  test("loses nothing when the mode changes, in either direction", async () => {
    const byWebhook = await opened();
    const { server } = byWebhook;
    server.say(7, "one");
    await until(() => byWebhook.emitted.length === 1 && server.updates.waiting.length === 0);
    await byWebhook.stop();
    server.say(7, "two");
    const byPolling = await createFixture({ server });
    await byPolling.start();
    await until(() => byPolling.emitted.length === 1 && server.updates.waiting.length === 0);
    await byPolling.stop();
    server.say(7, "three");
    await byWebhook.start();
    await until(() => byWebhook.emitted.length === 2);
    expect(byPolling.emitted[0]?.content).toBe("two");
    expect(byWebhook.emitted.map(({ content }) => content)).toEqual(["one", "three"]);
    expect(server.updates.dropped).toBe(0);
    await byWebhook.close();
  });
});

describe("the route of the webhook", () => {
  test("answers 401 to a wrong secret, before it looks at the body", async () => {
    const fixture = await opened();
    expect(await post(fixture, update(1), "wrong")).toBe(401);
    expect(await post(fixture, update(1), `${SECRET}x`)).toBe(401);
    expect(await post(fixture, update(1), "")).toBe(401);
    expect(await post(fixture, "no json", "wrong")).toBe(401);
    const bare = new Request("http://127.0.0.1/", { method: "POST", body: update(1) });
    const info = { peer: "127.0.0.1", client: "127.0.0.1", upgrade: () => undefined };
    expect((await fixture.channel.routes?.[0]?.fetch(bare, info))?.status).toBe(401);
    expect(fixture.emitted).toEqual([]);
    await fixture.close();
  });

  test("answers 400 to what is no update, 413 to what is too large, 405 to what is no POST", async () => {
    const fixture = await opened();
    for (const body of ["", "no json", "[]", "7", '{"message":{}}', '{"update_id":"7"}', "\xff\xfe"]) {
      expect(await post(fixture, body)).toBe(400);
    }
    expect(await post(fixture, update(1, "x".repeat(1024 * 1024)))).toBe(413);
    const get = new Request("http://127.0.0.1/", { headers: { "x-telegram-bot-api-secret-token": SECRET } });
    const info = { peer: "127.0.0.1", client: "127.0.0.1", upgrade: () => undefined };
    expect((await fixture.channel.routes?.[0]?.fetch(get, info))?.status).toBe(405);
    expect(fixture.emitted).toEqual([]);
    await fixture.close();
  });

  test("answers 200 when the message is safe, and at once to the same update again", async () => {
    const fixture = await opened();
    expect(await post(fixture, update(1))).toBe(200);
    expect(fixture.emitted).toHaveLength(1);
    const again = await Promise.all([1, 1, 1].map((id) => post(fixture, update(id))));
    expect(again).toEqual([200, 200, 200]);
    expect(fixture.emitted).toHaveLength(1);
    await fixture.close();
  });

  test("answers 503 to what cannot be put, and takes it when it comes again", async () => {
    let isBroken = true;
    const fixture = await opened({
      ports: {
        async emit() {
          if (isBroken) throw new Error("the disk is full");
          return true;
        },
      },
    });
    expect(await post(fixture, update(1))).toBe(503);
    isBroken = false;
    expect(await post(fixture, update(1))).toBe(200);
    expect(fixture.log.lines.join("\n")).toContain("the disk is full");
    await fixture.close();
  });

  test("answers 503 after 5 s of waiting, and takes the update once however often it comes meanwhile", async () => {
    const held = Promise.withResolvers<boolean>();
    let attempts = 0;
    const fixture = await opened({
      ports: {
        admit: () => held.promise,
        async emit() {
          attempts++;
          return true;
        },
      },
    });
    const answers = [post(fixture, update(1)), post(fixture, update(1))];
    let statuses: readonly number[] | undefined;
    const answered = Promise.all(answers).then((all) => {
      statuses = all;
    });
    await passUntil(fixture, () => statuses !== undefined);
    await answered;
    expect(statuses).toEqual([503, 503]);
    held.resolve(true);
    expect(await post(fixture, update(1))).toBe(200);
    expect(attempts).toBe(1);
    await fixture.close();
  });

  test("answers 503 while the channel is not started", async () => {
    const fixture = await createFixture({ config: { mode: "webhook", webhookSecretToken: SECRET } });
    expect(await post(fixture, update(1))).toBe(503);
    await fixture.start();
    expect(await post(fixture, update(1))).toBe(200);
    await fixture.stop();
    expect(await post(fixture, update(2))).toBe(503);
    await fixture.close();
  });

  test("takes bodies of any bytes without an error", async () => {
    const fixture = await opened();
    for (const bytes of [
      new Uint8Array([0xff, 0, 1]),
      new Uint8Array(0),
      new TextEncoder().encode("{".repeat(9_999)),
    ]) {
      expect(await post(fixture, bytes)).toBe(400);
    }
    await fixture.close();
  });
});

describe("create()", () => {
  async function problem(config: Readonly<Record<string, unknown>>, publicUrl?: string): Promise<string> {
    const options = { config, ...(publicUrl === undefined ? {} : { publicUrl }) };
    const error = await createFixture(options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserError);
    return (error as UserError).message;
  }

  test("names the setting that is missing or wrong, and no secret", async () => {
    expect(await problem({ token: "" })).toBe('Set "channels.telegram.token": there is none');
    expect(await problem({ token: "my secret token" })).toBe(
      '"channels.telegram.token" does not look like a token',
    );
    expect(await problem({ token: "1:a/../b" })).not.toContain("1:a");
    expect(await problem({ apiRoot: "telegram.org" })).toContain('"channels.telegram.apiRoot"');
    expect(await problem({ mode: "webhook", webhookSecretToken: "not allowed!" })).toContain(
      '"channels.telegram.webhookSecretToken"',
    );
    expect(await problem({ mode: "webhook", webhookUrl: "ftp://x" })).toContain(
      '"channels.telegram.webhookUrl"',
    );
    expect(await problem({ mode: "webhook" }, "nowhere")).toBe(
      'Set "channels.telegram.webhookUrl" or "gateway.publicUrl": the mode is "webhook"',
    );
    expect(await problem({ proxy: "socks5://x" })).toContain('"channels.telegram.proxy"');
  });
});
