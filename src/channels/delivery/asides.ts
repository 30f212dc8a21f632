/** What a chat is told beside the answer while a turn runs: progress, tool hints, thoughts. Sent once, or not at all. */

import type { InboundId, TransientMessage } from "../../core/messages.ts";
import type { Log } from "../../core/platform.ts";
import { problemOf } from "../../lib/phrases.ts";
import { fittingHead, measures } from "../../lib/split/measures.ts";
import { head, isVisible, stripControls, wellFormed } from "../../lib/text.ts";
import { partOf } from "./parts.ts";
import type { DeliverySettings, Target } from "./target.ts";

const LONGEST_ASIDE = 1_000;
const MOST_TURNS = 1_000;

export function isWanted({ kind }: TransientMessage, settings: DeliverySettings): boolean {
  switch (kind) {
    case "progress":
      return settings.sendProgress;
    case "toolHint":
      return settings.sendToolHints;
    case "reasoning":
      return settings.showReasoning;
    case "delta":
      return true;
  }
}

export async function sendAside(
  message: TransientMessage,
  { channel, capabilities: { limit } }: Target,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const text = head(wellFormed(stripControls(message.content)).trim(), LONGEST_ASIDE);
  if (!isVisible(text)) return;
  const length = limit === undefined ? text.length : fittingHead(text, limit.size, measures[limit.unit]);
  const fitting = text.slice(0, length);
  const draft = { kind: "text", piece: { markdown: fitting, text: fitting } } as const;
  try {
    await channel.send(partOf({ message, index: 0, draft, plainText: fitting }), signal);
  } catch (error) {
    log.debug(`Could not say what a turn does: ${problemOf(error)}`, { channel: message.channel });
  }
}

export interface Thoughts {
  /** Takes a piece of what the model thinks. */
  add(message: TransientMessage): void;
  /** What was thought, when something else comes. */
  take(turn: InboundId): TransientMessage | undefined;
}

/** Thoughts come in pieces of a few letters, and are told as one. */
export function createThoughts(): Thoughts {
  const thoughts = new Map<InboundId, TransientMessage>();
  return {
    add(message) {
      const before = thoughts.get(message.turn)?.content ?? "";
      thoughts.set(message.turn, { ...message, content: head(before + message.content, LONGEST_ASIDE) });
      const [oldest] = thoughts.keys();
      if (thoughts.size > MOST_TURNS && oldest !== undefined) thoughts.delete(oldest);
    },
    take(turn) {
      const thought = thoughts.get(turn);
      thoughts.delete(turn);
      return thought;
    },
  };
}
