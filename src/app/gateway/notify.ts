/** Tells a chat something of the program's own accord, that must arrive. */

import type { Chat } from "../../core/access.ts";
import type { Bus } from "../../core/bus.ts";
import type { ChatPlace } from "../../core/channel.ts";
import type { Button, InboundId, OutboundId } from "../../core/messages.ts";
import { never } from "../../lib/abort.ts";

interface Notice {
  readonly content: string;
  /** Told once, however often it is put. */
  readonly id: string;
  readonly buttons?: readonly (readonly Button[])[];
}

/** Resolves when it is safe with the bus. */
export type Notify = (place: Chat & ChatPlace, notice: Notice) => Promise<void>;

export function createNotify(bus: Bus, mask: (text: string) => string): Notify {
  return async ({ channel, chatId, thread }, { content, id, buttons }) => {
    await bus.publishOutbound(
      {
        kind: "final",
        outcome: "notice",
        id: id as OutboundId,
        // It answers nobody, so it stands for itself.
        turn: id as InboundId,
        channel,
        chatId,
        ...(thread === undefined ? {} : { thread }),
        content: mask(content),
        answers: [],
        media: [],
        ...(buttons === undefined ? {} : { buttons }),
        metadata: {},
      },
      never,
    );
  };
}
