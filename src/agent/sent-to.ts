/** Whether the chat that a turn answers has been sent something by a tool of that turn. */

import type { InboundMessage } from "../core/messages.ts";
import type { StoredMessage } from "../core/session.ts";
import type { SentTo } from "../core/tool.ts";

type Address = Pick<InboundMessage, "channel" | "chatId" | "thread">;

export function isTo(answered: Address, sentTo: SentTo | undefined): boolean {
  return (
    sentTo !== undefined &&
    sentTo.channel === answered.channel &&
    sentTo.chatId === answered.chatId &&
    sentTo.thread === answered.thread
  );
}

export function storedAddress({ channel, chatId, thread }: SentTo): NonNullable<StoredMessage["sent_to"]> {
  return { channel, chat_id: chatId, ...(thread === undefined ? {} : { thread }) };
}

function addressIn({ sent_to: stored }: StoredMessage): SentTo | undefined {
  if (stored === undefined) return undefined;
  const { channel, chat_id: chatId, thread } = stored;
  return { channel, chatId, ...(thread === undefined ? {} : { thread }) };
}

/** The same of the lines of a turn: something was sent there, and nobody said anything after it. */
export function wasSentTo(answered: Address, lines: readonly StoredMessage[]): boolean {
  const sent = lines.findLastIndex((line) => isTo(answered, addressIn(line)));
  return sent >= 0 && !lines.slice(sent).some(({ role }) => role === "user");
}
