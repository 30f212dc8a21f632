/** Searching the web, behind the network guard; the engines are loaded with the first search. */

import type { Clock, Environment } from "../../core/platform.ts";
import type { GuardedFetch, WebSearch } from "../../core/web.ts";
import { lazy } from "../../lib/lazy.ts";
import type { SearchSettings } from "./choose-engine.ts";

export interface WebSearchOptions {
  readonly settings: SearchSettings;
  readonly env: Environment;
  readonly web: GuardedFetch;
  readonly clock: Clock;
  /** Told the key that is used, so that it can be masked. */
  readonly onSecret: (secret: string) => void;
}

const MOST_HITS = 10;

export function createWebSearch(options: WebSearchOptions): WebSearch {
  const open = lazy(async () => (await import("./engine-search.ts")).createEngineSearch(options));
  return {
    defaultCount: within(options.settings.maxResults),
    async search(query, { count, ...more }) {
      const search = await open();
      return search(query, { ...more, count: within(count) });
    },
  };
}

function within(count: number): number {
  return Math.min(Math.max(Math.trunc(count), 1), MOST_HITS);
}
