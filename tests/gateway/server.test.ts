import { afterAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import type { ChannelRoute } from "../../src/core/channel.ts";
import type { HttpServer } from "../../src/core/http.ts";
import { createGatewayApp } from "../../src/gateway/app.ts";
import { readBody } from "../../src/lib/read-body.ts";
import { runtime } from "../../src/platform/bun.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createHttpServers } from "../../src/platform/http.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";

const MAX_BYTES = 100_000;
const servers: HttpServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop(0))));

async function serve() {
  const clock = createFakeClock();
  const taken: number[] = [];
  const hook: ChannelRoute = {
    path: "",
    async fetch(request) {
      const body = await readBody(request, { maxBytes: MAX_BYTES, clock });
      if (!body.ok) return new Response(body.reason, { status: body.status });
      taken.push(body.bytes.length);
      return new Response("ok");
    },
  };
  const socket: ChannelRoute = {
    path: "/ws",
    isAbsolute: true,
    fetch: async (_, info) =>
      info.upgrade(
        {
          open: (own) => own.send(`hello ${info.client}`),
          message: (own, text) => own.send(text.toUpperCase()),
          closed() {},
        },
        { maxBytes: 100 },
      ) ?? new Response("a WebSocket lives here", { status: 426 }),
  };
  const app = await createGatewayApp({
    channels: [{ channel: "hook", routes: [hook, socket], isOpen: () => true }],
    ready: async () => [],
    trustedProxies: ["127.0.0.1"],
    maxBodyBytes: MAX_BYTES,
    clock,
    log: createFakeLog(),
  });
  const http = createHttpServers({ runtime, clock: systemClock });
  const server = await http.listen({ host: "127.0.0.1", port: 0 }, app);
  servers.push(server);
  return { clock, taken, port: server.port, url: `http://127.0.0.1:${server.port}` };
}

/** Sends the text, and resolves to the first of what comes back. */
function speak(port: number, ...lines: readonly string[]): { socket: Socket; answer: Promise<string> } {
  const socket = connect(port, "127.0.0.1");
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (chunk) => resolve(String(chunk)));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve("closed"));
  });
  socket.write(lines.join("\r\n"));
  return { socket, answer };
}

const post = ["POST /webhook/hook HTTP/1.1", "Host: a"];

describe("the gateway behind its server", () => {
  test("answers on /health with its headers", async () => {
    const { url } = await serve();
    const response = await fetch(`${url}/health`);
    expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("server")).toBeNull();
    const head = await fetch(`${url}/health`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const nowhere = await fetch(`${url}/nowhere`);
    expect([nowhere.status, nowhere.headers.get("content-type")]).toEqual([404, "text/plain"]);
  });

  test("takes a body of any shape up to the limit, and answers 413 beyond it", async () => {
    const { url, taken } = await serve();
    const status = async (body: string | ReadableStream) =>
      (await fetch(`${url}/webhook/hook`, { method: "POST", body, duplex: "half" } as RequestInit)).status;
    const streamed = (bytes: number) =>
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < bytes; at += 1000) {
            controller.enqueue(new Uint8Array(Math.min(1000, bytes - at)));
          }
          controller.close();
        },
      });
    expect(await status("x".repeat(MAX_BYTES))).toBe(200);
    expect(await status(streamed(MAX_BYTES))).toBe(200);
    expect(await status("x".repeat(MAX_BYTES + 1))).toBe(413);
    expect(await status(streamed(MAX_BYTES + 1))).toBe(413);
    expect(await status("x".repeat(20_000_000))).toBe(413);
    expect(taken).toEqual([MAX_BYTES, MAX_BYTES]);
  });

  test("takes chunks without a length", async () => {
    const { port, taken } = await serve();
    const chunked = speak(
      port,
      ...post,
      "Transfer-Encoding: chunked",
      "",
      "3",
      "abc",
      "2",
      "de",
      "0",
      "",
      "",
    );
    expect(await chunked.answer).toStartWith("HTTP/1.1 200");
    expect(taken).toEqual([5]);
    chunked.socket.destroy();
  });

  test("answers 408 to a body that never comes to its end", async () => {
    const { port, clock, taken } = await serve();
    const slow = speak(port, ...post, "Content-Length: 10", "", "abc");
    await clock.whenPending(1);
    await clock.advance(29_000);
    slow.socket.write("d");
    await clock.advance(1000);
    expect(await slow.answer).toStartWith("HTTP/1.1 408");
    expect(taken).toEqual([]);
    slow.socket.destroy();
  });

  test("hands a WebSocket to its channel, with the client that the tunnel names", async () => {
    const { port, url } = await serve();
    const headers = { "cf-connecting-ip": "203.0.113.9" };
    const client = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers } as never);
    const messages: string[] = [];
    const answered = new Promise<void>((resolve) =>
      client.addEventListener("message", ({ data }) => {
        messages.push(String(data));
        if (messages.length === 1) client.send("ä");
        else resolve();
      }),
    );
    await answered;
    expect(messages).toEqual(["hello 203.0.113.9", "Ä"]);
    client.close();
    expect((await fetch(`${url}/ws`)).status).toBe(426);
  });

  test("finds nothing by another way of writing a path", async () => {
    const { port } = await serve();
    for (const path of [
      "//webhook/hook",
      "/webhook//hook",
      "/webhook/hook/",
      "/webhook/hook%00",
      "/webhook%2fhook",
      "/WEBHOOK/hook",
      "/webhook/hook;x=1",
      "/webhook/%2e%2e/%2e%2e/etc/passwd",
    ]) {
      const asked = speak(port, `POST ${path} HTTP/1.1`, "Host: a", "Content-Length: 0", "", "");
      expect([path, (await asked.answer).slice(0, 12)]).toEqual([path, "HTTP/1.1 404"]);
      asked.socket.destroy();
    }
  });

  for (const method of ["TRACE", "CONNECT", "OPTIONS", "DELETE"]) {
    test(`does nothing for ${method} on /health`, async () => {
      const { port } = await serve();
      const asked = speak(port, `${method} /health HTTP/1.1`, "Host: a", "", "");
      expect((await asked.answer).slice(0, 12)).toMatch(/HTTP\/1.1 40[045]|closed/);
      asked.socket.destroy();
    });
  }
});
