import { describe, expect, test } from "bun:test";
import { readHtml } from "./telegram-html.ts";
import { startTelegramServer, type TelegramServer } from "./telegram-server.ts";
import { until } from "./until.ts";

interface Answer {
  readonly ok: boolean;
  readonly error_code?: number;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
}

async function call(
  { url, token }: Pick<TelegramServer, "url" | "token">,
  method: string,
  fields: object = {},
): Promise<Answer> {
  const response = await fetch(`${url}/bot${token}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields),
  });
  return (await response.json()) as Answer;
}

async function withServer(work: (server: TelegramServer) => Promise<void>): Promise<void> {
  const server = await startTelegramServer({ retryMs: 5 });
  await work(server);
  await server.close();
}

describe("readHtml()", () => {
  test("reads what Telegram's documents show", () => {
    const html =
      '<b>bold <i>both <u>all</u></i></b> <a href="https://x.example/?a=1&amp;b">link</a> <tg-spoiler>s</tg-spoiler> <span class="tg-spoiler">t</span> <pre><code class="language-ts">a &lt; b</code></pre><blockquote expandable>q</blockquote>&#8364;';
    expect(readHtml(html)).toEqual({ ok: true, text: "bold both all link s t a < bq€" });
  });

  test("refuses what they forbid", () => {
    const refused = [
      "a < b",
      "a & b",
      "a &nbsp; b",
      "<b>open",
      "</b>",
      "<b><i>x</b></i>",
      "<p>x</p>",
      "<br>",
      "<a>x</a>",
      '<b class="x">y</b>',
    ];
    for (const html of refused) expect(readHtml(html)).toMatchObject({ ok: false });
  });
});

describe("startTelegramServer()", () => {
  test("refuses wrong tokens as Telegram does", async () => {
    await withServer(async ({ url }) => {
      expect(await call({ url, token: "1:wrong" }, "getMe")).toMatchObject({ error_code: 401 });
      expect(await call({ url, token: "no-token" }, "getMe")).toMatchObject({ error_code: 404 });
    });
  });

  test("refuses messages that are too long, empty, misspelled, or for nobody", async () => {
    await withServer(async (server) => {
      server.meet(7);
      const send = async (fields: object) =>
        (await call(server, "sendMessage", { chat_id: 7, ...fields })).description;
      expect(await send({ text: "x".repeat(4_097) })).toBe("Bad Request: message is too long");
      expect(await send({ text: "x".repeat(4_096) })).toBeUndefined();
      expect(await send({ text: " " })).toBe("Bad Request: message text is empty");
      expect(await send({ text: "<b>x", parse_mode: "HTML" })).toContain("can't parse entities");
      expect(await send({ text: "x", chat_id: 8 })).toBe("Bad Request: chat not found");
      expect(await send({ text: "x", message_thread_id: 3 })).toBe("Bad Request: message thread not found");
      expect(await send({ text: "x", reply_parameters: { message_id: 99 } })).toBe(
        "Bad Request: message to be replied not found",
      );
      const keyboard = (data: string) => ({ inline_keyboard: [[{ text: "a", callback_data: data }]] });
      expect(await send({ text: "x", reply_markup: keyboard("x".repeat(65)) })).toBe(
        "Bad Request: BUTTON_DATA_INVALID",
      );
      expect(await send({ text: "x", reply_markup: keyboard("ü".repeat(32)) })).toBeUndefined();
      server.block(7);
      expect(await send({ text: "x" })).toBe("Forbidden: bot was blocked by the user");
    });
  });

  test("ends a poll when another begins, and refuses polls beside a webhook", async () => {
    await withServer(async (server) => {
      const first = call(server, "getUpdates", { timeout: 30 });
      await server.called("getUpdates", 1);
      const second = call(server, "getUpdates", { timeout: 30 });
      expect(await first).toMatchObject({
        error_code: 409,
        description: expect.stringContaining("other getUpdates"),
      });
      expect(server.updates.overlaps).toBe(1);
      server.say(7, "hi");
      expect((await second).result).toHaveLength(1);
      await call(server, "setWebhook", { url: "https://bot.example/hook" });
      expect(await call(server, "getUpdates")).toMatchObject({
        error_code: 409,
        description: expect.stringContaining("webhook is active"),
      });
      expect(await call(server, "setWebhook", { url: "http://bot.example/hook" })).toMatchObject({
        error_code: 400,
      });
    });
  });

  test("hands updates out until they are confirmed", async () => {
    await withServer(async (server) => {
      const ids = [server.say(7, "one"), server.say(7, "two"), server.say(8, "three")].map(
        ({ updateId }) => updateId,
      );
      expect(ids).toEqual([100, 101, 102]);
      expect((await call(server, "getUpdates")).result).toHaveLength(3);
      expect((await call(server, "getUpdates", { limit: 1 })).result).toHaveLength(1);
      expect((await call(server, "getUpdates", { offset: 102 })).result).toHaveLength(1);
      expect(server.updates.waiting).toEqual([102]);
      server.updates.offerAgain([100]);
      expect(server.updates.waiting).toEqual([100, 102]);
    });
  });

  test("pushes to a webhook in the order of each chat, with the secret, until it is taken", async () => {
    const seen: string[] = [];
    const failures = new Map([["100", 2]]);
    const hook = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        if (request.headers.get("x-telegram-bot-api-secret-token") !== "s3cret")
          return new Response(null, { status: 401 });
        const { update_id: id } = (await request.json()) as { update_id: number };
        seen.push(`${id}`);
        const left = failures.get(`${id}`) ?? 0;
        failures.set(`${id}`, left - 1);
        return new Response(null, { status: left > 0 ? 503 : 200 });
      },
    });
    await withServer(async (server) => {
      server.say(7, "one");
      server.say(7, "two");
      server.say(8, "other");
      await call(server, "setWebhook", { url: `${hook.url}`, secret_token: "s3cret" });
      await until(() => server.updates.waiting.length === 0);
      expect(seen.filter((id) => id !== "102")).toEqual(["100", "100", "100", "101"]);
      expect(seen).toContain("102");
      expect((await call(server, "getWebhookInfo")).result).toMatchObject({ pending_update_count: 0 });
    });
    await hook.stop(true);
  });

  test("hands out files up to 20 MB", async () => {
    await withServer(async (server) => {
      const { file_id: small } = server.file(Buffer.from("abc"));
      const { result } = await call(server, "getFile", { file_id: small });
      const { file_path: path } = result as { file_path: string };
      expect(await (await fetch(`${server.url}/file/bot${server.token}/${path}`)).text()).toBe("abc");
      const { file_id: large } = server.file(20 * 1024 * 1024 + 1);
      expect((await call(server, "getFile", { file_id: large })).description).toBe(
        "Bad Request: file is too big",
      );
    });
  });

  test("refuses what comes too quickly, where it is told to", async () => {
    const server = await startTelegramServer({ flood: { messages: 2, perMs: 60_000 } });
    server.meet(7);
    const send = () => call(server, "sendMessage", { chat_id: 7, text: "x" });
    expect((await send()).ok && (await send()).ok).toBe(true);
    expect(await send()).toMatchObject({ error_code: 429, parameters: { retry_after: expect.any(Number) } });
    await server.close();
  });

  test("goes wrong as it is told to, once each", async () => {
    await withServer(async (server) => {
      server.meet(7);
      server.fail("sendMessage", { code: 500, description: "Internal Server Error" }, "dropAfter");
      const send = () => call(server, "sendMessage", { chat_id: 7, text: "x" });
      expect(await send()).toMatchObject({ error_code: 500 });
      expect(await send().catch(() => "broken off")).toBe("broken off");
      expect(server.sent(7)).toHaveLength(1);
      expect((await send()).ok).toBe(true);
      expect((await call(server, "noSuchMethod")).error_code).toBe(404);
    });
  });
});
