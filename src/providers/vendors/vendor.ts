/** What is known of a vendor before anybody configured it. */

import type { ProtocolName } from "../../core/app.ts";
import type { ServerQuirks } from "../wire/server-quirks.ts";

export interface Vendor {
  readonly name: string;
  /** For people. */
  readonly label: string;
  /** Absent where only the user knows it. */
  readonly baseUrl: string | undefined;
  /** The environment variable of the key; absent where there is none. */
  readonly keyVariable: string | undefined;
  /**
   * The variable is somebody else's, or serves for more than this. A key in it says nothing about this vendor,
   * so it counts only where the vendor is named or has an address in the configuration.
   */
  readonly sharesVariable?: boolean;
  /** How its keys begin, where nobody else's do. */
  readonly keyPrefix?: string;
  /** Parts of model names that mean this vendor. */
  readonly keywords: readonly string[];
  /**
   * Taken when a key is there and no model is named: an alias that moves on by itself where there is one.
   * Absent where nobody can know.
   */
  readonly defaultModel: string | undefined;
  /** Absent for chat completions. */
  readonly protocol?: ProtocolName;
  /** Runs on the user's own machine and takes no key: chosen only by name or when its address is configured. */
  readonly local?: boolean;
  /** A local one that is worth asking for at the port of its address. */
  readonly lookedFor?: boolean;
  /** Nobody but gateways runs its models, so no local server and no host of open models answers for them. */
  readonly closed?: boolean;
  /** Parts of the names of its models that everybody may run all the same. */
  readonly openKeywords?: readonly string[];
  /** Passes requests on to every vendor, so it answers where their own keys are missing. */
  readonly gateway?: boolean;
  /** Runs the open models of others, so it answers for those where their own keys are missing. */
  readonly host?: boolean;
  /** Its models' names begin with a vendor, which may be itself: `openrouter/auto` is a whole name. */
  readonly vendorInNames?: boolean;
  /** Knows models by the last part of their names alone. */
  readonly stripsPrefix?: boolean;
  /** Speaks OpenAI's protocols at addresses and with headers of its own. */
  readonly azure?: boolean;
  readonly quirks?: Partial<ServerQuirks>;
}
