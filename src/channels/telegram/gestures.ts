/** What is only polite, so that nobody waits for it and nothing depends on it. */

import type { ReactionType, ReactionTypeEmoji } from "grammy/types";
import type { Log } from "../../core/platform.ts";
import { oneLine } from "../../lib/text.ts";
import type { BotApi } from "./bot-api.ts";

export interface Gestures {
  /** Shows that a message was taken. */
  receipt(chatId: string, messageId: number): void;
  /** Ends the waiting of a button, with words or without. */
  answerPress(pressId: string, words?: string): void;
  /** Lists the commands where somebody types one. */
  menu(commands: readonly MenuEntry[]): void;
}

interface MenuEntry {
  readonly name: string;
  readonly about: string;
}

export interface GesturesOptions {
  readonly api: BotApi;
  readonly log: Log;
  /** None with "". */
  readonly emoji: string;
  readonly signal: AbortSignal;
}

/** More of them at once would only be in the way of what matters. */
const MOST_AT_ONCE = 20;

export function createGestures({ api, log, emoji, signal }: GesturesOptions): Gestures {
  let running = 0;

  function attempt(what: string, run: Parameters<BotApi["call"]>[0]): void {
    if (running >= MOST_AT_ONCE || signal.aborted) return;
    running++;
    api
      .call(run, signal)
      .catch((error: unknown) => log.debug(`Telegram did not take ${what}`, { error }))
      .finally(() => {
        running--;
      });
  }

  return {
    receipt(chatId, messageId) {
      if (emoji === "") return;
      // Telegram knows which emoji it takes, and says so.
      const reaction: ReactionType[] = [{ type: "emoji", emoji: emoji as ReactionTypeEmoji["emoji"] }];
      attempt("a reaction", (raw, limited) =>
        raw.setMessageReaction({ chat_id: chatId, message_id: messageId, reaction }, limited),
      );
    },
    answerPress(pressId, words) {
      attempt("the answer to a button", (raw, limited) =>
        raw.answerCallbackQuery(
          { callback_query_id: pressId, ...(words === undefined ? {} : { text: words }) },
          limited,
        ),
      );
    },
    menu(commands) {
      const list = commands.map(({ name, about }) => ({
        command: name.toLowerCase().replaceAll("-", "_"),
        description: oneLine(about, 256),
      }));
      attempt("the list of commands", (raw, limited) => raw.setMyCommands({ commands: list }, limited));
    },
  };
}
