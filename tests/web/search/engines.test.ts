import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ENGINE_NAMES, type EngineName } from "../../../src/lib/engine-names.ts";
import { engines } from "../../../src/web/search/engines.ts";
import { createSearch, reasonOf, recorded, type Sent } from "./fixture.ts";

const KEY = "key-0123456789";
const BASE = "https://searx.example.com/";

function open(name: EngineName, replies: Parameters<typeof createSearch>[0] = {}) {
  return createSearch({ settings: { provider: name, apiKey: KEY, baseUrl: BASE }, ...replies });
}

/** A request as a test compares it: the address without its parameters, those apart, a body decoded. */
function seen({ url, method, headers, body }: Sent) {
  const { origin, pathname, searchParams } = new URL(url);
  return { method, to: `${origin}${pathname}`, headers, parameters: Object.fromEntries(searchParams), body };
}

const JSON_HEADERS = { accept: "application/json", "content-type": "application/json" };

/** What each vendor documents, for a search of the last week. */
const requests: Readonly<Record<EngineName, Partial<ReturnType<typeof seen>>>> = {
  duckduckgo: {
    method: "POST",
    to: "https://html.duckduckgo.com/html/",
    headers: {
      accept: "text/html",
      "content-type": "application/x-www-form-urlencoded",
      referer: "https://html.duckduckgo.com/",
    },
    body: "q=c%2B%2B+kettle+%26+tea&b=&kl=wt-wt&df=w",
  },
  brave: {
    method: "GET",
    to: "https://api.search.brave.com/res/v1/web/search",
    headers: { accept: "application/json", "x-subscription-token": KEY },
    parameters: { q: "c++ kettle & tea", count: "3", text_decorations: "false", freshness: "pw" },
  },
  tavily: {
    method: "POST",
    to: "https://api.tavily.com/search",
    headers: { ...JSON_HEADERS, authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ query: "c++ kettle & tea", max_results: 3, time_range: "week" }),
  },
  searxng: {
    method: "GET",
    to: "https://searx.example.com/search",
    headers: { accept: "application/json" },
    parameters: { q: "c++ kettle & tea", format: "json", time_range: "week" },
  },
  jina: {
    method: "POST",
    to: "https://s.jina.ai/",
    headers: { ...JSON_HEADERS, authorization: `Bearer ${KEY}`, "x-respond-with": "no-content" },
    body: JSON.stringify({ q: "c++ kettle & tea", num: 3 }),
  },
  kagi: {
    method: "POST",
    to: "https://kagi.com/api/v1/search",
    headers: { ...JSON_HEADERS, authorization: `Bearer ${KEY}` },
    body: JSON.stringify({
      query: "c++ kettle & tea",
      workflow: "search",
      limit: 3,
      filters: { after: "2026-03-08" },
    }),
  },
  exa: {
    method: "POST",
    to: "https://api.exa.ai/search",
    headers: { ...JSON_HEADERS, "x-api-key": KEY },
    body: JSON.stringify({
      query: "c++ kettle & tea",
      numResults: 3,
      contents: { highlights: true },
      startPublishedDate: "2026-03-08T12:00:00.000Z",
    }),
  },
  serper: {
    method: "POST",
    to: "https://google.serper.dev/search",
    headers: { ...JSON_HEADERS, "x-api-key": KEY },
    body: JSON.stringify({ q: "c++ kettle & tea", num: 3, tbs: "qdr:w" }),
  },
};

const pages: Readonly<Record<EngineName, string>> = {
  duckduckgo: "duckduckgo.html",
  brave: "brave.json",
  tavily: "tavily.json",
  searxng: "searxng.json",
  jina: "jina.json",
  kagi: "kagi.json",
  exa: "exa.json",
  serper: "serper.json",
};

/** Whole answers that found nothing. */
const nothing: Readonly<Record<EngineName, string>> = {
  duckduckgo: recorded("duckduckgo-nothing.html"),
  brave: '{"query":{"original":"x"},"mixed":{"main":[]},"type":"search"}',
  tavily: '{"query":"x","results":[]}',
  searxng: '{"query":"x","results":[],"unresponsive_engines":[]}',
  jina: '{"code":200,"status":20000,"data":[]}',
  kagi: '{"meta":{"trace":"t"},"data":{}}',
  exa: '{"requestId":"r","results":[]}',
  serper: '{"searchParameters":{"q":"x"},"relatedSearches":[]}',
};

describe.each(ENGINE_NAMES.map((name) => ({ name })))("engines.$name", ({ name }) => {
  const { label } = engines[name];

  test("is asked as its vendor documents it", async () => {
    const { ask, sent } = open(name);
    await ask("c++ kettle & tea", { count: 3, timeRange: "week" });
    expect(sent).toHaveLength(1);
    expect(sent.map(seen)).toMatchObject([requests[name]]);
  });

  test("is not asked about time unless a search is", async () => {
    const { ask, sent } = open(name);
    await ask("kettle");
    const [{ url, body } = { url: "", body: "" }] = sent;
    expect(`${url} ${body}`).not.toMatch(/freshness|time_range|filters|tbs|df=|Published/);
  });

  test("gives the hits of a recorded answer as plain text", async () => {
    const outcome = await open(name, { replies: [{ body: recorded(pages[name]) }] }).ask();
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(outcome.engine).toBe(label);
    expect(outcome.hits.length).toBeGreaterThanOrEqual(2);
    const [first, second] = outcome.hits;
    expect(first?.title).toBe("How to Descale a Kettle & Keep It Clean");
    expect(first?.url).toStartWith("https://kitchen.example.com/kettle/descaling");
    expect(first?.snippet).toContain("Fill the kettle with one part vinegar");
    expect(first?.snippet).toContain("That's all");
    expect(second).toEqual({
      title: "Hard Water, Limescale and You",
      url: expect.stringMatching(/^https:\/\/www\.example\.org\/hard-water(\?a=1&b=2)?$/),
      snippet: "Limescale is calcium carbonate; any mild acid dissolves it.",
    });
  });

  test("gives no more hits than asked for", async () => {
    const outcome = await open(name, { replies: [{ body: recorded(pages[name]) }] }).ask("x", { count: 1 });
    expect(outcome).toMatchObject({ ok: true, hits: [expect.anything()] });
  });

  test("gives no hits for a whole answer without any", async () => {
    const outcome = await open(name, { replies: [{ body: nothing[name] }] }).ask();
    expect(outcome).toEqual({ ok: true, hits: [], engine: label });
  });

  test.each([
    ["nothing", ""],
    ["half of its answer", recorded(pages[name]).slice(0, 200)],
    ["the page of a proxy", "<html><body><h1>Sign in to the hotel</h1></body></html>"],
    ["an object of another kind", '{"status":"error","error":"quota"}'],
    ["a list", "[]"],
    ["a null", "null"],
  ])("does not take %s for an answer without hits", async (_, body) => {
    expect(await reasonOf(open(name, { replies: [{ body }] }).ask())).toStartWith(
      `${label} sent something that cannot be read as results; ask another engine`,
    );
  });

  test("never throws and gives few and short hits, whatever it answers", async () => {
    const known = recorded(pages[name]);
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.json(),
      fc
        .tuple(fc.nat(known.length), fc.string({ unit: "binary", maxLength: 20 }))
        .map(([at, piece]) => known.slice(0, at) + piece + known.slice(at + piece.length)),
    );
    const body = fc.oneof(fc.uint8Array({ maxLength: 400 }), text);
    await fc.assert(
      fc.asyncProperty(body, fc.integer({ min: 100, max: 599 }), async (answer, odd) => {
        const status = odd % 2 === 0 ? 200 : odd;
        const { ask } = open(name, { replies: [{ status: status === 429 ? 500 : status, body: answer }] });
        const outcome = await ask();
        if (!outcome.ok) {
          expect(outcome.reason).not.toContain(KEY);
          expect(outcome.reason.length).toBeLessThan(400);
          return;
        }
        expect(outcome.hits.length).toBeLessThanOrEqual(5);
        for (const { title, url, snippet } of outcome.hits) {
          expect(url).toMatch(/^https?:\/\/[\x21-\x7e]+$/);
          expect(title.length).toBeWithin(1, 2_001);
          expect(snippet.length).toBeLessThanOrEqual(600);
          expect(`${title}${snippet}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe("engines say no in ways of their own:", () => {
  const refusals: readonly [EngineName, number, string, string][] = [
    ["brave", 422, '{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID","status":422}}', "Brave refuses the key"],
    ["brave", 422, '{"error":{"code":"VALIDATION","status":422}}', "Brave cannot search for that"],
    ["tavily", 432, '{"detail":{"error":"plan"}}', "has no searches left (HTTP 432)"],
    ["tavily", 433, '{"detail":{"error":"limit"}}', "has no searches left (HTTP 433)"],
    ["searxng", 403, "<title>403 Forbidden</title>", "add json to search.formats in its settings.yml"],
    [
      "searxng",
      200,
      '{"query":"x","results":[],"unresponsive_engines":[["brave","too many requests"]]}',
      "SearXNG found nothing, and engines that it asks did not answer; try again later, or ask another",
    ],
    ["searxng", 401, "", "SearXNG wants a user name and a password (HTTP 401), and none is ever sent"],
    ["searxng", 404, "", "there is no SearXNG at the address from tools.web.search.baseUrl (HTTP 404); put"],
    ["jina", 402, '{"code":402,"name":"InsufficientBalanceError"}', "has no searches left (HTTP 402)"],
    ["serper", 400, '{"message":"Not enough credits","statusCode":400}', "has no searches left (HTTP 400)"],
    ["serper", 403, '{"message":"Unauthorized.","statusCode":403}', "Serper refuses the key"],
    ["duckduckgo", 202, recorded("duckduckgo-robot-test.html"), "showed a test instead of results"],
    ["duckduckgo", 200, recorded("duckduckgo-robot-test.html"), "showed a test instead of results"],
    ["duckduckgo", 403, "<html></html>", "showed a test instead of results"],
  ];
  test.each(refusals)("%s by %i", async (name, status, body, reason) => {
    expect(await reasonOf(open(name, { replies: [{ status, body }] }).ask())).toContain(reason);
  });

  test.each([
    ["brave", '{"query":{"original":"x"},"web":null}'],
    ["kagi", '{"meta":{},"data":{"search":null}}'],
    ["serper", '{"searchParameters":{"q":"x"},"organic":null}'],
  ] as const)("%s by null where it found nothing", async (name, body) => {
    expect(await open(name, { replies: [{ body }] }).ask()).toMatchObject({ ok: true, hits: [] });
  });

  test("jina by 422 where it only found nothing", async () => {
    const replies = [{ status: 422, body: recorded("jina-nothing.json") }];
    expect(await open("jina", { replies }).ask()).toEqual({ ok: true, hits: [], engine: "Jina" });
  });
});

describe("engines.duckduckgo", () => {
  test("leaves advertisements out, and takes a hit about robot tests for a hit", async () => {
    const outcome = await open("duckduckgo", { replies: [{ body: recorded("duckduckgo.html") }] }).ask();
    expect(outcome.ok && outcome.hits.map(({ url }) => new URL(url).hostname)).toEqual([
      "kitchen.example.com",
      "www.example.org",
      "forum.example.net",
    ]);
    expect(outcome.ok && outcome.hits[2]).toMatchObject({
      title: 'Why does class="anomaly-modal" show up when I search?',
      snippet: 'Unfortunately, bots use DuckDuckGo too. <div id="challenge-form"> is what I got.',
    });
  });

  test("names what to ask in its place when it shows a test for people", async () => {
    const replies = [{ status: 202, body: recorded("duckduckgo-robot-test.html") }];
    expect(await reasonOf(open("duckduckgo", { replies }).ask())).toBe(
      "DuckDuckGo took the search for a robot's and showed a test instead of results; wait some minutes, or ask another engine (tools.web.search.provider: brave, tavily, searxng, jina, kagi, exa, serper)",
    );
  });

  test.each([
    ["!g kettles", "'!g' kettles"],
    ["kettles !w tea!", "kettles '!w' tea!"],
    ["\\kettles", "'\\kettles'"],
    ["wow! kettles", "wow! kettles"],
  ])("is not led to another site by %p", async (query, expected) => {
    const { ask, sent } = open("duckduckgo");
    await ask(query);
    expect(new URLSearchParams(String(sent[0]?.body)).get("q")).toBe(expected);
    expect(sent[0]?.maxRedirects).toBe(0);
  });

  test("reads a page whose tags are never closed in one pass", async () => {
    const opened = '<div class="result"><a class="result__a" href="https://example.com/';
    const body = Array.from({ length: 12_000 }, (_, at) => `${opened}${at}">t`)
      .join("")
      .slice(0, 1_000_000);
    const outcome = await open("duckduckgo", { replies: [{ body }] }).ask();
    expect(outcome).toMatchObject({ ok: true, hits: { length: 5 } });
  });
});

describe("engines.exa", () => {
  test.each([
    ["joins passages", '["first","second"]', "first … second"],
    ["leaves out passages that are no text", '[1,{"a":"b"},"third",null]', "third"],
    ["survives what is nested deeply", `${"[".repeat(200_000)}${"]".repeat(200_000)}`, ""],
  ])("%s", async (_, highlights, snippet) => {
    const body = `{"results":[{"title":"T","url":"https://example.com/","highlights":${highlights}}]}`;
    const outcome = await open("exa", { replies: [{ body }] }).ask();
    expect(outcome.ok ? outcome.hits.map((hit) => hit.snippet) : [""]).toEqual([snippet]);
  });
});

describe("engines.searxng", () => {
  test.each([
    ["https://searx.example.com", "https://searx.example.com/search"],
    ["https://example.com/searxng///", "https://example.com/searxng/search"],
    ["http://127.0.0.1:8080/?x=1#y", "http://127.0.0.1:8080/search"],
  ])("is found at %s", async (baseUrl, expected) => {
    const { ask, sent } = createSearch({ settings: { provider: "searxng", baseUrl } });
    await ask();
    expect(sent[0]?.url.split("?")[0]).toBe(expected);
  });

  test("may lead elsewhere, which no other engine may", async () => {
    const { ask, sent } = open("searxng");
    await ask();
    expect(sent[0]).not.toHaveProperty("maxRedirects");
    const others = ENGINE_NAMES.filter((name) => name !== "searxng").map((name) => open(name));
    for (const other of others) await other.ask();
    expect(others.map((other) => other.sent[0]?.maxRedirects)).toEqual(others.map(() => 0));
  });

  test("gets no key of another engine", async () => {
    const { ask, sent, secrets } = open("searxng");
    await ask();
    expect(JSON.stringify(sent)).not.toContain(KEY);
    expect(secrets).toEqual([]);
  });
});
