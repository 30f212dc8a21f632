/** Who listens to which chat, and that each hears all of it in order, at its own pace. */

import type { Socket } from "../../core/http.ts";
import type { Clock } from "../../core/platform.ts";
import type { ChatEvent, Notice } from "./protocol.ts";

/** Of bytes that wait for a client: from here on it gets no more of the past, and from there on it is too slow. */
const MUCH_BYTES = 1024 * 1024;
const TOO_MUCH_BYTES = 4 * 1024 * 1024;
/** How long a client may take to make room for more of the past, and how often we look. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 100;

/** Try again later, RFC 6455. */
export const TRY_AGAIN_LATER = 1013;

interface Past {
  after(chat: string, seq: number): readonly ChatEvent[];
}

export interface Hub {
  /** From now on the client hears this chat and no other, first what comes behind number `after`. */
  join(socket: Socket, chat: string, after: number, past: Past): void;
  leave(socket: Socket): void;
  tell(socket: Socket, notice: Notice): void;
  /** To all who hear the chat. */
  say(chat: string, said: ChatEvent | Notice): void;
}

interface Place {
  readonly chat: string;
  hasLeft: boolean;
}

export function createHub(clock: Pick<Clock, "after" | "elapsed">): Hub {
  const places = new Map<Socket, Place>();
  /** Those who have heard all of the past. */
  const listeners = new Map<string, Set<Socket>>();

  /** `false` when it is too slow, and was told to come again. */
  function send(socket: Socket, text: string): boolean {
    if (socket.buffered > TOO_MUCH_BYTES) return dismiss(socket);
    socket.send(text);
    return true;
  }

  function dismiss(socket: Socket): false {
    leave(socket);
    socket.close(TRY_AGAIN_LATER, "too slow; connect again and say what you have");
    return false;
  }

  function leave(socket: Socket): void {
    const place = places.get(socket);
    if (place === undefined) return;
    place.hasLeft = true;
    places.delete(socket);
    const those = listeners.get(place.chat);
    those?.delete(socket);
    if (those?.size === 0) listeners.delete(place.chat);
  }

  function listen(socket: Socket, chat: string): void {
    const those = listeners.get(chat) ?? new Set();
    listeners.set(chat, those.add(socket));
  }

  /** Whether the client took enough of what it has to be sent more. */
  async function makesRoom(socket: Socket, place: Place): Promise<boolean> {
    const end = clock.elapsed() + PATIENCE_MS;
    while (socket.buffered > MUCH_BYTES && !place.hasLeft) {
      if (clock.elapsed() >= end) return dismiss(socket);
      await new Promise<void>((resolve) => {
        clock.after(LOOK_MS, resolve);
      });
    }
    return !place.hasLeft;
  }

  async function tellPast(socket: Socket, place: Place, after: number, past: Past): Promise<void> {
    let known = after;
    for (;;) {
      const missed = past.after(place.chat, known);
      // Between this look and listening nothing can be said.
      if (missed.length === 0) return listen(socket, place.chat);
      for (const event of missed) {
        if (socket.buffered > MUCH_BYTES && !(await makesRoom(socket, place))) return;
        if (!send(socket, JSON.stringify(event))) return;
        known = event.seq;
      }
    }
  }

  return {
    join(socket, chat, after, past) {
      leave(socket);
      const place = { chat, hasLeft: false };
      places.set(socket, place);
      void tellPast(socket, place, after, past);
    },
    leave,
    tell: (socket, notice) => void send(socket, JSON.stringify(notice)),
    say(chat, said) {
      const text = JSON.stringify(said);
      for (const socket of listeners.get(chat) ?? []) send(socket, text);
    },
  };
}
