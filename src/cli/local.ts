/** Picks a model of the servers that run on this machine. */

import type { App, LocalServer } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import { isSameName } from "../lib/same-name.ts";
import type { Prompter } from "./prompter.ts";

export interface LocalModel {
  readonly server: LocalServer;
  readonly model: string;
}

/** `wanted` is a model's name, or `server/model`. Throws a `UserError` when nothing fits or it is not clear which one. */
export async function pickLocalModel(
  app: Pick<App, "localServers" | "vendors">,
  wanted: string | undefined,
  { signal, prompter }: { signal: AbortSignal; prompter: (() => Promise<Prompter>) | undefined },
): Promise<LocalModel> {
  const servers = await app.localServers(signal);
  const all = servers.flatMap((server) => server.models.map((model) => ({ server, model })));
  const fitting = wanted === undefined ? all : all.filter((one) => isCalled(one, wanted));
  const [first, second] = fitting;
  if (first === undefined)
    throw wanted === undefined || all.length === 0 ? nothingRuns(app) : notThere(wanted, all);
  if (second === undefined) return first;
  if (prompter === undefined) throw severalRun(fitting);
  const chosen = await (await prompter()).choose("Which model?", {
    choices: fitting.map((one, index) => ({
      value: String(index),
      label: `${one.model} (${one.server.label})`,
    })),
    initial: undefined,
  });
  return fitting[Number(chosen)] ?? first;
}

/** Ollama's names have a tag, which nobody types when it is the usual one. */
function isCalled({ server, model }: LocalModel, wanted: string): boolean {
  const isModel = (name: string) => name === model || `${name}:latest` === model;
  const slash = wanted.indexOf("/");
  const isPrefixed = slash > 0 && isSameName(wanted.slice(0, slash), server.name);
  return isModel(wanted) || (isPrefixed && isModel(wanted.slice(slash + 1)));
}

function nothingRuns({ vendors }: Pick<App, "vendors">): UserError {
  const tried = vendors.flatMap(({ label, baseUrl = "", lookedFor }) =>
    lookedFor ? [`${URL.parse(baseUrl)?.port} (${label})`] : [],
  );
  return new UserError("Use a local model: no server on this machine lists one", {
    hint: `Tried were the ports ${tried.join(", ")}. For another address set providers.<name>.apiBase`,
  });
}

function notThere(wanted: string, all: readonly LocalModel[]): UserError {
  return new UserError(`Use a local model: no server on this machine has "${wanted}"`, {
    hint: `There are ${someOf(all.map(fullName), MANY)}`,
  });
}

function severalRun(fitting: readonly LocalModel[]): UserError {
  return new UserError("Use a local model: there are several on this machine", {
    hint: `Pick one with --local --model NAME: ${someOf(fitting.map(fullName), MANY)}`,
  });
}

function fullName({ server, model }: LocalModel): string {
  return `${server.name}/${model}`;
}

const MANY = 30;

/** The first of many, and how many there are besides. */
export function someOf(names: readonly string[], most = 3): string {
  const rest = names.length - most;
  return names.slice(0, most).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
