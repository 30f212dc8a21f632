/** Finds model servers on this machine by asking the usual ports for their models. */

import type { LocalServer } from "../../core/app.ts";
import type { Clock } from "../../core/platform.ts";
import { abortable, limitSignal } from "../../lib/abort.ts";
import { isObject } from "../../lib/is-object.ts";
import { modelNameProblem } from "../../lib/model-name.ts";
import { readBounded } from "../wire/body.ts";
import type { Vendor } from "./vendor.ts";
import { vendors } from "./vendors.ts";

export interface DiscoverOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** For all of them together: whoever has not answered by then is not there. */
  readonly timeoutMs?: number;
  /** Where they listen, when not on the ports of their rows. */
  readonly ports?: Readonly<Record<string, number>>;
}

const MOST_BYTES = 256 * 1024;
const MOST_MODELS = 100;

/**
 * Servers that list a model, in the order of their rows, each with its models in order. A request holds
 * nothing of the user's: what listens on a port may be anything. Rejects only with the signal's reason.
 */
export async function discoverLocalServers({
  fetch,
  clock,
  signal,
  timeoutMs = 400,
  ports = {},
}: DiscoverOptions): Promise<readonly LocalServer[]> {
  signal.throwIfAborted();
  const limited = limitSignal(signal, { clock, ms: timeoutMs });
  try {
    const rows = vendors.filter(({ lookedFor }) => lookedFor);
    const found = await Promise.all(
      rows.map((row) => ask(row, ports[row.name] ?? usualPort(row), fetch, limited.signal)),
    );
    signal.throwIfAborted();
    return found.filter((server) => server !== undefined);
  } finally {
    limited.release();
    // Bodies that nobody reads any more.
    limited.abort();
  }
}

function usualPort({ baseUrl = "" }: Vendor): number {
  return Number(URL.parse(baseUrl)?.port);
}

async function ask(
  { name, label }: Vendor,
  port: number,
  fetch: DiscoverOptions["fetch"],
  signal: AbortSignal,
): Promise<LocalServer | undefined> {
  // By number: a name could be looked up elsewhere.
  const origin = `http://127.0.0.1:${port}`;
  const lists = [`${origin}/v1/models`, ...(name === "ollama" ? [`${origin}/api/tags`] : [])];
  for (const url of lists) {
    const models = modelsIn(await readJson(url, fetch, signal));
    if (models.length > 0) {
      return { name, label, baseUrl: `${origin}/v1`, models };
    }
  }
  return undefined;
}

/** `undefined` for everything that is no model server: nobody there, a refusal, a web page, a flood, silence. */
async function readJson(url: string, fetch: DiscoverOptions["fetch"], signal: AbortSignal): Promise<unknown> {
  const get = async () => {
    const response = await fetch(url, {
      redirect: "manual",
      credentials: "omit",
      headers: { Accept: "application/json" },
      signal,
    });
    if (response.status !== 200) return undefined;
    const { text, isWhole } = await readBounded(response, MOST_BYTES);
    return isWhole ? JSON.parse(text) : undefined;
  };
  try {
    return await abortable<unknown>(get(), signal);
  } catch {
    // Whatever went wrong, it is not a server to propose. The caller looks at the signal.
    return undefined;
  }
}

/** From `{data: [{id}]}`, as everybody answers, or `{models: [{name}]}`, as Ollama does under its own address. */
function modelsIn(answer: unknown): readonly string[] {
  if (!isObject(answer)) return [];
  const list = Array.isArray(answer["data"]) ? answer["data"] : answer["models"];
  if (!Array.isArray(list)) return [];
  const found = list.flatMap((model: unknown) => {
    const name = isObject(model) ? (model["id"] ?? model["name"]) : undefined;
    return typeof name === "string" && modelNameProblem(name) === undefined && !cannotTalk(name)
      ? [name]
      : [];
  });
  return [...new Set(found)].sort().slice(0, MOST_MODELS);
}

/** Servers list models that only embed or rank beside those that answer. */
function cannotTalk(name: string): boolean {
  return /embed|rerank/i.test(name);
}
