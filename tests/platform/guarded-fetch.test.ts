import { afterAll, expect, test } from "bun:test";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { WebRequest } from "../../src/core/web.ts";
import { parseWhitelist } from "../../src/lib/address.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createGuardedFetch, type GuardedFetchOptions } from "../../src/platform/guarded-fetch.ts";
import { createSender, type OutgoingRequest } from "../../src/platform/web-request.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createNameServer, type Names } from "../fakes/web-names.ts";

const PUBLIC = "93.184.215.14";
const OTHER = "93.184.215.15";

const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing) close();
});

/** A server on loopback, and the requests that reached it. */
async function startServer(answer: RequestListener) {
  const hits: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    hits.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { hits, port };
}

/**
 * The guard with real connections, in a world where every address that it lets through is this machine:
 * what arrives at the servers is what the guard allowed.
 */
function createWorld(options: Partial<GuardedFetchOptions> & { names?: Names } = {}) {
  const names = createNameServer(
    options.names ?? { "a.example": [PUBLIC], "b.example": [OTHER], "inside.example": ["127.0.0.1"] },
  );
  const sent: OutgoingRequest[] = [];
  const real = createSender({ fetch: Bun.fetch });
  const guard = createGuardedFetch({
    lookUp: names.lookUp,
    clock: systemClock,
    send(request) {
      sent.push(request);
      return real({ ...request, address: "127.0.0.1" });
    },
    ...options,
  });
  const { signal } = new AbortController();
  const get = (url: string, request: Partial<WebRequest> = {}) =>
    guard.fetch(url, { maxBytes: 100_000, timeoutMs: 20_000, signal, ...request });
  return { guard, names, sent, get };
}

const redirectTo =
  (location: string, status = 302) =>
  (_: unknown, response: ServerResponse) =>
    void response.writeHead(status, { location }).end("moved");

const textOf = (result: { body?: Uint8Array }) => new TextDecoder().decode(result.body);

test("fetch() gives the answer of a public server, and sends nothing but what was asked", async () => {
  const { hits, port } = await startServer((_, response) => {
    response.writeHead(404, { "content-type": "text/plain", "set-cookie": "a=1", "x-b": "c" }).end("gone");
  });
  const { get, sent } = createWorld();
  const url = `http://A.example.:${port}/p?q=1#part`;
  const result = await get(url, { headers: { Accept: "text/*", Cookie: "s=1", Host: "x", "X-Key": "k" } });
  expect(result).toMatchObject({
    ok: true,
    url,
    finalUrl: `http://a.example:${port}/p?q=1`,
    status: 404,
    headers: { "content-type": "text/plain", "x-b": "c" },
    truncated: false,
    downgraded: false,
    isListed: false,
  });
  if (result.ok) expect(Object.keys(result.headers)).not.toContain("set-cookie");
  expect(textOf(result as { body?: Uint8Array })).toBe("gone");
  expect(sent[0]?.address).toBe(PUBLIC);
  expect(hits[0]?.url).toBe("/p?q=1");
  const { connection: _connection, ...headers } = hits[0]?.headers ?? {};
  expect(headers).toEqual({
    accept: "text/*",
    "accept-encoding": "gzip, deflate, br, zstd",
    host: `a.example:${port}`,
    "user-agent": "nanobot",
    "x-key": "k",
  });
});

test("fetch() refuses a public name that leads to an address inside", async () => {
  const { hits, port } = await startServer((_, response) => void response.end());
  const { get } = createWorld();
  expect(await get(`http://inside.example:${port}/`)).toEqual({
    ok: false,
    kind: "refused",
    reason:
      `http://inside.example:${port} may not be requested: inside.example leads to an address inside: ` +
      "127.0.0.1 is a loopback address; tools.ssrfWhitelist can allow it",
  });
  expect(hits).toEqual([]);
});

test("fetch() requests what the whitelist names, localhost too", async () => {
  const { hits, port } = await startServer((_, response) => void response.end("in"));
  const { get, sent } = createWorld({ whitelist: parseWhitelist(["127.0.0.0/8"]) });
  for (const host of ["inside.example", "127.0.0.1", "localhost", "0x7f.1"]) {
    expect(await get(`http://${host}:${port}/`)).toMatchObject({ ok: true, status: 200, isListed: true });
  }
  expect(hits).toHaveLength(4);
  expect(sent.map(({ address }) => address)).toEqual(Array(4).fill("127.0.0.1"));
  expect(await get(`http://10.0.0.1:${port}/`)).toMatchObject({ kind: "refused" });
});

test("fetch() connects to the address that it judged, whatever the name resolves to afterwards", async () => {
  const { port } = await startServer((_, response) => void response.end());
  const { get, names, sent } = createWorld({ names: { "a.example": [[PUBLIC], ["127.0.0.1"]] } });
  expect(await get(`http://a.example:${port}/`)).toMatchObject({ ok: true });
  expect(sent.map(({ address }) => address)).toEqual([PUBLIC]);
  expect(names.asked).toEqual(["a.example"]);
  expect(await get(`http://a.example:${port}/`)).toMatchObject({ kind: "refused" });
  expect(sent).toHaveLength(1);
});

test("fetch() makes a connection of its own for each request", async () => {
  const ports: (number | undefined)[] = [];
  const { port } = await startServer((request, response) => {
    ports.push(request.socket.remotePort);
    response.end();
  });
  const { get, sent } = createWorld();
  for (let turn = 0; turn < 3; turn += 1) await get(`http://a.example:${port}/`);
  expect(new Set(ports).size).toBe(3);
  expect(sent).toHaveLength(3);
});

test("fetch() resolves and judges again at each redirect, back to the same name too", async () => {
  const { hits, port } = await startServer((_, response) => redirectTo("/again")(_, response));
  const { get, sent } = createWorld({ names: { "a.example": [[PUBLIC], ["10.0.0.1"]] } });
  expect(await get(`http://a.example:${port}/`)).toMatchObject({ kind: "refused" });
  expect(hits.map(({ url }) => url)).toEqual(["/"]);
  expect(sent).toHaveLength(1);
});

test.each([
  ["a literal address", (port: number) => `http://127.0.0.1:${port}/`],
  ["another spelling of it", (port: number) => `http://0x7f.1:${port}/`],
  ["an IPv6 form of it", (port: number) => `http://[::ffff:7f00:1]:${port}/`],
  ["a name that leads there", (port: number) => `//inside.example:${port}/`],
  ["localhost", (port: number) => `http://localhost.:${port}/`],
  ["an address with a user", (port: number) => `http://a.example@127.0.0.1:${port}/`],
])("fetch() follows a chain of 3 redirects and stops before %s", async (_, inside) => {
  const target = await startServer((_, response) => void response.end("secret"));
  const chain = await startServer((request, response) => {
    const to = { "/1": "/2", "/2": `http://b.example:${chain.port}/3`, "/3": inside(target.port) };
    redirectTo(to[request.url as keyof typeof to])(request, response);
  });
  const { get } = createWorld();
  expect(await get(`http://a.example:${chain.port}/1`)).toMatchObject({ ok: false, kind: "refused" });
  expect(chain.hits.map(({ url }) => url)).toEqual(["/1", "/2", "/3"]);
  expect(target.hits).toEqual([]);
});

test.each([
  "file:///etc/passwd",
  "ftp://b.example/",
  "javascript:1",
  "data:,x",
  "http://",
  "http://x:99999/",
])("fetch() refuses a redirect to %s", async (location) => {
  const { port } = await startServer(redirectTo(location));
  const { get, sent } = createWorld();
  const result = await get(`http://a.example:${port}/`);
  expect(result).toMatchObject({ ok: false, kind: "refused" });
  expect(result.ok || result.reason).toMatch(/redirect(s|ed by)/);
  expect(sent).toHaveLength(1);
});

test("fetch() says who redirected to where nothing may be requested", async () => {
  const { port } = await startServer(redirectTo("http://127.0.0.1:9/"));
  expect(await createWorld().get(`http://a.example:${port}/`)).toEqual({
    ok: false,
    kind: "refused",
    reason:
      `redirected by a.example:${port}: http://127.0.0.1:9 may not be requested: ` +
      "127.0.0.1 is a loopback address; tools.ssrfWhitelist can allow it",
  });
});

test("fetch() remembers of an answer that the owner alone allowed a redirect on the way to it", async () => {
  const inside = await startServer((_, response) => redirectTo(`http://b.example:${port}/`)(_, response));
  const { port } = await startServer((request, response) => {
    if (request.url === "/start") redirectTo(`http://inside.example:${inside.port}/`)(request, response);
    else response.end();
  });
  const { get } = createWorld({ whitelist: parseWhitelist(["127.0.0.1"]) });
  expect(await get(`http://a.example:${port}/start`)).toMatchObject({ ok: true, isListed: true });
  expect(await get(`http://a.example:${port}/`)).toMatchObject({ ok: true, isListed: false });
});

test("fetch() does not wait for a server that switches to another protocol", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const result = await createWorld().get(`http://a.example:${port}/`);
  expect(result).toMatchObject({ ok: false, kind: "failed" });
  expect(result.ok || result.reason).toContain("switches to another protocol");
});

test("fetch() follows no circle, and no more redirects than it was told", async () => {
  const { hits, port } = await startServer(redirectTo("/"));
  const { get } = createWorld();
  const url = `http://a.example:${port}/`;
  expect(await get(url)).toEqual({ ok: false, kind: "failed", reason: "redirected more than 5 times" });
  expect(hits).toHaveLength(6);
  expect(await get(url, { maxRedirects: 0 })).toMatchObject({ kind: "failed" });
  expect(hits).toHaveLength(7);
});

test("fetch() takes a redirect without an address for an answer", async () => {
  const { port } = await startServer(({ url }, response) => {
    response.writeHead(302, url === "/blank" ? { location: " " } : {}).end("here");
  });
  for (const path of ["/", "/blank"]) {
    const result = await createWorld().get(`http://a.example:${port}${path}`);
    expect(result).toMatchObject({ ok: true, status: 302 });
  }
});

test("fetch() follows an address in UTF-8", async () => {
  const { hits, port } = await startServer((request, response) => {
    if (request.url !== "/") return void response.end();
    redirectTo(Buffer.from("/größe").toString("latin1"))(request, response);
  });
  const result = await createWorld().get(`http://a.example:${port}/`);
  expect(result).toMatchObject({ ok: true, finalUrl: `http://a.example:${port}/gr%C3%B6%C3%9Fe` });
  expect(hits).toHaveLength(2);
});

test("fetch() sends no header on that could be a key, not even to the same server", async () => {
  const { hits, port } = await startServer((request, response) => {
    if (request.url === "/") redirectTo("/next")(request, response);
    else response.end();
  });
  const headers = { authorization: "Bearer k", "x-subscription-token": "k", accept: "text/html" };
  await createWorld().get(`http://a.example:${port}/`, { headers });
  expect(hits.map((hit) => hit.headers.authorization)).toEqual(["Bearer k", undefined]);
  expect(hits[1]?.headers["x-subscription-token"]).toBeUndefined();
  expect(hits[1]?.headers.accept).toBe("text/html");
});

test.each([
  [301, "GET"],
  [302, "GET"],
  [303, "GET"],
  [307, "POST"],
  [308, "POST"],
])("fetch() goes on after %d with %s", async (status, method) => {
  const bodies: string[] = [];
  const { hits, port } = await startServer(async (request, response) => {
    bodies.push(await new Response(request as never).text());
    if (request.url === "/") redirectTo("/next", status)(request, response);
    else response.end();
  });
  const body = '{"a":1}';
  const headers = { "content-type": "application/json" };
  await createWorld().get(`http://a.example:${port}/`, { method: "POST", body, headers });
  expect(hits.map((hit) => hit.method)).toEqual(["POST", method]);
  expect(bodies).toEqual([body, method === "POST" ? body : ""]);
  expect(hits[1]?.headers["content-type"]).toBe(method === "POST" ? "application/json" : undefined);
});

test("fetch() sends no body on to another server", async () => {
  const other = await startServer((_, response) => void response.end());
  const { port } = await startServer((request, response) =>
    redirectTo(`http://b.example:${other.port}/`, 307)(request, response),
  );
  const result = await createWorld().get(`http://a.example:${port}/`, { method: "POST", body: "key" });
  expect(result).toMatchObject({ ok: false, kind: "refused" });
  expect(other.hits).toEqual([]);
});

test("fetch() with HEAD reads no body", async () => {
  const { hits, port } = await startServer((_, response) => {
    response.writeHead(200, { "content-length": 5, "content-encoding": "gzip" }).end();
  });
  const result = await createWorld().get(`http://a.example:${port}/`, { method: "HEAD" });
  expect(result).toMatchObject({ ok: true, status: 200, truncated: false });
  expect(hits[0]?.method).toBe("HEAD");
});

const content = "content ".repeat(1_000);
test.each([
  ["gzip", gzipSync(content)],
  ["x-gzip", gzipSync(content)],
  ["deflate", deflateSync(content)],
  ["deflate", deflateRawSync(content)],
  ["br", brotliCompressSync(content)],
  ["zstd", zstdCompressSync(content)],
  ["identity", Buffer.from(content)],
  ["identity, GZIP", gzipSync(content)],
  ["gzip, identity", gzipSync(content)],
])("fetch() decompresses a body in %s", async (encoding, bytes) => {
  const { port } = await startServer((_, response) => {
    response.writeHead(200, { "content-encoding": encoding }).end(bytes);
  });
  const result = await createWorld().get(`http://a.example:${port}/`);
  expect(textOf(result as { body?: Uint8Array })).toBe(content);
});

test.each([
  ["is not what it says", "gzip", Buffer.from("plain")],
  ["breaks off", "gzip", gzipSync(content).subarray(0, 40)],
  ["has an unknown encoding", "compress", Buffer.from("x")],
  ["has two encodings", "gzip, br", Buffer.from("x")],
])("fetch() fails for a body that %s", async (_, encoding, bytes) => {
  const { port } = await startServer((_, response) => {
    response.writeHead(200, { "content-encoding": encoding }).end(bytes);
  });
  const result = await createWorld().get(`http://a.example:${port}/`);
  expect(result).toMatchObject({ ok: false, kind: "failed" });
});

test("fetch() takes an empty body in any encoding", async () => {
  const { port } = await startServer((_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end();
  });
  expect(await createWorld().get(`http://a.example:${port}/`)).toMatchObject({ ok: true, truncated: false });
});

test.each([
  ["gzip", gzipSync(Buffer.alloc(50_000_000))],
  ["br", brotliCompressSync(Buffer.alloc(50_000_000))],
  ["zstd", zstdCompressSync(Buffer.alloc(50_000_000))],
])("fetch() reads of a %s bomb no more than it was told", async (encoding, bytes) => {
  const { port } = await startServer((_, response) => {
    response.writeHead(200, { "content-encoding": encoding }).end(bytes);
  });
  const result = await createWorld().get(`http://a.example:${port}/`, { maxBytes: 1_000 });
  expect(result).toMatchObject({ ok: true, truncated: true });
  if (result.ok) expect(result.body).toHaveLength(1_000);
});

test("fetch() ends a compressed body that never comes to anything", async () => {
  const nothing = gzipSync("");
  const { port } = await startServer((_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" });
    const flood = Buffer.concat(Array(5_000).fill(nothing));
    const write = () => {
      while (!response.destroyed && response.write(flood));
    };
    response.on("drain", write);
    write();
  });
  const result = await createWorld().get(`http://a.example:${port}/`, { maxBytes: 1_000 });
  expect(result).toMatchObject({ ok: true, truncated: true });
});

test("fetch() reads of an endless body no more than it was told, and hangs up", async () => {
  const closed = Promise.withResolvers<void>();
  const { port } = await startServer((_, response) => {
    response.on("close", closed.resolve);
    const write = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", write);
    write();
  });
  const result = await createWorld().get(`http://a.example:${port}/`, { maxBytes: 70_000 });
  expect(result).toMatchObject({ ok: true, truncated: true });
  if (result.ok) expect(result.body).toHaveLength(70_000);
  await closed.promise;
});

test("fetch() calls a body of exactly the size that is allowed whole", async () => {
  const { port } = await startServer((_, response) => void response.end("12345"));
  const result = await createWorld().get(`http://a.example:${port}/`, { maxBytes: 5 });
  expect(result).toMatchObject({ ok: true, truncated: false });
});

test("fetch() fails for a body that is shorter than it was announced", async () => {
  const { port } = await startServer((_, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("short", () => response.destroy());
  });
  expect(await createWorld().get(`http://a.example:${port}/`)).toMatchObject({ ok: false, kind: "failed" });
});

test("fetch() gives up a body that does not go on, when the time is over", async () => {
  const clock = createFakeClock();
  const closed = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const { port } = await startServer((_, response) => {
    response.on("close", closed.resolve);
    response.write("drip", () => arrived.resolve());
  });
  const running = createWorld({ clock }).get(`http://a.example:${port}/`, { timeoutMs: 3_000 });
  await arrived.promise;
  await clock.advance(3_000);
  expect(await running).toEqual({ ok: false, kind: "failed", reason: "took longer than 3 s" });
  await closed.promise;
  expect(clock.pending).toBe(0);
});

test("fetch() gives up a resolver that does not answer, when the time is over", async () => {
  const clock = createFakeClock();
  const running = createWorld({ clock, lookUp: () => new Promise(() => {}) }).get("http://a.example/");
  await clock.advance(20_000);
  expect(await running).toMatchObject({ ok: false, kind: "failed", reason: "took longer than 20 s" });
});

test("fetch() rejects with the reason of whoever aborts it, and hangs up", async () => {
  const closed = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const { port } = await startServer((_, response) => {
    response.on("close", closed.resolve);
    response.write("drip", () => arrived.resolve());
  });
  const controller = new AbortController();
  const running = createWorld().get(`http://a.example:${port}/`, { signal: controller.signal });
  await arrived.promise;
  controller.abort(new Error("stop"));
  await expect(running).rejects.toThrow("stop");
  await closed.promise;
  await expect(createWorld().get("http://a.example/", { signal: controller.signal })).rejects.toThrow("stop");
});

test("fetch() says that a server refuses connections, and does not call that a refusal", async () => {
  const { get } = createWorld({
    send: () => Promise.reject(Object.assign(new Error("connect"), { code: "ECONNREFUSED" })),
  });
  expect(await get("http://a.example/")).toEqual({
    ok: false,
    kind: "failed",
    reason: "a.example refuses connections",
  });
  expect(await get("http://none.example/")).toMatchObject({ kind: "failed" });
});

test("fetch() goes on to the next address only where no connection came about, IPv4 first", async () => {
  const tried: (string | undefined)[] = [];
  const names = { "a.example": ["2606:4700::1", PUBLIC, OTHER] };
  const failing = (code: string) =>
    createWorld({
      names,
      send({ address }) {
        tried.push(address);
        return Promise.reject(Object.assign(new Error("no"), { code }));
      },
    });
  await failing("ECONNREFUSED").get("http://a.example/");
  expect(tried.splice(0)).toEqual([PUBLIC, OTHER, "2606:4700::1"]);
  await failing("ECONNRESET").get("http://a.example/");
  expect(tried).toEqual([PUBLIC]);
});

test("whyRefused() says why, and nothing where nobody knows the address", async () => {
  const { guard } = createWorld();
  const { signal } = new AbortController();
  const why = (url: string) => guard.whyRefused(url, signal);
  expect(await why("http://127.1/")).toContain("127.0.0.1 is a loopback address");
  expect(await why("http://inside.example/")).toContain("inside.example leads to an address inside");
  expect(await why("http://localhost:3000/")).toContain("127.0.0.1 is a loopback address");
  expect(await why("http://a.example/")).toBeUndefined();
  expect(await why("http://none.example/")).toBeUndefined();
});

test("whyRefused() does not wait long for a resolver", async () => {
  const clock = createFakeClock();
  const { guard } = createWorld({ clock, lookUp: () => new Promise(() => {}) });
  const waiting = guard.whyRefused("http://a.example/", new AbortController().signal);
  await clock.advance(5_000);
  expect(await waiting).toBeUndefined();
  expect(clock.pending).toBe(0);
});
