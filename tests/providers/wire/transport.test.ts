import { describe, expect, test } from "bun:test";
import { BrokenOff } from "../../../src/providers/wire/errors.ts";
import { open, scriptBody } from "./setup.ts";

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const END = event({ end: true });

describe("send() sends nothing", () => {
  test("when its signal had aborted", async () => {
    const server = scriptBody();
    const { send, clock } = open(server);
    const reason = new Error("stop");
    expect(await send(AbortSignal.abort(reason)).catch((error: unknown) => error)).toBe(reason);
    expect(server.requests).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe("send() behind the end of a reply", () => {
  test("waits half a second for what may follow, and closes the connection", async () => {
    const server = scriptBody();
    const { send, clock, sink } = open(server);
    const sending = send();
    server.write(event({ text: "hi" }) + END);
    await clock.advance(0);
    await clock.advance(499);
    server.write(event({ usage: 1 }));
    await clock.advance(0);
    await clock.advance(499);
    expect(server.isCutOff).toBe(false);
    await clock.advance(1);
    await sending;
    expect(sink.chunks).toEqual([{ text: "hi" }, { end: true }, { usage: 1 }]);
    expect(server.isCutOff).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("ends well when the time of the whole call is over", async () => {
    const server = scriptBody();
    const { send, clock } = open(server, { callTimeoutMs: 200 });
    const sending = send();
    server.write(END);
    await clock.advance(0);
    await clock.advance(200);
    expect(await sending).toBeUndefined();
  });

  test("ends well when the connection breaks", async () => {
    const server = scriptBody();
    const { send, clock } = open(server);
    const sending = send();
    server.write(END);
    await clock.advance(0);
    server.fail(new Error("ECONNRESET"));
    expect(await sending).toBeUndefined();
  });

  test("ends with the caller's reason when that aborts", async () => {
    const server = scriptBody();
    const { send, clock } = open(server);
    const controller = new AbortController();
    const reason = new Error("stop");
    const sending = send(controller.signal).catch((error: unknown) => error);
    server.write(END);
    await clock.advance(0);
    controller.abort(reason);
    expect(await sending).toBe(reason);
  });

  test("does not wait at all behind the mark of the end", async () => {
    const server = scriptBody();
    const { send } = open(server);
    const sending = send();
    server.write(`${END}data: [DONE]\n\n`);
    expect(await sending).toBeUndefined();
  });
});

describe("send() reads JSON", () => {
  const REPLY = JSON.stringify({ text: "hi", end: true });

  test.each<[string, Record<string, string>]>([
    ["that says what it is", { "content-type": "application/json; charset=utf-8" }],
    ["that is said to be text", { "content-type": "text/plain" }],
    ["that does not say what it is", {}],
  ])("%s", async (_, headers) => {
    const server = scriptBody(headers);
    const { send, sink } = open(server);
    const sending = send();
    server.write(" \r\n");
    server.write(`\n${REPLY.slice(0, 9)}`);
    server.write(REPLY.slice(9));
    server.end();
    await sending;
    expect(sink.chunks).toEqual([JSON.parse(REPLY)]);
  });

  test("but not where a stream is said to be text", async () => {
    const server = scriptBody({ "content-type": "text/plain" });
    const { send, sink } = open(server);
    const sending = send();
    server.write(`\ufeff${event({ text: "hi" })}${END}`);
    server.end();
    await sending;
    expect(sink.chunks).toEqual([{ text: "hi" }, { end: true }]);
  });

  test("that comes slowly, as long as it comes", async () => {
    const server = scriptBody({ "content-type": "application/json" });
    const { send, clock, sink } = open(server, { streamIdleMs: 1_000 });
    const sending = send();
    for (const piece of REPLY.match(/.{1,5}/g) ?? []) {
      server.write(piece);
      await clock.advance(0);
      await clock.advance(900);
    }
    server.end();
    await sending;
    expect(sink.chunks).toHaveLength(1);
  });

  test("up to a bound, and says so", async () => {
    const server = scriptBody({ "content-type": "application/json" });
    const { send } = open(server);
    const sending = send();
    const megabyte = `"${"x".repeat(1024 * 1024 - 3)}",`;
    server.write("[");
    for (let count = 0; count < 33; count++) server.write(megabyte);
    await expect(sending).rejects.toThrow("sent more than 32 MiB");
    expect(server.isCutOff).toBe(true);
  });
});

describe("send() tells failures apart", () => {
  test("a connection that breaks, with its cause", async () => {
    const server = scriptBody();
    const { send, clock } = open(server);
    const sending = send().catch((error: unknown) => error);
    server.write(event({ text: "hi" }));
    await clock.advance(0);
    const cause = new Error("ECONNRESET");
    server.fail(cause);
    const error = await sending;
    expect(error).toBeInstanceOf(BrokenOff);
    expect(error).toHaveProperty("cause", cause);
  });

  test.each(["", END])("a mistake of whoever takes the chunks, as it is, behind %j", async (before) => {
    const server = scriptBody();
    const { send } = open(server);
    const sending = send();
    server.write(event({ text: "hi" }) + before + event({ bug: true }));
    await expect(sending).rejects.toThrow(new TypeError("boom"));
    expect(server.isCutOff).toBe(true);
  });
});

describe("send() reads a refusal", () => {
  const refused = (body: ReadableStream<Uint8Array>) =>
    Object.assign(async () => new Response(body, { status: 401 }), { preconnect() {} });
  const said = new TextEncoder().encode('{"error":"no"}');

  test("whose body breaks, as one all the same", async () => {
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("ECONNRESET")),
    });
    const { send } = open({ fetch: refused(body) });
    expect(await send().catch((error: unknown) => error)).toMatchObject({ status: 401, body: "" });
  });

  test("whose body never ends, as far as it came in two seconds", async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(said) });
    const { send, clock } = open({ fetch: refused(body) });
    const sending = send().catch((error: unknown) => error);
    await clock.whenPending(2);
    await clock.advance(2_000);
    expect(await sending).toMatchObject({ status: 401, body: '{"error":"no"}' });
  });
});
