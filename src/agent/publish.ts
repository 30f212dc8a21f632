/** What a turn publishes: pieces while it runs, and the one final message that ends it. */

import {
  type FinalMessage,
  finalIdFor,
  type InboundMessage,
  type OutboundId,
  type OutboundMessage,
} from "../core/messages.ts";
import type { Usage } from "../core/model.ts";
import { never } from "../lib/abort.ts";
import type { AgentDeps } from "./deps.ts";

export type Shown =
  | {
      kind: "delta" | "reasoning" | "progress" | "toolHint";
      content: string;
      metadata?: OutboundMessage["metadata"];
    }
  | { kind: "streamEnd"; content: ""; resuming: boolean };

/** Never cut short: what was shown before a stop must come out whole. */
export async function publish(
  { channel, chatId, id }: InboundMessage,
  deps: AgentDeps,
  shown: Shown,
): Promise<void> {
  const outboundId = deps.ids.next() as OutboundId;
  await deps.bus.publishOutbound(
    { metadata: {}, ...shown, id: outboundId, channel, chatId, turn: id },
    never,
  );
}

interface Final {
  readonly outcome: FinalMessage["outcome"];
  readonly content: string;
  /** Of whose model calls. */
  readonly model?: string;
  readonly usage?: Usage;
  /** Beside the message itself. */
  readonly answers?: FinalMessage["answers"];
}

/** Puts the one record that ends a turn, a command or a stop. */
export async function publishFinal(
  { id, channel, chatId }: InboundMessage,
  deps: Pick<AgentDeps, "bus">,
  { outcome, content, model, usage, answers = [] }: Final,
): Promise<void> {
  const metadata = {
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage: { ...usage } }),
  };
  await deps.bus.publishOutbound(
    {
      kind: "final",
      id: finalIdFor(id),
      turn: id,
      answers: [id, ...answers],
      media: [],
      channel,
      chatId,
      outcome,
      content,
      metadata,
    },
    never,
  );
}

/** Tells the user something beside the answer, that must arrive too. `name` keeps it apart from other notices of the turn. */
export async function publishNotice(
  { id, channel, chatId }: InboundMessage,
  deps: Pick<AgentDeps, "bus">,
  { name, content }: { name: string; content: string },
): Promise<void> {
  await deps.bus.publishOutbound(
    {
      kind: "final",
      id: `${id}/notice/${name}` as OutboundId,
      turn: id,
      answers: [],
      media: [],
      channel,
      chatId,
      outcome: "notice",
      content,
      metadata: {},
    },
    never,
  );
}
