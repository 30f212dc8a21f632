import { afterAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../src/platform/clock.ts";
import { createGuardedFetch, type GuardedFetchOptions } from "../../src/platform/guarded-fetch.ts";
import { createSender, type SendRequest } from "../../src/platform/web-request.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createNameServer } from "../fakes/web-names.ts";

const PUBLIC = "93.184.215.14";
const servers: { close(): unknown; closeAllConnections?(): void }[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections?.();
    server.close();
  }
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

/** An authority, and a certificate of it for `a.example`. */
function makeCertificate() {
  const folder = tempFolder();
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe", cwd: folder });
  const newKey = (name: string) => [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-keyout",
    name,
  ];
  openssl("req", "-x509", ...newKey("ca.key"), "-out", "ca.pem", "-subj", "/CN=Test authority", "-days", "2");
  openssl("req", ...newKey("key.pem"), "-out", "csr.pem", "-subj", "/CN=a.example");
  writeFileSync(at("names"), "subjectAltName=DNS:a.example");
  const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "csr.pem", "-out", "cert.pem", ...signing);
  const read = (name: string) => readFileSync(at(name), "utf8");
  return { ca: read("ca.pem"), key: read("key.pem"), cert: read("cert.pem") };
}

const hasOpenssl = Bun.which("openssl") !== null;

/** A proxy that notes what it is asked for and connects everybody to `port` of this machine. */
async function startProxy(port: number) {
  const asked: { line: string; host: string | undefined }[] = [];
  const server = createHttpServer((request, response) => {
    asked.push({ line: `${request.method} ${request.url}`, host: request.headers.host });
    if (request.url?.endsWith("/inside")) response.writeHead(302, { location: "http://127.0.0.1/" });
    if (request.url?.endsWith("/bomb")) {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(50_000_000)));
    } else response.end("through the proxy");
  });
  server.on("connect", (request, socket) => {
    asked.push({ line: `CONNECT ${request.url}`, host: request.headers.host });
    const upstream = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  return { asked, proxy: `http://127.0.0.1:${await listen(server)}` };
}

function createGuard(send: SendRequest, options: Partial<GuardedFetchOptions> = {}) {
  const { lookUp } = createNameServer({
    "a.example": [PUBLIC],
    "b.example": [PUBLIC],
    "six.example": ["2606:4700::1"],
    "inside.example": ["10.0.0.1"],
  });
  const guard = createGuardedFetch({ lookUp, send, clock: systemClock, ...options });
  const { signal } = new AbortController();
  return (url: string) => guard.fetch(url, { maxBytes: 10_000, timeoutMs: 20_000, signal });
}

describe.skipIf(!hasOpenssl)("createSender() over TLS (needs openssl)", () => {
  const { ca, key, cert } = hasOpenssl ? makeCertificate() : { ca: "", key: "", cert: "" };
  const started = (async () => {
    const names: (string | false)[] = [];
    const server = createTlsServer({ key, cert }, (request, response) => {
      names.push((request.socket as { servername?: string | false }).servername ?? false);
      response.end(`hello ${request.headers.host}`);
    });
    return { names, port: await listen(server) };
  })();

  /** Straight to this machine, whatever the judged address is. */
  const direct: SendRequest = (request) =>
    createSender({ fetch: Bun.fetch, ca })({ ...request, address: "127.0.0.1" });

  test("connects to the address and verifies the name", async () => {
    const { names, port } = await started;
    const get = createGuard(direct);
    const result = await get(`https://a.example:${port}/`);
    expect(result).toMatchObject({ ok: true, status: 200 });
    expect(names).toEqual(["a.example"]);
    expect(await get(`https://b.example:${port}/`)).toEqual({
      ok: false,
      kind: "failed",
      reason: `b.example:${port} has a certificate for another name`,
    });
  });

  test("trusts no authority that nobody knows", async () => {
    const { port } = await started;
    const unknown: SendRequest = (request) =>
      createSender({ fetch: Bun.fetch })({ ...request, address: "127.0.0.1" });
    expect(await createGuard(unknown)(`https://a.example:${port}/`)).toMatchObject({ kind: "failed" });
  });

  test("goes through a proxy to the address that was judged, and verifies the name", async () => {
    const { port } = await started;
    const { asked, proxy } = await startProxy(port);
    const get = createGuard(createSender({ fetch: Bun.fetch, ca }), { env: { HTTPS_PROXY: proxy } });
    expect(await get(`https://a.example:${port}/`)).toMatchObject({ ok: true, status: 200 });
    expect(await get(`https://b.example:${port}/`)).toMatchObject({ ok: false, kind: "failed" });
    expect(asked.map(({ line }) => line)).toEqual(Array(2).fill(`CONNECT ${PUBLIC}:${port}`));
  });
});

describe("createGuardedFetch() with a proxy", () => {
  const sender = createSender({ fetch: Bun.fetch });

  test("sends the address that was judged, and the name as the host", async () => {
    const { asked, proxy } = await startProxy(0);
    const get = createGuard(sender, { env: { HTTP_PROXY: proxy } });
    expect(await get("http://a.example/p")).toMatchObject({ ok: true, finalUrl: "http://a.example/p" });
    expect(await get("http://six.example:81/")).toMatchObject({ ok: true });
    expect(asked).toEqual([
      { line: `GET http://${PUBLIC}/p`, host: "a.example" },
      { line: "GET http://[2606:4700::1]:81/", host: "six.example:81" },
    ]);
  });

  test("refuses what leads inside, without asking the proxy", async () => {
    const { asked, proxy } = await startProxy(0);
    const get = createGuard(sender, { proxy, proxyResolvesNames: true });
    for (const host of ["127.0.0.1", "inside.example", "localhost", "metadata.google.internal", "[::1]"]) {
      expect(await get(`http://${host}/`)).toMatchObject({ ok: false, kind: "refused" });
    }
    expect(asked).toEqual([]);
  });

  test("judges redirects and bounds bodies as without one", async () => {
    const { asked, proxy } = await startProxy(0);
    const get = createGuard(sender, { proxy });
    expect(await get("http://a.example/inside")).toMatchObject({ ok: false, kind: "refused" });
    expect(asked).toHaveLength(1);
    const result = await get("http://a.example/bomb");
    expect(result).toMatchObject({ ok: true, truncated: true, headers: { "content-encoding": "gzip" } });
    if (result.ok) expect(result.body).toHaveLength(10_000);
  });

  test("refuses a name that cannot be resolved here, and says which setting allows it", async () => {
    const { asked, proxy } = await startProxy(0);
    const result = await createGuard(sender, { proxy })("http://unknown.example/");
    expect(result).toMatchObject({ ok: false, kind: "refused" });
    expect(result.ok || result.reason).toContain("tools.web.proxyResolvesNames");
    expect(asked).toEqual([]);
    expect(
      await createGuard(sender, { proxy, proxyResolvesNames: true })("http://unknown.example/"),
    ).toMatchObject({
      ok: true,
    });
    expect(asked).toEqual([{ line: "GET http://unknown.example/", host: "unknown.example" }]);
  });

  test("goes past the proxy where NO_PROXY says so", async () => {
    const { asked, proxy } = await startProxy(0);
    const { asked: reached, proxy: server } = await startProxy(0);
    const own: SendRequest = (request) => sender({ ...request, address: "127.0.0.1" });
    const get = createGuard(own, { proxy, env: { NO_PROXY: "a.example" } });
    expect(await get(`http://a.example:${new URL(server).port}/`)).toMatchObject({ ok: true });
    expect(asked).toEqual([]);
    expect(reached.map(({ line }) => line)).toEqual(["GET /"]);
  });

  test.each(["socks5://127.0.0.1:1", "://", "http://"])(
    "refuses a proxy that it cannot use, %j",
    async (proxy) => {
      const result = await createGuard(sender, { proxy })("http://a.example/");
      expect(result).toMatchObject({ ok: false, kind: "refused" });
      expect(result.ok || result.reason).toContain("write tools.web.proxy");
    },
  );

  test("says that it is the proxy that cannot be reached, and not its password", async () => {
    const tried: (string | undefined)[] = [];
    const down: SendRequest = ({ address }) => {
      tried.push(address);
      return Promise.reject(Object.assign(new Error("no"), { code: "ConnectionRefused" }));
    };
    const proxy = "http://user:pass-123@127.0.0.1:8080";
    const lookUp = async () => [PUBLIC, "93.184.215.15"];
    expect(await createGuard(down, { proxy, lookUp })("https://a.example/")).toEqual({
      ok: false,
      kind: "failed",
      reason:
        "the proxy 127.0.0.1:8080 refuses connections, and a.example was not asked; " +
        "check tools.web.proxy (or the variable that names the proxy)",
    });
    expect(tried).toEqual([PUBLIC]);
  });

  test("says that the proxy wants a password, which is no answer of the server", async () => {
    const server = createHttpServer((_, response) => void response.writeHead(407).end("who?"));
    const proxy = `http://127.0.0.1:${await listen(server)}`;
    const result = await createGuard(sender, { proxy })("http://a.example/");
    expect(result).toMatchObject({ ok: false, kind: "failed" });
    expect(result.ok || result.reason).toContain("as http://user:password@host:port");
    const refusing = createHttpServer();
    refusing.on("connect", (_, socket) => void socket.end("HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n"));
    const other = `http://127.0.0.1:${await listen(refusing)}`;
    const tunnel = await createGuard(sender, { proxy: other })("https://a.example/");
    expect(tunnel.ok || tunnel.reason).toStartWith(
      `a.example, asked through the proxy ${new URL(other).host}, `,
    );
  });

  test("refuses where the runtime cannot go through one, and says why", async () => {
    const get = createGuard(sender, { proxy: "http://127.0.0.1:1", whyNoProxy: "not here" });
    expect(await get("http://a.example/")).toEqual({ ok: false, kind: "refused", reason: "not here" });
  });
});
