/** Every search engine, one row each, as its vendor documents it. */

import type { EngineName } from "../../lib/engine-names.ts";
import { isObject } from "../../lib/is-object.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { isRobotTest, parseDuckDuckGoPage } from "./duckduckgo-page.ts";
import { type EngineRequest, type RawHit, type SearchEngine, startOf } from "./engine.ts";

export const engines: Readonly<Record<EngineName, SearchEngine>> = {
  // The page for browsers without scripts; there is no official interface.
  duckduckgo: {
    label: "DuckDuckGo",
    oneAtATime: true,
    request: ({ query, timeRange }) => ({
      url: "https://html.duckduckgo.com/html/",
      method: "POST",
      headers: {
        accept: "text/html",
        "content-type": "application/x-www-form-urlencoded",
        referer: "https://html.duckduckgo.com/",
      },
      body: new URLSearchParams({
        q: withoutBangs(query),
        b: "",
        kl: "wt-wt",
        ...(timeRange && { df: timeRange.charAt(0) }),
      }).toString(),
    }),
    parse: parseDuckDuckGoPage,
    judge: (status, body) =>
      status === 202 || status === 403 || isRobotTest(body) ? "robotTest" : undefined,
  },

  brave: {
    label: "Brave",
    needs: { what: "key", variable: "BRAVE_API_KEY" },
    request: ({ query, count, timeRange, credential }) =>
      get("https://api.search.brave.com/res/v1/web/search", {
        parameters: {
          q: query,
          count: String(count),
          text_decorations: "false",
          ...(timeRange && { freshness: `p${timeRange.charAt(0)}` }),
        },
        headers: { "x-subscription-token": credential },
      }),
    parse: (body) => {
      const answer = decode(body);
      // What found nothing on the web has no such part.
      if (isObject(answer["query"]) && isMissing(answer["web"])) return [];
      return hitsIn(answer["web"], "results", { snippet: "description" });
    },
    judge: (status, body) =>
      status === 422 && body.includes("SUBSCRIPTION_TOKEN_INVALID") ? "wrongKey" : undefined,
  },

  tavily: {
    label: "Tavily",
    needs: { what: "key", variable: "TAVILY_API_KEY" },
    request: ({ query, count, timeRange, credential }) =>
      post("https://api.tavily.com/search", {
        headers: { authorization: `Bearer ${credential}` },
        body: { query, max_results: count, ...(timeRange && { time_range: timeRange }) },
      }),
    parse: (body) => hitsIn(decode(body), "results", { snippet: "content" }),
    // Its own numbers for a plan and for a pay-as-you-go account that are used up.
    judge: (status) => (status === 432 || status === 433 ? "noCredit" : undefined),
  },

  searxng: {
    label: "SearXNG",
    needs: { what: "address", variable: "SEARXNG_BASE_URL" },
    request: ({ query, timeRange, credential }) =>
      get(below(credential, "search"), {
        parameters: { q: query, format: "json", ...(timeRange && { time_range: timeRange }) },
        headers: {},
      }),
    parse: (body) => hitsIn(decode(body), "results", { snippet: "content" }),
    judge(status, body) {
      if (status !== 200) return status === 403 ? "noJson" : undefined;
      // It answers in the same way whether there is nothing to find or nobody whom it could ask.
      const { results, unresponsive_engines: silent } = decode(body);
      const foundNothing = Array.isArray(results) && results.length === 0;
      return foundNothing && Array.isArray(silent) && silent.length > 0 ? "noSources" : undefined;
    },
  },

  jina: {
    label: "Jina",
    needs: { what: "key", variable: "JINA_API_KEY" },
    isTimeless: true,
    request: ({ query, count, credential }) =>
      post("https://s.jina.ai/", {
        // Without the header every page comes whole, which is slow, costs more and is cut off.
        headers: { authorization: `Bearer ${credential}`, "x-respond-with": "no-content" },
        body: { q: query, num: count },
      }),
    parse: (body) => hitsIn(decode(body), "data", { snippet: "description" }),
    judge: (status, body) =>
      status === 422 && body.includes("No search results available") ? "nothingFound" : undefined,
  },

  kagi: {
    label: "Kagi",
    needs: { what: "key", variable: "KAGI_API_KEY" },
    request: ({ query, count, timeRange, credential, now }) =>
      post("https://kagi.com/api/v1/search", {
        headers: { authorization: `Bearer ${credential}` },
        body: {
          query,
          workflow: "search",
          limit: count,
          // The date without the time.
          ...(timeRange && { filters: { after: startOf(timeRange, now).slice(0, 10) } }),
        },
      }),
    parse: (body) => {
      const { data } = decode(body);
      // Its parts are kinds of results, and only those that were found are there.
      if (isObject(data) && isMissing(data["search"])) return [];
      return hitsIn(data, "search", { snippet: "snippet" });
    },
  },

  exa: {
    label: "Exa",
    needs: { what: "key", variable: "EXA_API_KEY" },
    request: ({ query, count, timeRange, credential, now }) =>
      post("https://api.exa.ai/search", {
        headers: { "x-api-key": credential },
        body: {
          query,
          numResults: count,
          contents: { highlights: true },
          ...(timeRange && { startPublishedDate: startOf(timeRange, now) }),
        },
      }),
    parse: (body) => hitsIn(decode(body), "results", { snippet: "highlights" }),
  },

  serper: {
    label: "Serper",
    needs: { what: "key", variable: "SERPER_API_KEY" },
    request: ({ query, count, timeRange, credential }) =>
      post("https://google.serper.dev/search", {
        headers: { "x-api-key": credential },
        body: { q: query, num: count, ...(timeRange && { tbs: `qdr:${timeRange.charAt(0)}` }) },
      }),
    parse: (body) => {
      const answer = decode(body);
      // The same.
      if (isObject(answer["searchParameters"]) && isMissing(answer["organic"])) return [];
      return hitsIn(answer, "organic", { url: "link", snippet: "snippet" });
    },
    judge: (status, body) => (status === 400 && /not enough credits/i.test(body) ? "noCredit" : undefined),
  },
};

/** `!w` at the front of a word leads to a search on another site, and `\\w` to the first result itself. */
function withoutBangs(query: string): string {
  return query.replace(/(^|\s)([!\\]\S+)/g, "$1'$2'");
}

/** The address of `name` in the folder `base`, whose slash at the end many leave out. */
function below(base: string, name: string): string {
  const { origin, pathname } = new URL(base);
  return `${origin}${pathname.replace(/\/+$/, "")}/${name}`;
}

interface Parts {
  readonly headers: Readonly<Record<string, string>>;
}

function get(
  address: string,
  { parameters, headers }: Parts & { parameters: Record<string, string> },
): EngineRequest {
  return {
    url: `${address}?${new URLSearchParams(parameters)}`,
    method: "GET",
    headers: { accept: "application/json", ...headers },
  };
}

function post(url: string, { body, headers }: Parts & { body: object }): EngineRequest {
  return {
    url,
    method: "POST",
    headers: { accept: "application/json", "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** Empty for what is not a JSON object. */
function decode(body: string): { readonly [key: string]: unknown } {
  const value = parseJson(body);
  // No engine answers that, and the caller says so.
  return isObject(value) ? value : {};
}

function isMissing(part: unknown): boolean {
  return part === undefined || part === null;
}

/** The list `key` of `answer`. Entries that are no objects are no hits. */
function hitsIn(
  answer: unknown,
  key: string,
  { url = "url", snippet }: { url?: string; snippet: string },
): readonly RawHit[] | undefined {
  const list: unknown = isObject(answer) ? answer[key] : undefined;
  if (!Array.isArray(list)) return undefined;
  return (list as readonly unknown[])
    .filter(isObject)
    .map((hit) => ({ title: hit["title"], url: hit[url], snippet: hit[snippet] }));
}
