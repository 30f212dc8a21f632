import { describe, expect, test } from "bun:test";
import { ENGINE_NAMES } from "../../../src/lib/engine-names.ts";
import { engines } from "../../../src/web/search/engines.ts";
import { createSearch, reasonOf, recorded } from "./fixture.ts";

const KEY = "key-0123456789";
const brave = { provider: "brave", apiKey: KEY };
const found = { body: recorded("brave.json") };
const page = { body: recorded("duckduckgo.html") };

const hostOf = (sent: readonly { url: string }[]) => sent.map(({ url }) => new URL(url).hostname);

describe("createWebSearch() asks", () => {
  test.each([
    ["DuckDuckGo when nothing is set", {}, {}, "html.duckduckgo.com"],
    ["DuckDuckGo when only its name is blank", { provider: " " }, {}, "html.duckduckgo.com"],
    ["Brave when there is a key and no name", { apiKey: KEY }, {}, "api.search.brave.com"],
    ["Brave when BRAVE_API_KEY is there", {}, { BRAVE_API_KEY: KEY }, "api.search.brave.com"],
    [
      "DuckDuckGo by name in spite of a key",
      { provider: "duckduckgo", apiKey: KEY },
      { BRAVE_API_KEY: KEY },
      "html.duckduckgo.com",
    ],
    ["DuckDuckGo in spite of another engine's key", {}, { TAVILY_API_KEY: KEY }, "html.duckduckgo.com"],
    ["the engine named in any case", { provider: "Kagi ", apiKey: KEY }, {}, "kagi.com"],
  ])("%s", async (_, settings, env, host) => {
    const { ask, sent } = createSearch({ settings, env });
    await ask();
    expect(hostOf(sent)).toEqual([host]);
  });

  test.each(ENGINE_NAMES.filter((name) => engines[name].needs !== undefined).map((name) => ({ name })))(
    "$name with what its usual variable has",
    async ({ name }) => {
      const { needs } = engines[name];
      const value = needs?.what === "key" ? KEY : "https://searx.example.com";
      const { ask, sent } = createSearch({
        settings: { provider: name },
        env: { [needs?.variable ?? ""]: ` ${value}\n` },
      });
      await ask();
      expect(JSON.stringify(sent)).toContain(value);
    },
  );

  test("with the configured key before the variable's", async () => {
    const { ask, sent, secrets } = createSearch({ settings: brave, env: { BRAVE_API_KEY: "other-key" } });
    await ask();
    expect(sent[0]?.headers?.["x-subscription-token"]).toBe(KEY);
    expect(secrets).toEqual([KEY]);
  });

  test("DuckDuckGo in the place of an engine without its key, and says so", async () => {
    for (const name of ENGINE_NAMES.filter((one) => engines[one].needs !== undefined)) {
      const { label, needs } = engines[name];
      const { ask, sent } = createSearch({ settings: { provider: name }, replies: [page] });
      const setting = needs?.what === "key" ? "apiKey" : "baseUrl";
      expect(await ask()).toMatchObject({
        ok: true,
        engine: "DuckDuckGo",
        note: `${label} has no ${needs?.what} (set tools.web.search.${setting} or ${needs?.variable}), so DuckDuckGo was asked instead`,
      });
      expect(hostOf(sent)).toEqual(["html.duckduckgo.com"]);
    }
  });

  test("DuckDuckGo where the key that is meant is not set, and says so", async () => {
    const { ask } = createSearch({ settings: { isKeyMeant: true }, replies: [page] });
    const note =
      "Brave has no key (set tools.web.search.apiKey or BRAVE_API_KEY), so DuckDuckGo was asked instead";
    expect(await ask()).toMatchObject({ engine: "DuckDuckGo", note });
  });

  test("DuckDuckGo in the place of an engine that only the original asks, and says so", async () => {
    const { ask } = createSearch({ settings: { provider: "bocha", apiKey: KEY }, replies: [page] });
    expect(await ask()).toMatchObject({
      engine: "DuckDuckGo",
      note: 'nanobot cannot ask "bocha", so DuckDuckGo was asked instead',
    });
  });

  test("nobody when the name is no engine's", async () => {
    const { ask, sent } = createSearch({ settings: { provider: "braev", apiKey: KEY } });
    expect(await reasonOf(ask())).toStartWith(
      'tools.web.search.provider is "braev", and there is no search engine of this name; did you mean "brave"?',
    );
    expect(sent).toEqual([]);
  });

  test.each([
    [
      "a key that cannot be sent",
      { provider: "tavily", apiKey: "a b\u00e9" },
      "the key in tools.web.search.apiKey has spaces or characters in it that no key has; copy it again",
    ],
    [
      "an address that is none",
      { provider: "searxng", baseUrl: "localhost" },
      "what tools.web.search.baseUrl says is not an address; write it as https://search.example.com",
    ],
    [
      "an address with a password",
      { provider: "searxng", baseUrl: "https://me:word@searx.example.com" },
      "the address in tools.web.search.baseUrl has a user name or a password, and none is ever sent",
    ],
  ])("nobody with %s", async (_, settings, reason) => {
    const { ask, sent } = createSearch({ settings });
    expect(await reasonOf(ask())).toBe(reason);
    expect(sent).toEqual([]);
  });

  test("for no more than ten hits and no fewer than one", async () => {
    const counts = [];
    for (const count of [0, 4.7, 99]) {
      const { ask, sent } = createSearch({ settings: brave });
      await ask("x", { count });
      counts.push(new URL(sent[0]?.url ?? "").searchParams.get("count"));
    }
    expect(counts).toEqual(["1", "4", "10"]);
  });

  test("for at most a megabyte, within the configured time", async () => {
    const { ask, sent } = createSearch({ settings: { ...brave, timeout: 7 } });
    await ask();
    expect(sent[0]).toMatchObject({ maxBytes: 1_000_000, timeoutMs: 7_000 });
  });
});

test.each([
  [5, 5],
  [1, 1],
  [50, 10],
])("createWebSearch() shows %i hits as %i by default", (maxResults, expected) => {
  expect(createSearch({ settings: { maxResults } }).search.defaultCount).toBe(expected);
});

describe("createWebSearch() after 429", () => {
  test.each(ENGINE_NAMES.map((name) => ({ name })))("asks $name again a second later", async ({ name }) => {
    const { ask, clock, sent } = createSearch({
      settings: { provider: name, apiKey: KEY, baseUrl: "https://searx.example.com" },
      replies: [{ status: 429 }, { status: 500 }],
    });
    const outcome = reasonOf(ask());
    await clock.whenPending(1);
    await clock.advance(999);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    expect(await outcome).toContain("out of order (HTTP 500)");
    expect(sent).toHaveLength(2);
    expect(sent[1]?.url).toBe(sent[0]?.url ?? "");
    expect(sent[1]?.timeoutMs).toBe(29_000);
  });

  test("gives the hits of the second answer", async () => {
    const { ask, clock } = createSearch({ settings: brave, replies: [{ status: 429 }, found] });
    const outcome = ask();
    await clock.whenPending(1);
    await clock.advance(1_000);
    expect(await outcome).toMatchObject({ ok: true, hits: { length: 2 } });
  });

  test("says so when the second answer is the same, and asks no third time", async () => {
    const { ask, clock, sent } = createSearch({ settings: brave, replies: [{ status: 429 }] });
    const outcome = reasonOf(ask());
    await clock.whenPending(1);
    await clock.advance(60_000);
    expect(await outcome).toStartWith(
      "Brave had too many requests and a second later still (HTTP 429); wait",
    );
    expect(sent).toHaveLength(2);
  });

  test("does not wait longer than a search may take", async () => {
    const { ask, clock, sent } = createSearch({
      settings: { ...brave, timeout: 1 },
      replies: [{ status: 429 }],
    });
    expect(await reasonOf(ask())).toContain("HTTP 429");
    expect([sent.length, clock.pending]).toEqual([1, 0]);
  });

  test("stops waiting when it is stopped", async () => {
    const { ask, clock, sent } = createSearch({ settings: brave, replies: [{ status: 429 }] });
    const stop = new AbortController();
    const outcome = ask("x", { signal: stop.signal });
    await clock.whenPending(1);
    stop.abort(new Error("stopped"));
    await expect(outcome).rejects.toThrow("stopped");
    expect([sent.length, clock.pending]).toEqual([1, 0]);
  });
});

describe("createWebSearch() fails", () => {
  test.each([401, 403])("with the place of the key after %i, and never with the key", async (status) => {
    const body = JSON.stringify({ message: `invalid key ${KEY}` });
    const configured = createSearch({ settings: brave, replies: [{ status, body }] });
    expect(await reasonOf(configured.ask())).toBe(
      `Brave refuses the key from tools.web.search.apiKey (HTTP ${status}); put a valid one there`,
    );
    const usual = createSearch({
      settings: { provider: "exa" },
      env: { EXA_API_KEY: KEY },
      replies: [{ status, body }],
    });
    expect(await reasonOf(usual.ask())).toBe(
      `Exa refuses the key from EXA_API_KEY (HTTP ${status}); put a valid one there`,
    );
  });

  test.each([
    [400, "Brave cannot search for that (HTTP 400); use fewer and plainer words"],
    [402, "Brave says that the key from tools.web.search.apiKey has no searches left (HTTP 402)"],
    [301, "Brave is out of order (HTTP 301); try again later"],
    [500, "Brave is out of order (HTTP 500); try again later"],
    [503, "Brave is out of order (HTTP 503); try again later"],
  ])("after %i with what to do", async (status, reason) => {
    expect(await reasonOf(createSearch({ settings: brave, replies: [{ status }] }).ask())).toStartWith(
      reason,
    );
  });

  test("when the answer is too long", async () => {
    const { ask } = createSearch({ settings: brave, replies: [{ ...found, truncated: true }] });
    expect(await reasonOf(ask())).toStartWith("Brave sent more than 1 MB; ask another engine");
  });

  test("with the guard's reason, which says what would allow a private address", async () => {
    const refused = {
      ok: false,
      kind: "refused",
      reason: "http://127.0.0.1:8080 may not be requested: loopback; tools.ssrfWhitelist can allow it",
    } as const;
    const { ask } = createSearch({
      settings: { provider: "searxng", baseUrl: "http://127.0.0.1:8080" },
      replies: [refused],
    });
    expect(await reasonOf(ask())).toBe(`SearXNG could not be asked: ${refused.reason}`);
  });

  test("with what to look at when the network fails", async () => {
    const reason = "html.duckduckgo.com could not be resolved: the name server does not answer";
    const { ask } = createSearch({ replies: [{ ok: false, kind: "failed", reason }] });
    expect(await reasonOf(ask())).toBe(
      `DuckDuckGo could not be asked: ${reason}; check the network, and tools.web.proxy if there is one`,
    );
  });

  test("with the missing key too where DuckDuckGo was asked instead", async () => {
    const { ask } = createSearch({ settings: { provider: "kagi" }, replies: [{ status: 500 }] });
    expect(await reasonOf(ask())).toEndWith(
      ". Kagi has no key (set tools.web.search.apiKey or KAGI_API_KEY), so DuckDuckGo was asked instead",
    );
  });

  test("with the signal's reason when it is stopped before it began", async () => {
    const { ask, sent } = createSearch();
    await expect(ask("x", { signal: AbortSignal.abort(new Error("stopped")) })).rejects.toThrow("stopped");
    expect(sent).toEqual([]);
  });
});

test("createWebSearch() says that Jina cannot search by time, and only where that was wanted", async () => {
  const replies = [{ body: recorded("jina.json") }];
  const { ask } = createSearch({ settings: { provider: "jina", apiKey: KEY }, replies });
  expect(await ask("x", { timeRange: "day" })).toMatchObject({
    note: "Jina cannot search by time, so these are of any age",
  });
  expect(await ask("x")).not.toHaveProperty("note");
});

describe("createWebSearch() asks DuckDuckGo", () => {
  test("once at a time", async () => {
    const { ask, clock, sent } = createSearch({ replies: [{ status: 429 }, page] });
    const first = ask("first");
    const second = ask("second");
    await clock.whenPending(1);
    expect(sent).toHaveLength(1);
    await clock.advance(1_000);
    expect([await first, await second]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(sent.map(({ body }) => new URLSearchParams(String(body)).get("q"))).toEqual([
      "first",
      "first",
      "second",
    ]);
  });

  test("not at all when it was stopped while waiting", async () => {
    const { ask, clock, sent } = createSearch({ replies: [{ status: 429 }, page] });
    const stop = new AbortController();
    const first = ask("first");
    const second = ask("second", { signal: stop.signal });
    await clock.whenPending(1);
    stop.abort(new Error("stopped"));
    await expect(second).rejects.toThrow("stopped");
    await clock.advance(1_000);
    await first;
    expect(sent).toHaveLength(2);
  });

  test("others side by side", async () => {
    const { ask, clock, sent } = createSearch({
      settings: brave,
      replies: [{ status: 429 }, { status: 429 }, found],
    });
    const both = Promise.all([ask("first"), ask("second")]);
    await clock.whenPending(2);
    expect(sent).toHaveLength(2);
    await clock.advance(1_000);
    expect(await both).toMatchObject([{ ok: true }, { ok: true }]);
  });
});
