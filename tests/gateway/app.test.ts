import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChannelRoute } from "../../src/core/channel.ts";
import type { HttpInfo } from "../../src/core/http.ts";
import { type ChannelRoutes, createGatewayApp, type GatewayAppOptions } from "../../src/gateway/app.ts";
import { readBody } from "../../src/lib/read-body.ts";
import { isSameSecret } from "../../src/lib/signatures.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";

const clock = createFakeClock();

function infoOf(peer = "127.0.0.1"): HttpInfo {
  return { peer, client: peer, upgrade: () => undefined };
}

function channel(name: string, ...routes: readonly ChannelRoute[]): ChannelRoutes {
  return { channel: name, routes, isOpen: () => true };
}

async function setUp(options: Partial<GatewayAppOptions> = {}) {
  const log = createFakeLog();
  const app = await createGatewayApp({
    channels: [],
    ready: async () => [],
    trustedProxies: [],
    maxBodyBytes: 1000,
    clock,
    log,
    ...options,
  });
  const ask = (path: string, init: RequestInit = {}, peer?: string) =>
    app(new Request(`http://bot.example${path}`, init), infoOf(peer));
  return { ask, log, app };
}

describe("/health", () => {
  test("says that the program is alive, to GET and HEAD", async () => {
    const { ask } = await setUp({ ready: () => Promise.reject(new Error("not asked")) });
    const response = await ask("/health");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ok" });
    const head = await ask("/health", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
  });

  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    test(`refuses ${method} with 405`, async () => {
      const { ask } = await setUp();
      for (const path of ["/health", "/ready"]) {
        const response = await ask(path, { method });
        expect(response.status).toBe(405);
        expect(response.headers.get("allow")).toBe("GET, HEAD");
      }
    });
  }
});

describe("/ready", () => {
  test("is 200 when nothing is wrong, and 503 with the reasons else", async () => {
    const own = createFakeClock();
    let reasons: readonly string[] = [];
    const { ask } = await setUp({ ready: async () => reasons, clock: own });
    const good = await ask("/ready");
    expect([good.status, await good.json()]).toEqual([200, { status: "ready" }]);
    reasons = ["channel telegram is disconnected", "the disk is full"];
    await own.advance(1000);
    const bad = await ask("/ready");
    expect([bad.status, await bad.json()]).toEqual([503, { status: "not ready", reasons }]);
    expect((await ask("/ready", { method: "HEAD" })).status).toBe(503);
  });

  test("looks once a second, however many ask", async () => {
    const own = createFakeClock();
    let looks = 0;
    const ready = async () => {
      looks++;
      return [];
    };
    const { ask } = await setUp({ ready, clock: own });
    await Promise.all(Array.from({ length: 50 }, () => ask("/ready")));
    await own.advance(999);
    await ask("/ready");
    expect(looks).toBe(1);
    await own.advance(1);
    await ask("/ready");
    expect(looks).toBe(2);
  });

  test("is 503 when it cannot be found out, and says no more", async () => {
    const { ask, log } = await setUp({ ready: () => Promise.reject(new Error("token 1234")) });
    const response = await ask("/ready");
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: "not ready", reasons: ["it could not be checked"] });
    expect(log.lines[0]).toContain("error The gateway cannot tell whether it is ready");
  });

  test("is 503 after 5 s when a disk hangs, and leaves no timer", async () => {
    const own = createFakeClock();
    const { ask } = await setUp({ ready: () => new Promise(() => {}), clock: own });
    const asking = ask("/ready");
    await own.whenPending(1);
    await own.advance(5000);
    expect((await asking).status).toBe(503);
    expect(own.pending).toBe(0);
  });
});

describe("the routes of channels", () => {
  const echo = (path: string, isAbsolute = false): ChannelRoute => ({
    path,
    isAbsolute,
    fetch: async (request) => new Response(`${path} ${request.method} ${await request.text()}`),
  });

  test("lie below the channel's name, or where they say", async () => {
    const channels = [
      channel("telegram", echo("")),
      channel("webhook", echo("/in/:name")),
      channel("websocket", echo("/ws", true)),
    ];
    const { ask } = await setUp({ channels });
    const text = async (path: string, init: RequestInit = {}) => (await ask(path, init)).text();
    expect(await text("/webhook/telegram", { method: "POST", body: "päper" })).toBe(" POST päper");
    expect(await text("/webhook/webhook/in/deploy?x=1")).toBe("/in/:name GET ");
    expect(await text("/ws")).toBe("/ws GET ");
    for (const path of [
      ...["/webhook/telegram/", "/webhook/telegram/more", "/webhook/webhook", "/webhook/webhook/in"],
      ...["/webhook/ws", "/webhook", "/webhook/", "/webhook/slack", "/telegram", "/", "/ws/", "/WS"],
      ...["//webhook/telegram", "/webhook//telegram", "/x/%2e%2e/y", "/health/", "/control", "/status"],
    ]) {
      const response = await ask(path);
      expect(response.status).toBe(404);
      expect(await response.text()).toBe("Not Found");
    }
  });

  test("get the request as it came, whatever its method, with its body unread", async () => {
    const request = new Request("http://bot.example/webhook/a?q=%2F", { method: "PATCH", body: "x" });
    let got: Request | undefined;
    const fetch = async (one: Request) => {
      got = one;
      return new Response(null, { status: 204 });
    };
    const { app } = await setUp({ channels: [channel("a", { path: "", fetch })] });
    expect((await app(request, infoOf())).status).toBe(204);
    expect(got).toBe(request);
    expect(request.bodyUsed).toBe(false);
  });

  test("may use themselves, and answer HEAD without a body", async () => {
    class Route implements ChannelRoute {
      readonly path = "";
      readonly #word = "own";
      async fetch() {
        return new Response(this.#word);
      }
    }
    const { ask } = await setUp({ channels: [channel("a", new Route())] });
    expect(await (await ask("/webhook/a")).text()).toBe("own");
    expect(await (await ask("/webhook/a", { method: "HEAD" })).text()).toBe("");
  });

  test("answer 503 while their channel is away, and nobody else's", async () => {
    let isOpen = false;
    const away = { channel: "a", routes: [echo(""), echo("/ws", true)], isOpen: () => isOpen };
    const { ask } = await setUp({ channels: [away, channel("b", echo(""))] });
    for (const path of ["/webhook/a", "/ws"]) {
      const response = await ask(path);
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("5");
    }
    expect((await ask("/webhook/b")).status).toBe(200);
    isOpen = true;
    expect((await ask("/webhook/a")).status).toBe(200);
  });

  test("see no body that says it is too large", async () => {
    let asked = 0;
    const fetch = async () => {
      asked++;
      return new Response();
    };
    const { ask } = await setUp({ channels: [channel("a", { path: "", fetch })] });
    const post = (length: string) =>
      ask("/webhook/a", { method: "POST", body: "x", headers: { "content-length": length } });
    expect((await post("1001")).status).toBe(413);
    expect((await post("9".repeat(400))).status).toBe(413);
    expect(asked).toBe(0);
    expect((await post("1000")).status).toBe(200);
  });

  for (const [how, fetch] of [
    [
      "throws",
      () => {
        throw new Error("token 1234");
      },
    ],
    ["rejects", () => Promise.reject(new Error("token 1234"))],
    ["rejects with no error", () => Promise.reject("token 1234")],
  ] as const) {
    test(`one that ${how} is answered with 500, and logged without query and body`, async () => {
      const { ask, log } = await setUp({ channels: [channel("a", { path: "/x", fetch })] });
      const response = await ask("/webhook/a/x?key=abc", { method: "POST", body: "secret text" });
      expect(response.status).toBe(500);
      expect(await response.text()).toBe("Internal Server Error");
      expect(log.lines[0]).toBe(
        how.endsWith("error")
          ? "error A request failed POST /webhook/a/x token 1234"
          : "error A request failed POST /webhook/a/x Error: token 1234",
      );
      expect(log.lines.join()).not.toMatch(/abc|secret text/);
    });
  }

  test("upgrade through the info they get", async () => {
    const response = new Response(null, { status: 101 });
    const fetch: ChannelRoute["fetch"] = async (_, info) =>
      info.upgrade({ open() {}, message() {}, closed() {} }, { maxBytes: 5 }) ?? new Response("no");
    const { app } = await setUp({ channels: [channel("a", { path: "/ws", isAbsolute: true, fetch })] });
    const info: HttpInfo = {
      ...infoOf(),
      upgrade: (_, { maxBytes }) => (maxBytes === 5 ? response : undefined),
    };
    expect(await app(new Request("http://bot.example/ws"), info)).toBe(response);
  });
});

describe("every answer", () => {
  const page: ChannelRoute = {
    path: "/page",
    fetch: async () =>
      new Response("<p>", {
        headers: {
          "content-security-policy": "default-src 'self'",
          "cache-control": "no-cache, no-transform",
          "x-frame-options": "ALLOWALL",
          server: "nanobot/1.0",
          "x-powered-by": "Bun",
        },
      }),
  };
  const broken: ChannelRoute = { path: "/broken", fetch: () => Promise.reject(new Error("x")) };
  const fixed: ChannelRoute = { path: "/fixed", fetch: async () => Response.redirect("https://a.example/") };

  test("tells browsers what to hold to, and nobody which program this is", async () => {
    const { ask } = await setUp({ channels: [channel("a", page, broken, fixed)] });
    for (const path of [
      "/health",
      "/ready",
      "/nothing",
      "/webhook/a/broken",
      "/webhook/a/page",
      "/webhook/a/fixed",
    ]) {
      const { headers } = await ask(path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("server")).toBeNull();
      expect(headers.get("x-powered-by")).toBeNull();
      const isPage = path.endsWith("page");
      expect(headers.get("content-security-policy")).toStartWith(
        isPage ? "default-src 'self'" : "default-src 'none'",
      );
      expect(headers.get("cache-control")).toBe(isPage ? "no-cache, no-transform" : "no-store");
    }
    expect((await ask("/webhook/a/fixed")).headers.get("location")).toBe("https://a.example/");
  });

  test("is logged at debug with its path, and without what may be secret in it", async () => {
    const own = createFakeClock();
    const slow: ChannelRoute = {
      path: "/slow",
      async fetch() {
        await own.sleep(250, new AbortController().signal);
        return new Response();
      },
    };
    const { ask, log } = await setUp({ channels: [channel("a", slow)], clock: own });
    const asking = ask("/webhook/a/slow?token=abc", { method: "PUT", body: "text" }, "192.0.2.7");
    await own.whenPending(1);
    await own.advance(250);
    await asking;
    expect(log.lines).toEqual(["debug A request was answered PUT /webhook/a/slow 200 250 192.0.2.7"]);
    await ask(`/${"x".repeat(5000)}`);
    expect(log.lines[1]?.length).toBeLessThan(300);
  });
});

describe("where a request comes from", () => {
  const whose: ChannelRoute = {
    path: "",
    fetch: async (_, { client, peer }) => Response.json([client, peer]),
  };

  async function clientOf(trustedProxies: readonly string[], peer: string, headers: Record<string, string>) {
    const { ask } = await setUp({ channels: [channel("a", whose)], trustedProxies });
    const [client, samePeer] = (await (await ask("/webhook/a", { headers }, peer)).json()) as string[];
    expect(samePeer).toBe(peer);
    return client;
  }

  for (const [name, trusted, peer, said, client] of [
    ["a proxy that is trusted", ["127.0.0.1"], "127.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["the same in an IPv6 address", ["127.0.0.1"], "::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["the same the other way round", ["::ffff:127.0.0.1"], "127.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["one of a network", ["10.0.0.0/8"], "10.200.3.4", "2001:DB8::1", "2001:db8::1"],
    ["one of several", ["::1", "fd00::/8"], "fd12::1", "203.0.113.9", "203.0.113.9"],
    ["nobody that is trusted", ["127.0.0.1"], "192.0.2.1", "203.0.113.9", "192.0.2.1"],
    ["loopback, which is not trusted by itself", [], "127.0.0.1", "203.0.113.9", "127.0.0.1"],
    ["outside of the network", ["10.0.0.0/8"], "11.0.0.1", "203.0.113.9", "11.0.0.1"],
    ["a socket file", ["127.0.0.1"], "", "203.0.113.9", ""],
  ] as const) {
    test(`is read from CF-Connecting-IP of ${name}`, async () => {
      expect(await clientOf(trusted, peer, { "cf-connecting-ip": said })).toBe(client);
    });
  }

  for (const said of [
    ...["", "unknown", "203.0.113.9, 198.51.100.1", "203.0.113.9:80", "[2001:db8::1]", "203.0.113.0/24"],
    ...["0x7f.1", "2130706433", "127.1", "<script>", "203.0.113.9 x", "1".repeat(10_000)],
  ]) {
    test(`is the peer when it says ${JSON.stringify(said.slice(0, 30))}`, async () => {
      expect(await clientOf(["127.0.0.1"], "127.0.0.1", { "cf-connecting-ip": said })).toBe("127.0.0.1");
    });
  }

  test("is never read from headers that anybody can begin", async () => {
    const headers = {
      "x-forwarded-for": "203.0.113.9",
      "x-real-ip": "203.0.113.9",
      forwarded: "for=203.0.113.9",
      "true-client-ip": "203.0.113.9",
    };
    expect(await clientOf(["127.0.0.1"], "127.0.0.1", headers)).toBe("127.0.0.1");
  });

  test("is an address whatever it says", async () => {
    const { ask } = await setUp({ channels: [channel("a", whose)], trustedProxies: ["127.0.0.1"] });
    const said = fc.string().map((text) => text.replace(/[^\x20-\x7e]/g, ""));
    await fc.assert(
      fc.asyncProperty(said, async (value) => {
        const response = await ask("/webhook/a", { headers: { "cf-connecting-ip": value } });
        const [client] = (await response.json()) as string[];
        expect(client).toMatch(/^[0-9a-f.:]+(%[0-9a-z]+)?$/i);
      }),
    );
  });

  for (const entry of ["", "localhost", "10.0.0.0/33", "127.0.0.1:80", "*", "127.1"]) {
    test(`is refused to be trusted to ${JSON.stringify(entry)}`, async () => {
      const error = await setUp({ trustedProxies: ["::1", entry] }).catch((why) => why);
      expect(error.message).toStartWith("Read gateway.trustedProxies[1]:");
    });
  }

  test("gives no rights: without the secret nothing is open, from this machine or from anywhere", async () => {
    const guarded: ChannelRoute = {
      path: "",
      async fetch(request) {
        const given = request.headers.get("x-secret-token") ?? "";
        if (!isSameSecret(given, "the secret")) return new Response(null, { status: 401 });
        const body = await readBody(request, { maxBytes: 1000, clock });
        return new Response(null, { status: body.ok ? 200 : body.status });
      },
    };
    const { ask } = await setUp({ channels: [channel("telegram", guarded)], trustedProxies: ["127.0.0.1"] });
    for (const peer of ["127.0.0.1", "::1", "::ffff:127.0.0.1", "", "203.0.113.9"]) {
      for (const headers of [
        {},
        { "cf-connecting-ip": "127.0.0.1" },
        { "cf-connecting-ip": "203.0.113.9" },
        { "x-forwarded-for": "127.0.0.1" },
        { host: "localhost" },
      ]) {
        const post = (more: Record<string, string>) =>
          ask("/webhook/telegram", { method: "POST", body: "{}", headers: { ...headers, ...more } }, peer);
        expect((await post({})).status).toBe(401);
        expect((await post({ "x-secret-token": "the secreT" })).status).toBe(401);
        expect((await post({ "x-secret-token": "the secret" })).status).toBe(200);
      }
    }
  });
});

test("createGatewayApp() answers any path and method", async () => {
  const { ask } = await setUp({
    channels: [channel("a", { path: "/:x", fetch: async () => new Response() })],
  });
  const methods = fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH");
  await fc.assert(
    fc.asyncProperty(fc.webPath(), fc.string(), methods, async (path, text, method) => {
      for (const one of [
        path,
        `/webhook/a/${encodeURIComponent(text.toWellFormed())}`,
        `/%${text.slice(0, 3)}`,
      ]) {
        const { status } = await ask(one.startsWith("/") ? one : `/${one}`, { method });
        expect([200, 404, 405]).toContain(status);
      }
    }),
  );
});
