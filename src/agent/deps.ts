/** What a turn needs of the world. */

import type { Pairing } from "../core/access.ts";
import type { Answerer, Approvals } from "../core/approval.ts";
import type { AuditEntry } from "../core/audit.ts";
import type { Bus } from "../core/bus.ts";
import type { ChannelStatus } from "../core/channel.ts";
import type { Consolidation, MemoryStore } from "../core/memory.ts";
import type { InboundMessage, Origin } from "../core/messages.ts";
import type { SystemMessage } from "../core/model.ts";
import type { Clock, Ids, Log } from "../core/platform.ts";
import type { Route } from "../core/schedule.ts";
import type { SessionStore } from "../core/session.ts";
import type { Skills } from "../core/skills.ts";
import type { Tasks } from "../core/tasks.ts";
import type { Toolbox } from "../core/toolbox.ts";
import type { MaskStream } from "../lib/mask-stream.ts";
import type { ImageLoader } from "./images.ts";
import type { RuntimeContext } from "./prompt.ts";
import type { SessionModels } from "./session-models.ts";

/** What chat commands reach beside the agent itself. What is left out does not exist here, and the command says so. */
export interface ChatServices {
  /** What the models of a session used, in a few lines for a person. */
  usage(sessionKey: string): Promise<string>;
  /** Begins to end the process and to start it again, for whoever asked. The reply is delivered before. */
  readonly restart?: (asked: InboundMessage) => void;
  readonly pairing?: Pairing;
  /** Whether somebody was let in by name or by pairing, and not only with everybody. Left out where nobody else is heard. */
  readonly isKnown?: (who: Answerer) => Promise<boolean>;
  readonly approvals?: Approvals;
  readonly channels?: () => readonly ChannelStatus[];
  readonly memory?: Pick<MemoryStore, "facts" | "history">;
  readonly tasks?: Pick<Tasks, "list" | "stop" | "count">;
}

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
  readonly services: ChatServices;
  /** Whether who is in this channel gets the answer even when a tool has sent them something. Left out where nobody does. */
  readonly waitsForFinal?: (channel: string) => boolean;
  /**
   * Who hears of the results of turns that a source began of its own accord. Nothing is shown while they run, and their
   * sessions begin with the newest `keptMessages` messages of the turns before.
   */
  readonly routes?: Partial<Readonly<Record<Origin, Route>>>;
  /** Left out, all of them. */
  readonly keptMessages?: number;
  /** Left out where nothing becomes memory. */
  readonly consolidation?: Pick<Consolidation, "turnEnded" | "archived">;
  /** Left out where there are none. */
  readonly skills?: Pick<Skills, "named">;
  /** Whether a tool call was put to the owner and is not answered, so that it has surely not begun. */
  readonly isWaiting: (callId: string) => boolean;
}

/** The time of a line that is written now. */
export function timestamp({ clock }: Pick<AgentDeps, "clock">): string {
  return new Date(clock.now()).toISOString();
}
