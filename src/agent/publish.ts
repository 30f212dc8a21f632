/** What a turn publishes: pieces while it runs, and the one final message that ends it. No secret leaves in them. */

import { type FinalMessage, finalIdFor, type InboundMessage, type OutboundId } from "../core/messages.ts";
import type { Usage } from "../core/model.ts";
import { never } from "../lib/abort.ts";
import type { AgentDeps } from "./deps.ts";

export type Shown =
  /** Masked already: a secret can be cut over several of them. */
  | { kind: "delta" | "reasoning"; content: string }
  | { kind: "progress"; content: string }
  | { kind: "toolHint"; content: string; metadata: { name: string; arguments: string } }
  | { kind: "streamEnd"; content: ""; resuming: boolean };

/** Never cut short: what was shown before a stop must come out whole. */
export async function publish(
  { channel, chatId, id }: InboundMessage,
  deps: AgentDeps,
  shown: Shown,
): Promise<void> {
  const outboundId = deps.ids.next() as OutboundId;
  await deps.bus.publishOutbound(
    { metadata: {}, ...masked(shown, deps), id: outboundId, channel, chatId, turn: id },
    never,
  );
}

function masked(shown: Shown, { mask }: AgentDeps): Shown {
  switch (shown.kind) {
    case "delta":
    case "reasoning":
    case "streamEnd":
      return shown;
    case "progress":
      return { ...shown, content: mask(shown.content) };
    case "toolHint": {
      const { name, arguments: text } = shown.metadata;
      return {
        ...shown,
        content: mask(shown.content),
        metadata: { name: mask(name), arguments: mask(text) },
      };
    }
  }
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
  deps: Pick<AgentDeps, "bus" | "mask">,
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
      content: deps.mask(content),
      metadata,
    },
    never,
  );
}

/** Tells the user something beside the answer, that must arrive too. `name` keeps it apart from other notices of the turn. */
export async function publishNotice(
  { id, channel, chatId }: InboundMessage,
  deps: Pick<AgentDeps, "bus" | "mask">,
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
      content: deps.mask(content),
      metadata: {},
    },
    never,
  );
}
