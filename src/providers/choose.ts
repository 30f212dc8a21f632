/** Makes models out of settings: the one that answers, with the ones that stand in when it fails. */

import type { LocalServer, ModelChoice } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { Model } from "../core/model.ts";
import type { Clock, Log } from "../core/platform.ts";
import type { ModelCall } from "../core/usage.ts";
import { createRecent, promiseOf } from "../lib/recent.ts";
import { createTokenScale } from "../lib/token-scale.ts";
import { protocols } from "./registry.ts";
import { type Candidate, createResilient, labelOf } from "./resilient/resilient.ts";
import { createStanding, type Standing } from "./resilient/standing.ts";
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

/** The settings of the model that is named, or configured. The name of a preset stands for all of its settings. */
export function mainSettings(
  { settings, presets, expand }: Pick<ChooserOptions, "settings" | "presets" | "expand">,
  model?: string,
): ModelSettings {
  const name = model ?? settings.modelPreset;
  const preset = name === undefined ? undefined : presetNamed(name, { presets, expand });
  return sensible(preset ?? { ...settings, model: model ?? settings.model });
}

/** Servers refuse a reply as long as the window, so half of it is for the prompt. A blank effort is none said. */
function sensible(settings: ModelSettings): ModelSettings {
  const { maxTokens, contextWindowTokens, reasoningEffort } = settings;
  return {
    ...settings,
    maxTokens: Math.min(maxTokens, Math.max(1, Math.floor(contextWindowTokens / 2))),
    reasoningEffort: reasoningEffort?.trim().toLowerCase() || undefined,
  };
}

function presetNamed(
  name: string,
  { presets, expand }: Pick<ChooserOptions, "presets" | "expand">,
): ModelSettings | undefined {
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  return preset && expand(preset, ["modelPresets", name]);
}

/** Rejects with a `UserError` when what is wanted cannot be used. The same wish is given the same model. */
export function createModelChooser(options: ChooserOptions): (wanted: Wanted) => Promise<ModelChoice> {
  const { settings, providers, env, expand, log } = options;
  // Names come from users, without end, but what is configured is always wanted again.
  const choices = createRecent<Promise<ModelChoice>>({ most: MOST_KEPT, pinned: keyOf({}) });
  const models = createRecent<Promise<Model>>({ most: MOST_KEPT });
  const standings = createRecent<Standing>({ most: MOST_STANDINGS });

  /** One model for each endpoint: what it learns of its server holds for every name behind it. */
  function open(endpoint: Endpoint): Promise<Model> {
    return promiseOf(models, JSON.stringify(endpoint), () => connect(endpoint));
  }

  function connect({ protocol, ...endpoint }: Endpoint): Promise<Model> {
    const { fetch, clock, callTimeoutMs, streamIdleMs } = options;
    const firstByteMs = isNear(endpoint.baseUrl) ? callTimeoutMs : Math.min(FIRST_BYTE_MS, callTimeoutMs);
    const limits = { firstByteMs, streamIdleMs, callTimeoutMs };
    const onBug = (error: unknown) => log.error("A call to a model failed for a fault of nanobot", { error });
    return protocols[protocol]({ ...endpoint, ...limits, fetch, clock, onBug });
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
    const { provider } = endpoint;
    return {
      provider,
      name,
      open: () => open(endpoint),
      ...(own === undefined ? {} : { settings: own }),
      standing: standings.of(labelOf({ provider, name }), () => createStanding(options.clock)),
    };
  }

  /** A stand-in that cannot be used is left out with a warning: the program works without it. */
  function fallbackFor(entry: Fallback, main: ModelSettings) {
    try {
      const wanted = sensible(fallbackSettings(entry, main));
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
      const preset = presetNamed(entry, options);
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

  async function choose({ model, offline = false, server }: Wanted): Promise<ModelChoice> {
    // A server's own name for its model is no preset's.
    const main = server ? settings : mainSettings(options, model);
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
      scale: first.standing.scale,
    };
  }

  return (wanted) => promiseOf(choices, keyOf(wanted), () => choose(wanted));
}

const MOST_KEPT = 100;
const MOST_STANDINGS = 1_000;

function keyOf({ model, offline = false, server }: Wanted): string {
  return JSON.stringify([model, offline, server]);
}

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
