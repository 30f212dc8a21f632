/** Every provider for people to look at: what it is, where its key would come from, and which one answers. */

import type { ProviderInfo, ProviderKey } from "../../core/app.ts";
import type { Environment } from "../../core/platform.ts";
import { type Candidate, candidatesOf, labelOf, variableIn, withVariables } from "./candidates.ts";
import { type ResolveInput, resolveProvider } from "./resolve.ts";
import { protocolOf } from "./vendor-endpoint.ts";

/** In the order of the rows, then the user's own endpoints. Holds no key and no password. */
export function describeProviders(input: ResolveInput): readonly ProviderInfo[] {
  const resolution = resolveProvider(input);
  const used = resolution.kind === "resolved" ? resolution.endpoint.provider : undefined;
  return candidatesOf(input.providers, input.env).map((candidate) => {
    const { name, vendor, settings, apiBase, hasOwnKey } = candidate;
    return {
      name,
      label: labelOf(candidate),
      protocol: protocolOf(vendor, settings, apiBase),
      baseUrl: apiBase === undefined ? vendor?.baseUrl : shownAddress(apiBase, input.env),
      key: keyOf(candidate),
      configured: hasOwnKey || apiBase !== undefined,
      inUse: name === used,
    };
  });
}

function keyOf({ vendor, settings, plainKey, keySource }: Candidate): ProviderKey {
  if (keySource === "config") {
    const variable = variableIn(settings.apiKey ?? "");
    return { from: plainKey === undefined ? "missing" : "config", variable };
  }
  const variable = vendor?.keyVariable;
  if (keySource === "environment") return { from: "environment", variable };
  return !vendor || vendor.local ? { from: "none needed", variable } : { from: "missing", variable };
}

/** An address can hold a password or a token: then it is cut down to what cannot. */
function shownAddress(address: string, env: Environment): string | undefined {
  const url = URL.parse(withVariables(address, env) ?? "");
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.username !== "" || url.password !== "") return url.origin;
  return url.origin + url.pathname.replace(/\/$/, "");
}
