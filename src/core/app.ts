/** What commands see of the composed program. Nothing is built before it is asked for. */

import type { JsonObject } from "./json.ts";
import type { FinalMessage } from "./messages.ts";
import type { Model } from "./model.ts";
import type { Log, Platform } from "./platform.ts";
import type { SessionStore } from "./session.ts";
import type { Toolbox } from "./toolbox.ts";

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
  /** For people: `openrouter, because the key begins sk-or-`. */
  readonly why: string;
  readonly offline: boolean;
  readonly contextWindowTokens: number;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly reasoningEffort: string | undefined;
}

export interface ConverseOptions {
  /** A channel of the registry, and its configuration, which its schema checks. */
  readonly channel: string;
  readonly config: JsonObject;
  readonly model: ModelChoice;
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
}

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
  /** Throws a `UserError` when a named model cannot be used. Never offline unless nothing is configured, or asked for. */
  chooseModel(wanted: { model?: string; offline?: boolean }): Promise<ModelChoice>;
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
}
