/** What a turn needs of the world. */

import type { AuditEntry } from "../core/audit.ts";
import type { Bus } from "../core/bus.ts";
import type { SystemMessage } from "../core/model.ts";
import type { Clock, Ids, Log } from "../core/platform.ts";
import type { SessionStore } from "../core/session.ts";
import type { Toolbox } from "../core/toolbox.ts";
import type { MaskStream } from "../lib/mask-stream.ts";
import type { ImageLoader } from "./images.ts";
import type { RuntimeContext } from "./prompt.ts";
import type { SessionModels } from "./session-models.ts";

export interface AgentDeps {
  readonly version: string;
  readonly bus: Bus;
  readonly sessions: SessionStore;
  readonly toolbox: Toolbox;
  /** Records a call that the toolbox did not end. */
  readonly audit: (entry: AuditEntry) => void;
  readonly models: SessionModels;
  /** The system prompt as the workspace's files have it now. */
  readonly systemPrompt: () => Promise<SystemMessage>;
  /** Adds the images of the conversation to its messages. */
  readonly images: ImageLoader;
  readonly runtimeContext: RuntimeContext;
  /** Takes the secrets known by now out of what leaves the program. What is stored in a session stays as it is. */
  readonly mask: (text: string) => string;
  /** The same for a text that leaves in pieces. */
  readonly maskStream: () => MaskStream;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly maxToolIterations: number;
  readonly toolHintMaxLength: number;
  /** Whether what the model thinks is shown too. */
  readonly showReasoning: boolean;
}

/** The time of a line that is written now. */
export function timestamp({ clock }: Pick<AgentDeps, "clock">): string {
  return new Date(clock.now()).toISOString();
}
