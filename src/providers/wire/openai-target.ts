/** Where the openai package would post a request, and with what headers, Azure's ways included. */

import type { ChatRequest } from "../../core/model.ts";
import { lazy } from "../../lib/lazy.ts";
import { createRecent, promiseOf } from "../../lib/recent.ts";
import type { EndpointOptions } from "./endpoint.ts";
import { wantedHeaders } from "./target-headers.ts";
import type { Target } from "./transport.ts";

type Options = Pick<EndpointOptions, "baseUrl" | "apiKey" | "headers" | "extraQuery" | "azure">;

/** The last of Azure's dated versions: only its previews have responses. `extraQuery` may name another. */
const AZURE_API_VERSION = "2025-04-01-preview";

/** Targets kept at once: Azure's addresses hold the model's name. */
const MOST_TARGETS = 64;

/**
 * The package says where to post and with what headers. That depends on the configuration and, on Azure,
 * the model alone, and asking it costs more than everything else of a call together, so it is asked once.
 */
export function openaiTarget(path: string, options: Options): (request: ChatRequest) => Promise<Target> {
  const client = lazy(() => createClient(path, options));
  const targets = createRecent<Promise<Target>>({ most: MOST_TARGETS });

  return ({ model }) =>
    promiseOf(targets, options.azure ? model : "", async () => {
      const { req, url } = await (await client()).buildRequest({ method: "post", path, body: { model } });
      return { url, init: { method: "POST", headers: wantedHeaders(req.headers, headersOf(options)) } };
    });
}

/** Beside those that the package sends by itself. What it would take from elsewhere is set here too. */
function headersOf(options: Options): Readonly<Record<string, string | null>> {
  const { apiKey, headers = {} } = options;
  const bearer = apiKey === undefined || isClassicAzure(options) ? null : `Bearer ${apiKey}`;
  return { "User-Agent": "nanobot", Authorization: bearer, ...headers };
}

function isClassicAzure({ azure, baseUrl }: Pick<Options, "azure" | "baseUrl">): boolean {
  return azure === true && !isVersionless(baseUrl);
}

async function createClient(path: string, options: Options) {
  const { baseUrl, apiKey, extraQuery = {} } = options;
  const { OpenAI, AzureOpenAI } = await import("openai");
  const shared = {
    // The package would take these from variables meant for its own vendor and send them to any.
    organization: null,
    project: null,
    defaultHeaders: headersOf(options),
    defaultQuery: { ...extraQuery },
    logLevel: "off",
  } as const;
  if (!isClassicAzure(options)) {
    return new OpenAI({ ...shared, baseURL: baseUrl, apiKey: apiKey ?? "none" });
  }
  return new AzureOpenAI({
    ...shared,
    apiKey: apiKey ?? "none",
    baseURL: azureBase(baseUrl, path),
    apiVersion: extraQuery["api-version"] ?? AZURE_API_VERSION,
  });
}

/** Azure's newer address, `…/openai/v1`, is spoken to like its maker's own: no version, no deployment in the path. */
function isVersionless(address: string): boolean {
  return /\/v1\/?$/.test(new URL(address).pathname);
}

/** People copy the address of the resource, or of a deployment; the API lies below the one and beside the other. */
function azureBase(address: string, path: string): string {
  const url = new URL(address);
  if (url.pathname === "/" || url.pathname === "") url.pathname = "/openai";
  // A deployment has chat completions below it; responses name it in their body alone.
  if (path === "/responses") url.pathname = url.pathname.replace(/\/deployments\/.*$/, "");
  return url.href.replace(/\/$/, "");
}
