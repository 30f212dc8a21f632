/** The web as tools reach it: guarded requests, a search engine, and whoever reads pages for us. */

import type { Log, Platform } from "../core/platform.ts";
import type { ToolPorts } from "../core/tool.ts";
import { lazy } from "../lib/lazy.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { Settings } from "./settings.ts";

export interface WebParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  /** Learns the keys of search engines. */
  readonly secrets: Secrets;
}

export type WebPorts = Pick<ToolPorts, "web" | "search" | "pageReader">;

/** Rejects with a `UserError` for settings that cannot be. */
export function createWebPorts({ platform, settings, log, secrets }: WebParts): () => Promise<WebPorts> {
  const { clock, env, fetch } = platform;
  return lazy(async () => {
    const [{ createWeb }, { createWebSearch }] = await Promise.all([
      import("../platform/web.ts"),
      import("../web/search/create-web-search.ts"),
    ]);
    const { web: chosen, ssrfWhitelist } = await settings.tools();
    const { proxy, proxyResolvesNames, userAgent } = chosen;
    const web = await createWeb({ clock, env, fetch, ssrfWhitelist, proxy, proxyResolvesNames, userAgent });
    const search = createWebSearch({
      settings: chosen.search,
      env,
      web,
      clock,
      onSecret: (secret) => secrets.add([secret]),
    });
    const pageReader = chosen.fetch.useJinaReader
      ? (await import("../web/page-reader.ts")).createPageReader({ web, log, key: env["JINA_API_KEY"] })
      : undefined;
    return { web, search, pageReader };
  });
}
