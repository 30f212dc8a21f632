/** Shows that something is being written, in each chat for as long as a turn of it runs. */

import type { ChatPlace } from "../../core/channel.ts";
import type { InboundId, InboundMessage } from "../../core/messages.ts";
import type { Clock, Log } from "../../core/platform.ts";
import { problemOf } from "../../lib/phrases.ts";
import type { ChannelOf } from "./target.ts";

/** Platforms show it for about five seconds. */
const EVERY_MS = 4_000;
const MOST_TURNS = 1_000;

export interface Typing {
  started(message: InboundMessage): void;
  ended(id: InboundId): void;
}

export interface TypingOptions {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  readonly channelOf: ChannelOf;
}

interface Chat {
  readonly turns: Set<InboundId>;
  stop(): void;
}

export function createTyping({ clock, log, channelOf }: TypingOptions): Typing {
  const chats = new Map<string, Chat>();
  const keys = new Map<InboundId, string>();

  function show(channel: string, place: ChatPlace): () => void {
    const end = new AbortController();
    let callOff = (): void => {};
    let isBusy = false;

    async function tellOnce(): Promise<void> {
      isBusy = true;
      try {
        await channelOf(channel)?.channel.showTyping?.(place, end.signal);
      } catch (error) {
        log.debug(`Could not show typing in ${channel}: ${problemOf(error)}`);
      } finally {
        isBusy = false;
      }
    }

    function tick(): void {
      callOff = clock.after(EVERY_MS, tick);
      if (!isBusy) void tellOnce();
    }

    tick();
    return () => {
      callOff();
      end.abort();
    };
  }

  return {
    started({ id, channel, chatId, thread }) {
      if (keys.size >= MOST_TURNS || keys.has(id)) return;
      const key = JSON.stringify([channel, chatId, thread]);
      const place = thread === undefined ? { chatId } : { chatId, thread };
      const chat = chats.get(key) ?? { turns: new Set(), stop: show(channel, place) };
      chats.set(key, chat);
      chat.turns.add(id);
      keys.set(id, key);
    },

    ended(id) {
      const key = keys.get(id) ?? "";
      const chat = chats.get(key);
      keys.delete(id);
      chat?.turns.delete(id);
      if (chat === undefined || chat.turns.size > 0) return;
      chats.delete(key);
      chat.stop();
    },
  };
}
