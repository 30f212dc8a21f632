/** Lets the conversation of a chat know of what it is sent beside its answers: whoever is told can answer. */

import type { Bus } from "../../core/bus.ts";
import type { InboundId, InboundMessage } from "../../core/messages.ts";
import type { Clock } from "../../core/platform.ts";
import type { Route, RouteTarget } from "../../core/schedule.ts";
import { never } from "../../lib/abort.ts";

export interface NotesOptions {
  readonly bus: Pick<Bus, "publishInbound">;
  readonly clock: Pick<Clock, "now">;
  readonly mask: (text: string) => string;
}

type Note = Pick<
  InboundMessage,
  "channel" | "chatId" | "thread" | "senderId" | "content" | "origin" | "sessionKey"
> & {
  /** What was sent: its note has an id of its own, made of this one, and is put once. */
  readonly of: string;
};

/** Resolves when it is safe with the bus. */
export type PutNote = (note: Note, signal: AbortSignal) => Promise<void>;

export function createNotes({ bus, clock, mask }: NotesOptions): PutNote {
  return async ({ of, content, ...note }, signal) => {
    await bus.publishInbound(
      {
        ...note,
        id: `${of}/note` as InboundId,
        kind: "note",
        content: mask(content),
        media: [],
        timestamp: new Date(clock.now()).toISOString(),
        metadata: {},
      },
      signal,
    );
  };
}

/**
 * The same route, with a note in the session of the chat that it names. Rejects when the note cannot be put: then the
 * answer is not put either, and the route is asked again.
 */
export function noted(
  route: Route,
  { putNote, sessionOf }: { putNote: PutNote; sessionOf: (target: RouteTarget) => string },
): Route {
  return async (inbound, result, signal) => {
    const target = await route(inbound, result, signal);
    if (target === undefined) return undefined;
    const { channel, chatId, thread } = target;
    const { id, origin, senderId } = inbound;
    await putNote(
      {
        of: id,
        channel,
        chatId,
        ...(thread === undefined ? {} : { thread }),
        senderId,
        content: target.content ?? result.content,
        origin,
        sessionKey: sessionOf(target),
      },
      never,
    );
    return target;
  };
}
