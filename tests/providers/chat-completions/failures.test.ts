import { describe, expect, test } from "bun:test";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { chunk, connect, errorFor, KEY, replyTo, serve } from "../fixture.ts";

describe("chat() fails", () => {
  test("as transient, with the text so far, when the connection is cut", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const server = await serve([{ text: ["half ", "of it"], cutAt: 400, rechunk: [], cutWhen: promise }]);
    const { ask, firstDelta } = connect(server.url);
    const reply = ask();
    await firstDelta;
    resolve();
    expect(await reply).toMatchObject({
      ok: false,
      partial: "half ",
      error: { kind: "transient", message: expect.stringContaining("broke off in the middle of its reply") },
    });
  });

  test("as transient when a stream whose end cannot be told from a cut does not say that it is over", async () => {
    const body =
      'HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {"choices":[{"delta":{"content":"half"}}]}\n\n';
    const server = createServer((socket) => socket.once("data", () => socket.end(body)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const reply = await connect(`http://127.0.0.1:${port}/v1`).ask();
    server.close();
    expect(reply).toMatchObject({ ok: false, partial: "half", error: { kind: "transient" } });
  });

  test("not at all when a whole body has a reply in it that does not say that it is over", async () => {
    const reply = await replyTo({ text: "whole", finishReason: false, done: false });
    expect(reply).toMatchObject({ ok: true, content: "whole" });
  });

  test("not at all when empty events and words come between those of the reply", async () => {
    const text = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
    const raw = `data:\n\n${text("a")}event: ping\ndata: ping\n\ndata: \n\n${text("b")}data: [done]\n\n`;
    expect(await replyTo({ raw })).toMatchObject({ ok: true, content: "ab" });
  });

  test("not at all when the body is not what its type says", async () => {
    const event = `data: ${JSON.stringify({ choices: [{ delta: { content: "Hi" } }] })}\n\ndata: [DONE]\n\n`;
    const whole = JSON.stringify({ choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] });
    for (const [raw, type] of [
      [event, "application/json"],
      [event, "text/plain"],
      [whole, "text/event-stream"],
      [`\ufeff\n${whole}`, "text/plain"],
    ] as const) {
      const reply = await replyTo({ raw, headers: { "content-type": type } });
      expect(reply).toMatchObject({ ok: true, content: "Hi" });
    }
  });

  test("as what an error says that is sent as a whole chunk", async () => {
    const raw = 'event: error\ndata: {"message":"overloaded","code":529}\n\n';
    expect(await errorFor({ raw })).toMatchObject({
      kind: "transient",
      message: expect.stringContaining("overloaded"),
    });
  });

  test("as transient when an event is not JSON", async () => {
    expect(await errorFor({ raw: "data: {oops\n\ndata: [DONE]\n\n" })).toMatchObject({ kind: "transient" });
  });

  test("as transient when nobody listens, and says so", async () => {
    const server = await serve([]);
    await server.close();
    const reply = await connect(server.url).ask();
    const origin = server.url.replace("/v1", "");
    expect(reply).toEqual({
      ok: false,
      partial: "",
      error: { kind: "transient", message: `The model at ${origin} did not answer: connection refused` },
    });
  });

  test("as transient when no answer begins in time, and closes the connection", async () => {
    const server = await serve([{ never: true }]);
    const { ask, clock } = connect(server.url, { firstByteMs: 5_000 });
    const reply = ask();
    const [request] = await server.received(1);
    await clock.advance(5_000);
    expect(await reply).toMatchObject({
      ok: false,
      error: { kind: "transient", message: expect.stringContaining("did not answer within 5 seconds") },
    });
    expect(await request?.over).toBe("gone");
    expect(clock.pending).toBe(0);
  });

  test("as transient, with the text so far, when the stream goes silent", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const server = await serve([{ text: ["so far", " more"], holdAfter: { writes: 2, until: promise } }]);
    const { ask, clock, firstDelta } = connect(server.url, { streamIdleMs: 9_000 });
    const reply = ask();
    await firstDelta;
    await clock.advance(8_999);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(await reply).toMatchObject({
      ok: false,
      partial: "so far",
      error: { kind: "transient", message: expect.stringContaining("went silent for 9 seconds") },
    });
    resolve();
  });

  test("not at all while bytes keep coming, however slowly", async () => {
    const gate = Promise.withResolvers<void>();
    const server = await serve([{ text: ["a", "b"], holdAfter: { writes: 2, until: gate.promise } }]);
    const { ask, clock, firstDelta } = connect(server.url, { streamIdleMs: 9_000 });
    const reply = ask();
    await firstDelta;
    await clock.advance(8_000);
    gate.resolve();
    expect(await reply).toMatchObject({ ok: true, content: "ab" });
    expect(clock.pending).toBe(0);
  });

  test("as transient when the whole takes too long", async () => {
    const server = await serve([{ never: true }]);
    const { ask, clock } = connect(server.url, { callTimeoutMs: 3_000 });
    const reply = ask();
    await server.received(1);
    await clock.advance(3_000);
    expect(await reply).toMatchObject({
      error: { kind: "transient", message: expect.stringContaining("took longer than 3 seconds") },
    });
  });

  test("as aborted while it waits for the headers, and closes the connection", async () => {
    const server = await serve([{ never: true }]);
    const { ask, clock } = connect(server.url);
    const controller = new AbortController();
    const reply = ask({}, controller.signal);
    const [request] = await server.received(1);
    controller.abort(new Error("stop"));
    expect(await reply).toMatchObject({ ok: false, error: { kind: "aborted" } });
    expect(await request?.over).toBe("gone");
    expect(clock.pending).toBe(0);
  });

  test("as contentFilter when the filter ended the reply", async () => {
    const reply = await replyTo({ text: "I will", finishReason: "content_filter" });
    expect(reply).toMatchObject({ ok: false, partial: "I will", error: { kind: "contentFilter" } });
  });

  test("as badRequest when a web page answers", async () => {
    expect(
      await errorFor({ raw: "<html>hi</html>", headers: { "content-type": "text/html" } }),
    ).toMatchObject({
      kind: "badRequest",
    });
  });

  test.each([
    ["https://other.test/v1/chat?token=hunter2", ", at https://other.test; set apiBase"],
    ["http://", "another address; set apiBase"],
    ["mailto:hunter2@other.test", "another address; set apiBase"],
  ])(
    "as badRequest when it is redirected to %s, and says where without a secret",
    async (location, words) => {
      const error = await errorFor({ status: 307, headers: { location }, body: "" });
      expect(error.kind).toBe("badRequest");
      expect(error.message).toContain(words);
      expect(error.message).not.toContain("hunter2");
    },
  );

  test("without sending the conversation to where it is redirected", async () => {
    const other = await serve([{ text: "caught" }]);
    const location = `${other.url}/chat/completions`;
    const server = await serve([{ status: 308, headers: { location }, body: "" }]);
    expect(await connect(server.url).ask()).toMatchObject({ ok: false, error: { kind: "badRequest" } });
    expect(other.requests).toEqual([]);
  });

  test.each(["", ": hello\n\n", 'data: {"foreign":true}\n\n'])(
    "as a reply that is none when nothing of one had begun: %j",
    async (raw) => {
      const error = await errorFor({ raw, headers: { "content-type": "text/event-stream" } });
      expect(error).toMatchObject({
        kind: "transient",
        message: expect.stringContaining("sent nothing that is a reply"),
      });
    },
  );

  test.each([
    ["ZlibError", "its reply could not be decompressed"],
    ["BrotliDecompressionError", "its reply could not be decompressed"],
    ["InvalidHTTPResponse", "its reply is not valid HTTP"],
    ["SomethingElse", "the connection failed (SomethingElse fetching"],
  ])("in our own words for the runtime's %s", async (code, words) => {
    const advice = "For more information, pass `verbose: true` in the second argument to fetch()";
    const broken = new Response(
      new ReadableStream({
        pull() {
          throw Object.assign(new TypeError(`${code} fetching "http://x/". ${advice}`), { code });
        },
      }),
    );
    const fetch = Object.assign(async () => broken, { preconnect() {} });
    const reply = await connect("http://x.test/v1", { fetch }).ask();
    if (reply.ok) throw new Error("the call succeeded");
    expect(reply.error.message).toContain(words);
    expect(reply.error.message).not.toContain("For more");
  });

  test.each([
    [{ error: { message: "Overloaded", code: 529 } }, { kind: "transient", status: 529 }],
    [
      { error: { message: "You exceeded your current quota", code: "insufficient_quota" } },
      { kind: "quota" },
    ],
    [{ error: "something broke" }, { kind: "transient" }],
  ])("when an error comes inside the stream: %j", async (event, expected) => {
    expect(await errorFor({ events: [chunk({ content: "x" }), event] })).toMatchObject(expected);
  });
});

describe("chat() classes a refusal", () => {
  const openAi = (message: string, code: string | null = null) => ({ error: { message, code, type: "t" } });

  test.each<[number, unknown, string]>([
    [401, openAi("Incorrect API key provided"), "auth"],
    [403, openAi("Forbidden"), "auth"],
    [403, openAi("The input was flagged by moderation"), "contentFilter"],
    [400, [{ error: { code: 400, message: "API key not valid. Please pass a valid API key." } }], "auth"],
    [402, openAi("Insufficient credits"), "quota"],
    [429, openAi("You exceeded your current quota", "insufficient_quota"), "quota"],
    [400, openAi("Your credit balance is too low to access the API"), "quota"],
    [429, openAi("Rate limit reached for requests"), "transient"],
    [429, [{ error: { message: "You exceeded your current quota. Please retry in 17.2s." } }], "transient"],
    [408, {}, "transient"],
    [409, {}, "transient"],
    [500, "<html>Bad gateway</html>", "transient"],
    [503, openAi("Service unavailable"), "transient"],
    [529, openAi("Overloaded"), "transient"],
    [400, openAi("This model's maximum context length is 8192 tokens"), "contextOverflow"],
    [400, openAi("prompt is too long: 210000 tokens > 200000 maximum"), "contextOverflow"],
    [413, openAi("Request exceeds the maximum context"), "contextOverflow"],
    [400, openAi("x", "context_length_exceeded"), "contextOverflow"],
    [400, openAi("The response was filtered", "content_filter"), "contentFilter"],
    [400, openAi("messages[1].role must be one of four"), "badRequest"],
    [404, openAi("The model `m` does not exist"), "badRequest"],
    [422, { detail: [{ msg: "field required" }] }, "badRequest"],
  ])("%d %j as %s", async (status, body, kind) => {
    expect(await errorFor({ status, body })).toMatchObject({ kind, status });
  });

  test.each([
    [{ "retry-after": "20" }, 20_000],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
    [{ "retry-after": new Date(1_700_000_030_000).toUTCString() }, 30_000],
    [{ "retry-after": "-5" }, 0],
    [{ "retry-after": "999999999" }, 86_400_000],
    [{ "retry-after": "soon" }, undefined],
  ])("with the wait it asks for: %j", async (headers, retryAfterMs) => {
    const error = await errorFor({ status: 429, headers, body: openAi("slow down") });
    expect(error.retryAfterMs).toBe(retryAfterMs);
  });

  test("in one sentence for a person", async () => {
    expect((await errorFor({ status: 401, body: openAi("no") })).message).toBe(
      "fake refused the API key (401)",
    );
    expect((await errorFor({ status: 400, body: openAi("Bad\n tools.") })).message).toBe(
      "fake refused the request (400): Bad tools",
    );
    expect((await errorFor({ status: 503, body: openAi("Try later") })).message).toBe(
      "fake failed on its side (503): Try later",
    );
  });

  test("without the key that the server repeats", async () => {
    const { message } = await errorFor({ status: 400, body: openAi(`bad key ${KEY} given`) });
    expect(message).toContain("bad key");
    expect(message).not.toContain(KEY.slice(3));
  });

  test("of any length, but reads only its beginning", async () => {
    const { message } = await errorFor({ status: 400, body: "x".repeat(2_000_000) });
    expect(message.length).toBeLessThan(500);
  });
});
