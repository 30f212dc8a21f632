import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { UserError } from "../../src/core/errors.ts";
import type { HttpHandler, HttpServer } from "../../src/core/http.ts";
import { runtime } from "../../src/platform/bun.ts";
import { createHttpServers } from "../../src/platform/http.ts";
import { createFakeClock } from "../fakes/clock.ts";

const clock = createFakeClock();
const http = createHttpServers({ runtime, clock });
const servers: HttpServer[] = [];
afterAll(async () => {
  const stopping = servers.map((server) => server.stop(1));
  await clock.advance(1);
  await Promise.all(stopping);
});

async function serve(handler: HttpHandler): Promise<{ server: HttpServer; url: string; port: number }> {
  const server = await http.listen({ host: "127.0.0.1", port: 0 }, handler);
  servers.push(server);
  return { server, port: server.port, url: `http://127.0.0.1:${server.port}` };
}

/** What comes back for exactly these bytes, until the server closes or `isEnough`. */
function exchange(port: number, text: string, isEnough: (answer: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
      if (isEnough(answer)) socket.destroy();
    });
    // A reset is an answer too: the server wants no more of it.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer));
    socket.write(text);
  });
}

const hasHead = (answer: string) => answer.includes("\r\n\r\n");
const statusOf = (answer: string) => Number(answer.split(" ")[1] ?? 0);

describe("listen()", () => {
  test("answers requests, and knows whose they are", async () => {
    const { url } = await serve(async (request, info) =>
      Response.json([
        request.method,
        new URL(request.url).pathname,
        await request.text(),
        info.peer,
        info.client,
      ]),
    );
    const response = await fetch(`${url}/a/b?c`, { method: "POST", body: "päper" });
    expect(await response.json()).toEqual(["POST", "/a/b", "päper", "127.0.0.1", "127.0.0.1"]);
    expect(response.headers.get("server")).toBeNull();
    expect(response.headers.get("x-powered-by")).toBeNull();
  });

  test("does not say what a handler threw", async () => {
    const { url } = await serve(() => Promise.reject(new Error("the secret is 1234")));
    const response = await fetch(url);
    expect(response.status).toBe(500);
    expect(await response.text()).toBe("Internal Server Error");
  });

  test("names an address that is taken, and says what to do", async () => {
    const { port } = await serve(async () => new Response());
    const error = await http
      .listen({ host: "127.0.0.1", port }, async () => new Response())
      .catch((why) => why);
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toBe(`Cannot listen on 127.0.0.1:${port}: something else listens there`);
    expect(error.hint).toContain("gateway.port");
    expect(error.exitCode).toBe(1);
  });

  for (const [host, reason] of [
    ["203.0.113.5", "this machine has no such address"],
    ["2001:db8::1", "this machine has no such address"],
    ["no-such-host.invalid", "this machine has no such address"],
  ] as const) {
    test(`refuses to listen on ${host}`, async () => {
      const error = await http.listen({ host, port: 18_790 }, async () => new Response()).catch((why) => why);
      expect(error).toBeInstanceOf(UserError);
      expect(error.message).toContain(reason);
      expect(error.exitCode).toBe(1);
    });
  }
});

describe("a request that is none", () => {
  let asked: string[] = [];
  const echo: HttpHandler = async (request) => {
    asked.push(`${request.method} ${new URL(request.url).pathname}`);
    return new Response(await request.text());
  };
  const post = (...headers: readonly string[]) =>
    ["POST / HTTP/1.1", "Host: a", ...headers, "", ""].join("\r\n");

  for (const [name, text] of [
    ["with two lengths", `${post("Content-Length: 3", "Content-Length: 4")}abcd`],
    ["with a length and chunks", `${post("Content-Length: 3", "Transfer-Encoding: chunked")}0\r\n\r\n`],
    [
      "with chunks the other way round",
      `${post("Transfer-Encoding: chunked", "Content-Length: 3")}0\r\n\r\n`,
    ],
    ["with an unknown encoding", `${post("Transfer-Encoding: xchunked")}0\r\n\r\n`],
    ["with a length below zero", `${post("Content-Length: -3")}abc`],
    ["with a length with a sign", `${post("Content-Length: +3")}abc`],
    ["with a length that no number holds", `${post(`Content-Length: ${"9".repeat(30)}`)}abc`],
    ["with a length beyond all limits", `${post("Content-Length: 99999999999")}abc`],
    ["with a zero byte in a header", post("X: a\0b")],
    ["without a host", "GET / HTTP/1.1\r\n\r\n"],
    ["with a host that is none", "GET / HTTP/1.1\r\nHost: a b<>\r\n\r\n"],
    ["with half an address for a host", "GET / HTTP/1.1\r\nHost: [::\r\n\r\n"],
    ["with a control character in the path", "GET /a\x01b HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["with a header of 100 KB", post(`X: ${"x".repeat(100_000)}`)],
  ] as const) {
    test(`${name} reaches no handler`, async () => {
      asked = [];
      const { port } = await serve(echo);
      const status = statusOf(await exchange(port, text, hasHead));
      expect([400, 413, 431, 505]).toContain(status);
      expect(asked).toEqual([]);
    });
  }

  test("with 10 MB of headers is cut off", async () => {
    asked = [];
    const { port } = await serve(echo);
    const flood = `GET / HTTP/1.1\r\nHost: a\r\n${`X: ${"y".repeat(1000)}\r\n`.repeat(10_000)}\r\n`;
    const answer = await exchange(port, flood, () => false);
    expect([0, 431]).toContain(statusOf(answer));
    expect(asked).toEqual([]);
  });

  test("of a method nobody knows reaches no handler", async () => {
    asked = [];
    const { port } = await serve(echo);
    expect(await exchange(port, "FOO / HTTP/1.1\r\nHost: a\r\n\r\n", hasHead)).toBe("");
    expect(await exchange(port, "get / HTTP/1.1\r\nHost: a\r\n\r\n", hasHead)).toBe("");
    expect(asked).toEqual([]);
  });

  test("takes the steps out of a path before anybody looks at it", async () => {
    asked = [];
    const { port } = await serve(echo);
    for (const path of ["/a/%2e%2e/b", "/a/../b", "/a/.%2E/b", "//a/b"]) {
      await exchange(port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, hasHead);
    }
    expect(asked).toEqual(["GET /b", "GET /b", "GET /b", "GET //a/b"]);
  });

  test("takes a body in chunks without a length", async () => {
    const { port } = await serve(echo);
    const answer = await exchange(
      port,
      `${post("Transfer-Encoding: chunked")}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`,
      (text) => text.endsWith("abcde"),
    );
    expect(statusOf(answer)).toBe(200);
  });
});

describe("stop()", () => {
  test("takes nothing new, and waits for what runs", async () => {
    const began = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const { server, url } = await serve(async () => {
      began.resolve();
      await end.promise;
      return new Response("done");
    });
    const running = fetch(url).then((response) => response.text());
    await began.promise;
    const stopped = server.stop(60_000);
    expect(await fetch(url).catch((error) => error.code)).toBe("ECONNREFUSED");
    end.resolve();
    expect(await running).toBe("done");
    await stopped;
    expect(await fetch(url).catch((error) => error.code)).toBe("ECONNREFUSED");
  });

  test("ends what runs when the grace is over", async () => {
    const own = createFakeClock();
    const began = Promise.withResolvers<AbortSignal>();
    const server = await createHttpServers({ runtime, clock: own }).listen(
      { host: "127.0.0.1", port: 0 },
      (request) => {
        began.resolve(request.signal);
        return new Promise(() => {});
      },
    );
    const running = fetch(`http://127.0.0.1:${server.port}`).catch((error) => error.code);
    const signal = await began.promise;
    const stopped = server.stop(2000);
    await own.whenPending(1);
    await own.advance(1999);
    expect(signal.aborted).toBe(false);
    await own.advance(1);
    await stopped;
    expect(await running).toBe("ECONNRESET");
    expect(signal.aborted).toBe(true);
  });

  test("ends a stream that never does", async () => {
    const own = createFakeClock();
    const server = await createHttpServers({ runtime, clock: own }).listen(
      { host: "127.0.0.1", port: 0 },
      async () =>
        new Response(new ReadableStream({ start: (controller) => controller.enqueue("data: 1\n\n") })),
    );
    const response = await fetch(`http://127.0.0.1:${server.port}`);
    const stopped = server.stop(10);
    await own.advance(10);
    await stopped;
    expect(await response.text().catch((error) => error.code)).toBe("ECONNRESET");
  });

  test("can be called again", async () => {
    const { server } = await serve(async () => new Response());
    await Promise.all([server.stop(0), server.stop(0)]);
    await server.stop(0);
    expect(server.port).toBeGreaterThan(0);
  });
});
