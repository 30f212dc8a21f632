import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SendError } from "../../../src/core/channel.ts";
import { startTelegramServer, type TelegramServer } from "../../fakes/telegram-server.ts";
import { until } from "../../fakes/until.ts";
import { createFixture, newToken, passUntil } from "./fixture.ts";

const OTHER_POLL = {
  code: 409,
  description:
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
};

const polls = ({ calls }: { readonly calls: readonly { readonly method: string }[] }) =>
  calls.filter(({ method }) => method === "getUpdates").length;

/** Somebody else sets a webhook for the bot. */
async function setWebhook(server: TelegramServer, url: string): Promise<void> {
  await fetch(`${server.url}/bot${server.token}/setWebhook`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url }),
  });
}

/** An error as the runtime throws it for a request that found no server. */
function networkError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

describe("start() by polling", () => {
  test("takes a webhook away without losing what waits, then asks for what it wants and no more", async () => {
    const server = await startTelegramServer({ token: newToken() });
    // Of an earlier run, and nobody serves it any more.
    await setWebhook(server, "https://gone.example/webhook/telegram");
    const fixture = await createFixture({ server });
    server.say(7, "still there?");
    await fixture.start();
    await until(() => fixture.emitted.length === 1);
    expect(server.updates.webhook).toBeUndefined();
    expect(server.updates.dropped).toBe(0);
    const asked = server.calls.find(({ method }) => method === "getUpdates");
    expect(asked?.fields).toEqual({
      limit: 100,
      timeout: 30,
      allowed_updates: ["message", "callback_query"],
    });
    await fixture.close();
  });

  test("takes a webhook away that is set while it polls, once and with waits after that", async () => {
    const fixture = await createFixture();
    const { server } = fixture;
    await fixture.start();
    await server.called("getUpdates", 1);
    await setWebhook(server, "https://other.example/hook");
    await server.called("deleteWebhook", 2);
    await until(() => fixture.reports.at(-1)?.isConnected === true);
    server.say(7, "hello");
    await passUntil(fixture, () => fixture.emitted.length === 1);
    const conflict = {
      code: 409,
      description:
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    };
    server.fail("getUpdates", conflict, conflict, conflict);
    server.say(7, "more");
    await passUntil(fixture, () => fixture.emitted.length === 2);
    expect(server.calls.filter(({ method }) => method === "deleteWebhook").length).toBeLessThan(5);
    await fixture.close();
  });

  test("moves the offset over what was emitted, and starts behind it", async () => {
    const fixture = await createFixture();
    const { server, emitted } = fixture;
    server.say(7, "one");
    server.say(7, "two");
    await fixture.start();
    await until(() => server.updates.offsets.includes(102));
    expect(server.updates.waiting).toEqual([]);
    await fixture.stop();
    server.updates.offerAgain([100, 101]);
    const again = await createFixture({
      server,
      ports: { emit: async ({ id }) => emitted.every((message) => message.id !== id) },
    });
    await again.start();
    await until(() => server.updates.waiting.length === 0);
    expect(again.emitted).toEqual([]);
    expect(server.calls.filter(({ method }) => method === "setMessageReaction")).toHaveLength(2);
    await again.stop();
    await fixture.close();
  });

  test("moves it over nothing that is not safe, also when what comes behind it is", async () => {
    const attempts: string[] = [];
    let isBroken = true;
    const fixture = await createFixture({
      ports: {
        async emit({ id, chatId }) {
          attempts.push(id);
          if (chatId === "8" && isBroken) throw new Error("the disk is full");
          return true;
        },
      },
    });
    const { server, emitted, log } = fixture;
    server.say(7, "one");
    server.say(8, "two");
    server.say(7, "three");
    server.say(8, "four");
    await fixture.start();
    await until(() => log.lines.some((line) => line.includes("the disk is full")));
    await passUntil(fixture, () => server.updates.offsets.includes(101));
    expect(server.updates.waiting).toEqual([101, 102, 103]);
    expect(emitted.map(({ content }) => content)).toEqual(["one", "three"]);
    isBroken = false;
    await passUntil(fixture, () => server.updates.waiting.length === 0);
    expect(emitted.map(({ content }) => content)).toEqual(["one", "three", "two", "four"]);
    expect(attempts.filter((id) => id === "telegram:update:102")).toHaveLength(1);
    expect(fixture.reports.every(({ isConnected }) => isConnected)).toBe(true);
    await fixture.close();
  });

  test("never has two polls open, however quickly it is stopped and started", async () => {
    const fixture = await createFixture();
    const { server, channel } = fixture;
    for (let round = 0; round < 8; round++) {
      const ending = new AbortController();
      const work = channel.start(ending.signal);
      if (round % 2 === 0) await server.called("getUpdates", round / 2 + 1);
      ending.abort();
      await Promise.all([channel.stop(), work]);
    }
    await fixture.start();
    server.say(7, "hello");
    await until(() => fixture.emitted.length === 1);
    expect(server.updates.overlaps).toBe(0);
    await fixture.close();
  });

  test("waits for another channel of the same token, which has ended its poll before", async () => {
    const first = await createFixture();
    await first.start();
    await first.server.called("getUpdates", 1);
    const second = await createFixture({ server: first.server });
    const ending = new AbortController();
    const work = second.channel.start(ending.signal);
    await first.server.called("getMe", 2);
    for (let turn = 0; turn < 100; turn++) await first.clock.giveWay();
    expect(polls(first.server)).toBe(1);
    await first.stop();
    first.server.say(7, "hello");
    await until(() => second.emitted.length === 1);
    ending.abort();
    await work;
    expect(first.server.updates.overlaps).toBe(0);
    await first.close();
  });

  test("gives way, with longer and longer waits, to another program that has the same token", async () => {
    const times: number[] = [];
    const server = await startTelegramServer({
      token: newToken(),
      onCall: ({ method }) => void (method === "getUpdates" && times.push(fixture.clock.now())),
    });
    const fixture = await createFixture({ server });
    server.fail("getUpdates", OTHER_POLL, OTHER_POLL, OTHER_POLL);
    await fixture.start();
    await passUntil(fixture, () => times.length >= 4);
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const [index, least] of [1_000, 2_000, 4_000].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(least);
      expect(waits[index]).toBeLessThan(least * 2);
    }
    expect(fixture.reports.map(({ detail }) => detail)).toContain(
      "Another program receives with the same token; stop it, or give it a bot of its own",
    );
    server.say(7, "hello");
    await until(() => fixture.emitted.length === 1);
    expect(fixture.reports.at(-1)).toEqual({ isConnected: true, detail: "@ourbot, by polling" });
    await fixture.close();
  });

  test("waits as long as it is told to", async () => {
    const fixture = await createFixture();
    const { server, clock } = fixture;
    const description = "Too Many Requests: retry after 90";
    server.fail("getUpdates", { code: 429, description, parameters: { retry_after: 90 } });
    await fixture.start();
    await until(() => fixture.reports.at(-1)?.isConnected === false);
    await clock.whenPending(1);
    await clock.advance(89_999);
    for (let turn = 0; turn < 50; turn++) await clock.giveWay();
    expect(polls(server)).toBe(1);
    await clock.advance(1);
    await server.called("getUpdates", 2);
    await fixture.close();
  });

  test("goes on through broken connections, pages of proxies and silence", async () => {
    const fixture = await createFixture();
    const { server, clock, reports } = fixture;
    server.fail(
      "getUpdates",
      "drop",
      { status: 502, body: "<h1>Bad Gateway</h1>" },
      { status: 200, body: "" },
    );
    await fixture.start();
    server.say(7, "hello");
    await passUntil(fixture, () => fixture.emitted.length === 1);
    const details = reports.flatMap(({ isConnected, detail = "" }) => (isConnected ? [] : [detail]));
    expect(details).toHaveLength(3);
    expect(details[1]).toContain("answered with status 502");
    expect(details.join("\n")).not.toContain(server.token);
    server.fail("getUpdates", "hang");
    server.say(7, "ignored by that one");
    const asked = polls(server);
    await until(() => polls(server) > asked);
    await clock.advance(45_000);
    await passUntil(fixture, () => fixture.emitted.length === 2);
    expect(reports.map(({ detail = "" }) => detail).join("\n")).toContain("did not answer within 45 s");
    await fixture.close();
  });

  test("takes what can be read of an answer that holds other things too, and asks again without haste", async () => {
    const fixture = await createFixture();
    const { server } = fixture;
    const from = { id: 7, is_bot: false, first_name: "Ann" };
    const message = { message_id: 1, date: 1, chat: { id: 7, type: "private" }, from, text: "hello" };
    const results = ["x", [null, 5, [], { update_id: "1" }, { update_id: 90, message }], [null]];
    const answers = results.map((result) => ({ status: 200, body: JSON.stringify({ ok: true, result }) }));
    server.fail("getUpdates", ...answers);
    await fixture.start();
    await passUntil(fixture, () => fixture.emitted.length === 1);
    const before = polls(server);
    for (let turn = 0; turn < 50; turn++) await fixture.clock.giveWay();
    expect(polls(server) - before).toBeLessThanOrEqual(1);
    server.say(7, "more");
    await passUntil(fixture, () => fixture.emitted.length === 2);
    await fixture.close();
  });

  test("waits for news again when another program has confirmed what it still worked on", async () => {
    const put = Promise.withResolvers<boolean>();
    const fixture = await createFixture({ ports: { emit: () => put.promise } });
    const { server } = fixture;
    await fixture.start();
    server.say(7, "hello");
    await passUntil(fixture, () => server.calls.at(-1)?.fields["timeout"] === 0);
    await fetch(`${server.url}/bot${server.token}/getUpdates`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ offset: 1_000 }),
    });
    const before = polls(server);
    await passUntil(fixture, () => polls(server) > before + 1);
    put.resolve(true);
    await passUntil(fixture, () => server.calls.at(-1)?.fields["timeout"] === 30);
    await fixture.close();
  });

  test("begins when names can be looked up at last", async () => {
    let isDown = true;
    const reached: typeof fetch = Object.assign(
      (input: string | URL | Request, init?: RequestInit) =>
        isDown
          ? Promise.reject(networkError("EAI_AGAIN", "getaddrinfo EAI_AGAIN api.telegram.org"))
          : fetch(input, init),
      { preconnect: fetch.preconnect },
    );
    const fixture = await createFixture({ fetch: reached });
    const { clock, channel, reports, server } = fixture;
    const ending = new AbortController();
    const work = channel.start(ending.signal);
    for (let second = 0; second < 60; second++) {
      await clock.advance(1_000);
      await clock.giveWay();
    }
    expect(reports.at(-1)?.isConnected).toBe(false);
    expect(reports.at(-1)?.detail).toContain("EAI_AGAIN");
    isDown = false;
    server.say(7, "hello");
    await passUntil(fixture, () => fixture.emitted.length === 1);
    ending.abort();
    await work;
    await fixture.close();
  });

  test("says what is wrong with a certificate, and keeps the token to itself", async () => {
    const token = newToken();
    const refusing: typeof fetch = Object.assign(
      (input: string | URL | Request) => {
        const error = networkError("UNABLE_TO_VERIFY_LEAF_SIGNATURE", `bad certificate at ${String(input)}`);
        return Promise.reject(Object.assign(error, { path: String(input) }));
      },
      { preconnect: fetch.preconnect },
    );
    const fixture = await createFixture({ config: { token }, fetch: refusing });
    const { channel, reports, clock } = fixture;
    const ending = new AbortController();
    const work = channel.start(ending.signal);
    await clock.whenPending(1);
    await until(() => reports.length === 1);
    expect(reports[0]?.detail).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    expect(reports[0]?.detail).not.toContain(token);
    const error = await channel.check?.(ending.signal).catch((thrown: unknown) => thrown);
    expect(Bun.inspect(error)).not.toContain(token);
    ending.abort();
    await work;
    await fixture.close();
  });

  test("ends for good with a token that Telegram does not know, without telling it", async () => {
    const token = "999:AAaaaaaaaaaaaaaaaaaaaaaaaaa";
    const fixture = await createFixture({ config: { token } });
    const error = await fixture.channel
      .start(new AbortController().signal)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SendError);
    expect((error as SendError).kind).toBe("unauthorized");
    expect((error as SendError).message).toContain("channels.telegram.token");
    expect(Bun.inspect(error)).not.toContain(token);
    await fixture.close();
  });

  test("ends when the token is taken back while it polls", async () => {
    const fixture = await createFixture();
    const { server } = fixture;
    await fixture.start();
    await server.called("getUpdates", 1);
    server.revokeToken();
    server.say(7, "wakes the poll");
    await expect(fixture.ended).rejects.toMatchObject({ kind: "unauthorized" });
    await fixture.close();
  });

  test("ends with a token that Telegram answers as an address that is not there", async () => {
    const fixture = await createFixture();
    fixture.server.fail("getMe", { code: 404, description: "Not Found" });
    await expect(fixture.channel.start(new AbortController().signal)).rejects.toMatchObject({
      kind: "unauthorized",
    });
    await fixture.close();
  });

  test("sends all its requests through the proxy that is set for it", async () => {
    const proxied: string[] = [];
    const server = await startTelegramServer({ token: newToken() });
    const proxy = createServer(async (request, response) => {
      proxied.push(request.url ?? "");
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk as Uint8Array);
      const answer = await fetch(request.url ?? "", {
        method: request.method ?? "GET",
        headers: { "content-type": request.headers["content-type"] ?? "" },
        ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      }).catch(() => undefined);
      if (answer === undefined) return void response.destroy();
      response.writeHead(answer.status).end(new Uint8Array(await answer.arrayBuffer()));
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as AddressInfo;
    const fixture = await createFixture({ server, config: { proxy: `127.0.0.1:${port}` } });
    server.say(7, { document: server.file(Buffer.from("text"), "a.txt") });
    await fixture.start();
    await until(() => fixture.emitted.length === 1);
    await fixture.stop();
    const paths = proxied.map((url) => URL.parse(url)?.pathname.replace(/bot[^/]*/, "bot"));
    for (const path of ["/bot/getMe", "/bot/getUpdates", "/bot/getFile"]) expect(paths).toContain(path);
    expect(paths.some((path) => path?.startsWith("/file/bot/"))).toBe(true);
    await fixture.close();
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });
});
