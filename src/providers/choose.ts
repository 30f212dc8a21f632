/** Makes models out of settings: the one that answers, with the ones that stand in when it fails. */

import type { LocalServer, ModelChoice } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import type { Clock, Log } from "../core/platform.ts";
import { createTokenScale } from "../lib/token-scale.ts";
import { protocols } from "./registry.ts";
import { type Candidate, createResilient, labelOf, type ModelCall } from "./resilient/resilient.ts";
import { type ResolveInput, resolveAtServer, resolveProvider } from "./vendors/resolve.ts";

/** Kept free in a prompt for what the estimate cannot see. */
const RESERVE_TOKENS = 1_024;
/** All attempts together may take so many times what one call may. */
const CALLS_PER_DEADLINE = 3;
/** A server far away that says nothing for so long is not reading the prompt; one on this machine may be. */
const FIRST_BYTE_MS = 120_000;

interface ModelSettings {
  readonly model?: string | undefined;
  readonly provider: string;
  readonly maxTokens: number;
  readonly contextWindowTokens: number;
  readonly temperature: number;
  readonly reasoningEffort?: string | undefined;
}

/** A preset by its name, or a model with what differs from the settings of the one it stands in for. */
type Fallback =
  | string
  | (Pick<ModelSettings, "provider" | "reasoningEffort"> & {
      readonly model: string;
      readonly maxTokens?: number | undefined;
      readonly contextWindowTokens?: number | undefined;
      readonly temperature?: number | undefined;
    });

export interface ChooserOptions {
  readonly settings: ModelSettings & {
    readonly modelPreset?: string | undefined;
    readonly contextBlockLimit?: number | undefined;
    readonly fallbackModels: readonly Fallback[];
    readonly providerRetryMode: "standard" | "persistent";
  };
  readonly presets: Readonly<Record<string, ModelSettings>>;
  readonly providers: ResolveInput["providers"];
  readonly env: ResolveInput["env"];
  /** Fills in variables. Throws a `UserError` that names the place when one is missing. */
  readonly expand: <T>(value: T, path: readonly string[]) => T;
  readonly onSecret: (secret: string) => void;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** The longest one call may take, and the longest silence in it. */
  readonly callTimeoutMs: number;
  readonly streamIdleMs: number;
  readonly onCall: (call: ModelCall) => void;
}

export interface Wanted {
  /** The name of a preset or of a model; without one what is configured. */
  readonly model?: string;
  readonly offline?: boolean;
  /** With a model: the server on this machine that has it. Then nobody else stands in for it. */
  readonly server?: LocalServer;
}

/** Rejects with a `UserError` when what is wanted cannot be used. The same wish is given the same model. */
export function createModelChooser(options: ChooserOptions): (wanted: Wanted) => Promise<ModelChoice> {
  const { settings, presets, providers, env, expand, log } = options;
  const choices = new Map<string, Promise<ModelChoice>>();
  const models = new Map<string, Promise<Model>>();

  /** One model for each endpoint: what it learns of its server holds for every name behind it. */
  function open(endpoint: Endpoint): Promise<Model> {
    const key = JSON.stringify(endpoint);
    const known = models.get(key) ?? connect(endpoint);
    models.set(key, known);
    return known;
  }

  function connect({ protocol, ...endpoint }: Endpoint): Promise<Model> {
    const { fetch, clock, callTimeoutMs, streamIdleMs } = options;
    const firstByteMs = isNear(endpoint.baseUrl) ? callTimeoutMs : Math.min(FIRST_BYTE_MS, callTimeoutMs);
    return protocols[protocol]({ ...endpoint, fetch, clock, firstByteMs, streamIdleMs, callTimeoutMs });
  }

  function resolve(model: string | undefined, provider: string) {
    const resolved = resolveProvider({ model, provider, providers, env });
    if (resolved.kind === "failed") throw new UserError(resolved.reason, { hint: resolved.hint });
    if (resolved.kind === "unconfigured") return resolved;
    const endpoint = expand(resolved.endpoint, ["providers", resolved.endpoint.provider]);
    if (endpoint.apiKey) options.onSecret(endpoint.apiKey);
    return { ...resolved, endpoint };
  }

  function candidateFor(
    { endpoint, name }: { endpoint: Endpoint; name: string },
    own?: Candidate["settings"],
  ): Candidate {
    return {
      provider: endpoint.provider,
      name,
      open: () => open(endpoint),
      ...(own === undefined ? {} : { settings: own }),
      scale: createTokenScale(),
    };
  }

  /** A stand-in that cannot be used is left out with a warning: the program works without it. */
  function fallbackFor(entry: Fallback, main: ModelSettings) {
    try {
      const wanted = fallbackSettings(entry, main);
      const found = resolve(wanted.model, wanted.provider);
      if (found.kind !== "resolved") return undefined;
      const { maxTokens, temperature, reasoningEffort } = wanted;
      const own = { maxTokens, temperature, ...(reasoningEffort === undefined ? {} : { reasoningEffort }) };
      return { candidate: candidateFor(found, own), room: roomOf(wanted) };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const name = typeof entry === "string" ? entry : entry.model;
      log.warn("A fallback model cannot be used", { model: name, reason: error.message });
      return undefined;
    }
  }

  function fallbackSettings(entry: Fallback, main: ModelSettings): ModelSettings {
    if (typeof entry === "string") {
      const preset = presetNamed(entry);
      if (preset === undefined) throw new UserError(`There is no preset "${entry}"`);
      return preset;
    }
    return {
      ...entry,
      maxTokens: entry.maxTokens ?? main.maxTokens,
      contextWindowTokens: entry.contextWindowTokens ?? main.contextWindowTokens,
      temperature: entry.temperature ?? main.temperature,
    };
  }

  function presetNamed(name: string): ModelSettings | undefined {
    const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
    return preset && expand(preset, ["modelPresets", name]);
  }

  async function choose({ model, offline = false, server }: Wanted): Promise<ModelChoice> {
    // The name of a preset stands for all of its settings, whether it was asked for or configured.
    const named = model ?? settings.modelPreset;
    const preset = named === undefined || server !== undefined ? undefined : presetNamed(named);
    const main: ModelSettings = preset ?? { ...settings, model: model ?? settings.model };
    const ask = () => (server ? resolveAtServer(server, model) : resolve(main.model, main.provider));
    const found = offline ? ({ kind: "unconfigured", why: "asked for" } as const) : ask();
    const { contextWindowTokens, maxTokens, temperature, reasoningEffort } = main;
    const limits = { contextWindowTokens, maxTokens, temperature, reasoningEffort };
    if (found.kind === "unconfigured") {
      return {
        ...limits,
        model: await protocols.offline(),
        name: "offline",
        why: found.why,
        offline: true,
        fallbacks: [],
        promptTokens: roomOf(main),
        scale: createTokenScale(),
      };
    }
    const first = candidateFor(found);
    const standIns = (server ? [] : settings.fallbackModels)
      .map((entry) => fallbackFor(entry, main))
      .filter((standIn) => standIn !== undefined)
      .filter(({ candidate }, index, all) =>
        isNew(candidate, [first, ...all.slice(0, index).map((one) => one.candidate)]),
      );
    const fallbacks = standIns.map(({ candidate }) => candidate);
    const { clock, random, onCall, callTimeoutMs } = options;
    const resilient = createResilient({
      candidates: [first, ...fallbacks],
      retryMode: settings.providerRetryMode,
      deadlineMs: CALLS_PER_DEADLINE * callTimeoutMs,
      clock,
      random,
      onCall,
    });
    const rooms = [roomOf(main), ...standIns.map(({ room }) => room)];
    return {
      ...limits,
      model: resilient,
      name: found.name,
      why: found.why,
      offline: false,
      fallbacks: fallbacks.map(labelOf),
      promptTokens: Math.min(...rooms, settings.contextBlockLimit ?? Number.POSITIVE_INFINITY),
      scale: first.scale,
    };
  }

  return (wanted) => {
    const key = JSON.stringify([wanted.model, wanted.offline === true, wanted.server]);
    const choice = choices.get(key) ?? choose(wanted);
    choices.set(key, choice);
    // A variable may be set by the next time; and names come from users, without end.
    choice.catch(() => choices.delete(key));
    if (choices.size > MOST_CHOICES) choices.delete(choices.keys().next().value ?? key);
    return choice;
  };
}

const MOST_CHOICES = 100;

type Endpoint = Extract<ReturnType<typeof resolveProvider>, { kind: "resolved" }>["endpoint"];

/** What of a window is left for a prompt. */
function roomOf({ contextWindowTokens, maxTokens }: ModelSettings): number {
  const room = contextWindowTokens - maxTokens - RESERVE_TOKENS;
  // Settings that leave no room at all still get an answer to a short message, as in the original.
  return room > 0 ? room : Math.floor(contextWindowTokens / 2);
}

function isNew({ provider, name }: Candidate, others: readonly Candidate[]): boolean {
  return !others.some((other) => other.provider === provider && other.name === name);
}

/** On this machine or in the same network, where models are small and machines slow. */
function isNear(url: string): boolean {
  const name = URL.parse(url)?.hostname ?? "";
  return /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]|\[f[cd])|\.(local|lan)$/i.test(
    name,
  );
}
