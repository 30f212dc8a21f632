/** Sends to chats that nobody is being answered in: where the owner allows that, and with a note for their session. */

import type { Bus } from "../../core/bus.ts";
import { UserError } from "../../core/errors.ts";
import type { Clock } from "../../core/platform.ts";
import { type OutboundOptions, putMessage } from "../outbound.ts";
import { createNotes } from "./notes.ts";

export interface OtherChatsOptions {
  readonly bus: Bus;
  readonly clock: Pick<Clock, "now">;
  readonly mask: (text: string) => string;
  /** Names of the channels that are enabled. */
  readonly channels: () => readonly string[];
  /** Whether the owner lets the agent write to that chat of its own accord. */
  readonly mayWrite: (channel: string, chatId: string) => Promise<boolean>;
  /** The session that a chat talks in. */
  readonly sessionOf: (channel: string, chatId: string) => string;
}

export function createOtherChats(options: OtherChatsOptions): OutboundOptions["elsewhere"] {
  const { bus, mask, channels, mayWrite, sessionOf } = options;
  const putNote = createNotes(options);

  async function check(channel: string, chatId: string): Promise<void> {
    if (!channels().includes(channel)) {
      throw new UserError(`Cannot send to the channel "${channel}": it is not enabled`, {
        hint: `Enabled are: ${channels().join(", ") || "none"}`,
      });
    }
    if (await mayWrite(channel, chatId)) return;
    throw new UserError(`Cannot send to "${chatId}" in ${channel}: nobody there may talk to you`, {
      isRefusal: true,
      hint: `It is allowed once somebody there who may has written, or by channels.${channel}.allowFrom`,
    });
  }

  return async (message, key, run) => {
    const { channel, chatId } = message;
    await check(channel, chatId);
    const id = await putMessage(bus, message, { key, run, mask });
    const sessionKey = sessionOf(channel, chatId);
    // Where all chats share a session, it has the call itself.
    if (sessionKey === run.sessionKey) return;
    const { sender: senderId, origin, signal } = run;
    await putNote(
      { of: id, channel, chatId, senderId, content: message.content, origin, sessionKey },
      signal,
    );
  };
}
