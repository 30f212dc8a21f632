/** A search whose engine answers what a test says, from recorded pages or by hand. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../../src/core/platform.ts";
import type { SearchOutcome, WebFailure, WebRequest, WebResponse } from "../../../src/core/web.ts";
import type { SearchSettings } from "../../../src/web/search/choose-engine.ts";
import { createWebSearch } from "../../../src/web/search/create-web-search.ts";
import { createFakeClock } from "../../fakes/clock.ts";

export function recorded(name: string): string {
  return readFileSync(join(import.meta.dir, "../../fixtures/search", name), "utf8");
}

/** Of an engine: its status, what it says, or what the guard says about it. */
export type Reply =
  | { readonly status?: number; readonly body?: string | Uint8Array; readonly truncated?: boolean }
  | WebFailure;

export interface Sent extends WebRequest {
  readonly url: string;
}

const bytesOf = (body: string | Uint8Array) =>
  typeof body === "string" ? new TextEncoder().encode(body) : body;

/** The replies come one after the other, and the last one stays. */
export function createSearch({
  settings = {},
  env = {},
  replies = [{}],
}: {
  settings?: Partial<SearchSettings>;
  env?: Environment;
  replies?: readonly Reply[];
} = {}) {
  const sent: Sent[] = [];
  const secrets: string[] = [];
  const clock = createFakeClock(Date.UTC(2026, 2, 15, 12));
  const search = createWebSearch({
    settings: {
      provider: undefined,
      apiKey: "",
      isKeyMeant: (settings.apiKey ?? "") !== "",
      baseUrl: "",
      maxResults: 5,
      timeout: 30,
      ...settings,
    },
    env,
    clock,
    onSecret: (secret) => secrets.push(secret),
    web: {
      whyRefused: async () => undefined,
      async fetch(url, request) {
        request.signal.throwIfAborted();
        const reply = replies[Math.min(sent.length, replies.length - 1)];
        sent.push({ url, ...request });
        if (reply === undefined) throw new Error("The test has no reply");
        if ("ok" in reply) return reply;
        const { status = 200, body = "", truncated = false } = reply;
        const response: WebResponse = {
          ok: true,
          url,
          finalUrl: url,
          status,
          headers: {},
          body: bytesOf(body),
          truncated,
          downgraded: false,
          isListed: false,
        };
        return response;
      },
    },
  });
  return {
    search,
    clock,
    sent,
    secrets,
    ask(
      query = "kettle descaling",
      options: Partial<Parameters<typeof search.search>[1]> = {},
    ): Promise<SearchOutcome> {
      return search.search(query, { count: 5, signal: new AbortController().signal, ...options });
    },
  };
}

/** Why a search failed. A search that did not fails the test. */
export async function reasonOf(outcome: Promise<SearchOutcome>): Promise<string> {
  const ended = await outcome;
  if (ended.ok) throw new Error("It did not fail");
  return ended.reason;
}
