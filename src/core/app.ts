/** What commands see of the composed program. Nothing is built before it is asked for. */

import type { Pairing } from "./access.ts";
import type { AuditLog } from "./audit.ts";
import type { Outbox } from "./bus.ts";
import type { CommandPolicy, SandboxState } from "./commands.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { MediaStore } from "./media.ts";
import type { MemorySearch, MemoryStore } from "./memory.ts";
import type { FinalMessage } from "./messages.ts";
import type { Model, TokenScale } from "./model.ts";
import type { Log, Platform } from "./platform.ts";
import type { ReplayOptions, TurnReplay } from "./replay.ts";
import type { OwnersJobs } from "./schedule.ts";
import type { SessionStore } from "./session.ts";
import type { Skills } from "./skills.ts";
import type { Toolbox } from "./toolbox.ts";
import type { UsageStore } from "./usage.ts";

/** Where things are. All absolute. */
export interface Paths {
  /** `NANOBOT_HOME`, else `~/.nanobot`. */
  readonly home: string;
  readonly configFile: string;
  readonly workspace: string;
}

/** A model that can be called, and why it was chosen. */
export interface ModelChoice {
  readonly model: Model;
  /** The name the provider knows it by. */
  readonly name: string;
  /** Models that answer when it cannot, in turn: `provider/name`. */
  readonly fallbacks: readonly string[];
  /** For people: `openrouter, because the key begins sk-or-`. */
  readonly why: string;
  readonly offline: boolean;
  readonly contextWindowTokens: number;
  /** The most tokens of a prompt, tools included, that all of these models take. */
  readonly promptTokens: number;
  readonly scale: TokenScale;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly reasoningEffort: string | undefined;
}

export interface ConverseOptions {
  /** A channel of the registry, and its configuration, which its schema checks. */
  readonly channel: string;
  readonly config: JsonObject;
  readonly model: ModelChoice;
  /** It was asked for by hand, so that it wins over what a session chose before. */
  readonly isModelWanted: boolean;
  /** Shows what the model thinks, beside what it says. */
  readonly showReasoning?: boolean;
}

/** What setting up needs to know of a provider that the program knows by itself. */
export interface VendorInfo {
  readonly name: string;
  /** For people: `OpenRouter`. */
  readonly label: string;
  /** The environment variable its key is taken from; absent when it takes no key. */
  readonly keyVariable: string | undefined;
  /** Absent when only the user knows the address. */
  readonly baseUrl: string | undefined;
  readonly defaultModel: string | undefined;
  /** Runs on the user's own machine, so it needs no key. */
  readonly local?: boolean;
  /** `localServers` asks for it at the port of its address. */
  readonly lookedFor?: boolean;
}

export type ProtocolName = "chatCompletions" | "anthropic" | "responses";

/** Where a provider's key comes from, or would come from. Never the key. */
export interface ProviderKey {
  readonly from: "config" | "environment" | "none needed" | "missing";
  /** The environment variable that holds it, or would. */
  readonly variable: string | undefined;
}

/** A provider as it is configured: a vendor, or an endpoint of the user's own. Holds no key and no password. */
export interface ProviderInfo {
  readonly name: string;
  readonly label: string;
  readonly protocol: ProtocolName;
  /** Absent when only the user knows it, or when what they gave is no address. */
  readonly baseUrl: string | undefined;
  readonly key: ProviderKey;
  /** It has a key of its own, or an address in the configuration. Another is used only when it is named. */
  readonly configured: boolean;
  /** The model that is configured is asked of it. */
  readonly inUse: boolean;
}

/** A server that was found on this machine, and what it says it runs. */
export interface LocalServer {
  /** The name of its vendor. What listens on the port may be something else. */
  readonly name: string;
  readonly label: string;
  readonly baseUrl: string;
  /** At least one. */
  readonly models: readonly string[];
}

/** How commands of the model are judged and shut in. */
export interface CommandsInfo {
  readonly enabled: boolean;
  readonly policy: CommandPolicy;
  readonly sandbox: SandboxState;
}

export interface GatewayOptions {
  /** Makes what is missing in the workspace and finds the model, once the gateway has its address. */
  prepare(): Promise<ModelChoice>;
  /** It was asked for by hand, so that it wins over what a session chose before. */
  readonly isModelWanted: boolean;
  /** In the place of `gateway.host` and `gateway.port`. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Called once it answers requests. */
  readonly onReady: (ready: {
    readonly address: string;
    readonly channels: readonly string[];
    /** Its name. */
    readonly model: string;
  }) => void;
}

/** A channel of the registry, as it is configured. */
export interface ChannelInfo {
  readonly name: string;
  readonly enabled: boolean;
  /** It is one of this program's, and not only a name in the configuration. */
  readonly exists: boolean;
  /** What is wrong with its settings, so that it could not be started. */
  readonly problem: string | undefined;
  /** What is odd about them, and stops nothing. One sentence each. */
  readonly warnings?: readonly string[];
}

/** What a request to the gateway of this workspace came to. */
export type GatewayAnswer =
  | { readonly running: false }
  | { readonly running: true; readonly value: JsonValue };

/** The flags every command takes. */
export interface GlobalFlags {
  readonly config: string | undefined;
  readonly workspace: string | undefined;
  readonly verbose: boolean;
}

export interface App {
  readonly version: string;
  readonly platform: Platform;
  readonly flags: GlobalFlags;
  readonly log: Log;
  readonly vendors: readonly VendorInfo[];
  /** Throws a `UserError` when the configuration is broken. */
  paths(): Promise<Paths>;
  sessions(): Promise<SessionStore>;
  toolbox(): Promise<Toolbox>;
  /** How many commands of a session go on after the call that started them. */
  commandsLeft(sessionKey: string): Promise<number>;
  /** Takes every known secret out of a text. */
  mask(text: string): string;
  /**
   * Puts what tools ask to whoever sits at the terminal, outside a conversation too; without a terminal nobody
   * is asked. `onInterrupt` is called for Ctrl-C, which is no signal while a question waits for an answer.
   */
  askAtTerminal(onInterrupt: () => void): Promise<void>;
  /** Tries the sandbox, once. Throws a `UserError` for settings that would open what must stay closed. */
  commands(): Promise<CommandsInfo>;
  usage(): Promise<UsageStore>;
  audit(): Promise<AuditLog>;
  /** Throws a `UserError` when there is no such turn. Changes nothing, calls no model and executes no tool. */
  replay(options: ReplayOptions, signal: AbortSignal): Promise<TurnReplay>;
  media(): Promise<MediaStore>;
  /**
   * Throws a `UserError` when a named model cannot be used. Never offline unless nothing is configured, or
   * asked for. With `server` the model is one of that server's, whatever is configured.
   */
  chooseModel(wanted: { model?: string; offline?: boolean; server?: LocalServer }): Promise<ModelChoice>;
  /** Every provider, known or configured. Throws a `UserError` when the configuration is broken. */
  providers(): Promise<readonly ProviderInfo[]>;
  /** Looks for model servers on this machine, briefly. Sends nothing of the user's, and uses nothing it finds. */
  localServers(signal: AbortSignal): Promise<readonly LocalServer[]>;
  /**
   * Makes the workspace and adds templates it lacks; changes no file that is there. With
   * `onlyWhenMissing` a workspace that exists is left as it is. Resolves to what was added.
   */
  prepareWorkspace(options?: { onlyWhenMissing?: boolean }): Promise<readonly string[]>;
  /**
   * Runs the agent behind one channel until that channel's source is at its end. Resolves to the
   * outcome of the last final message, if there was one.
   */
  converse(options: ConverseOptions, signal: AbortSignal): Promise<FinalMessage["outcome"] | undefined>;
  /**
   * Runs the gateway of this workspace until `signal` aborts, and resolves when all that was taken in is done or
   * kept: to `restart` when somebody asked for that in a chat. Throws a `UserError` when one runs already.
   */
  gateway(options: GatewayOptions, signal: AbortSignal): Promise<"ended" | "restart">;
  /** Begins this program anew beside the one that ends now, or leaves that to whoever started it. Resolves to the exit code. */
  startAgain(): Promise<0 | 75>;
  /** Asks the gateway that runs for this workspace. Throws its `UserError`. */
  askGateway(command: string, args: JsonObject, signal: AbortSignal): Promise<GatewayAnswer>;
  /** The undelivered messages, for when no gateway runs. Throws a `UserError` when one does. */
  withOutbox<T>(work: (outbox: Outbox) => Promise<T>): Promise<T>;
  /** Of the file, under its lock: a gateway that runs sees what changed. */
  pairing(): Promise<Pairing>;
  memory(): Promise<MemoryStore>;
  memorySearch(): Promise<MemorySearch>;
  skills(): Promise<Skills>;
  /** Of the file, under its lock: a gateway that runs sees what changed. */
  jobs(): Promise<OwnersJobs>;
  channels(): Promise<readonly ChannelInfo[]>;
  /**
   * Tries a channel's credentials without starting it, and says whose they are; with `sendTo` a message is sent there too.
   * Throws a `UserError` that says what is wrong.
   */
  testChannel(name: string, options: { sendTo: string | undefined }, signal: AbortSignal): Promise<string>;
}
