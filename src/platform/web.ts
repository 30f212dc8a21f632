/** The network guard as the program uses it, with this machine's resolver and connections; loaded with the first request. */

import { UserError } from "../core/errors.ts";
import type { Clock, Environment } from "../core/platform.ts";
import type { GuardedFetch } from "../core/web.ts";
import { lazy } from "../lib/lazy.ts";

export interface WebOptions {
  readonly clock: Clock;
  readonly env: Environment;
  readonly fetch: typeof fetch;
  /** As configured. */
  readonly ssrfWhitelist: readonly string[];
  readonly proxy?: string | undefined;
  readonly proxyResolvesNames: boolean;
  readonly userAgent?: string | undefined;
}

/** Throws a `UserError` for a whitelist or a proxy that is wrong. */
export async function createWeb({ fetch, ssrfWhitelist, ...options }: WebOptions): Promise<GuardedFetch> {
  const { proxy = "" } = options;
  if (proxy !== "" && (await import("../lib/proxy.ts")).parseProxy(proxy) === undefined) {
    throw new UserError("Read tools.web.proxy: it is not the address of an http or https proxy", {
      hint: "Write it as http://host:port",
    });
  }
  const readWhitelist = async () => (await import("../lib/address.ts")).parseWhitelist(ssrfWhitelist);
  if (ssrfWhitelist.length > 0) await readWhitelist();

  const guard = lazy(async () => {
    const [{ createGuardedFetch }, { createSender, whyNoProxy }, { lookUp }] = await Promise.all([
      import("./guarded-fetch.ts"),
      import("./web-request.ts"),
      import("./look-up.ts"),
    ]);
    return createGuardedFetch({
      ...options,
      lookUp,
      send: createSender({ fetch }),
      whitelist: await readWhitelist(),
      whyNoProxy: whyNoProxy(options.env, options.proxy),
    });
  });

  return {
    fetch: async (url, request) => (await guard()).fetch(url, request),
    whyRefused: async (url, signal) => (await guard()).whyRefused(url, signal),
  };
}
