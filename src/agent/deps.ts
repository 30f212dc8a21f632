/** What a turn needs of the world. */

import type { ModelChoice } from "../core/app.ts";
import type { Bus } from "../core/bus.ts";
import type { Clock, Ids, Log } from "../core/platform.ts";
import type { SessionStore } from "../core/session.ts";
import type { Toolbox } from "../core/toolbox.ts";
import type { RuntimeContext } from "./prompt.ts";

export interface AgentDeps {
  readonly version: string;
  readonly bus: Bus;
  readonly sessions: SessionStore;
  readonly toolbox: Toolbox;
  readonly model: ModelChoice;
  /** The system prompt as the workspace's files have it now. */
  readonly systemPrompt: () => Promise<string>;
  readonly runtimeContext: RuntimeContext;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly maxToolIterations: number;
  readonly toolHintMaxLength: number;
}

/** The time of a line that is written now. */
export function timestamp({ clock }: Pick<AgentDeps, "clock">): string {
  return new Date(clock.now()).toISOString();
}
