/** What keeps work that nobody is waiting for from running away with time and money. */

import type { Origin } from "./messages.ts";
import type { ModelErrorKind } from "./model.ts";

/** The pause of cron, heartbeat, subagents and memory after the provider refused credentials or was out of money. */
export interface BackgroundPause {
  /** How long it lasts from now, in milliseconds; 0 when there is none. */
  leftMs(): number;
  /** A call to a model ended. Never throws. */
  observe(call: { readonly origin: Origin | undefined; readonly error: ModelErrorKind | undefined }): void;
}

/** How much a session may do in an hour. Each call counts one and gives what stands against it, in words for the model. */
export interface HourlyLimits {
  toolCall(sessionKey: string): string | undefined;
  task(sessionKey: string): string | undefined;
}
