/** Updates as what the bus and the door take: who says something, and what. */

import type { CallbackQuery, Chat, Message, User } from "grammy/types";
import type { Sender } from "../../core/channel.ts";
import type { InboundId, InboundMessage, Media } from "../../core/messages.ts";
import { isMeant, type Self } from "./addressed.ts";
import { type Attachment, attachmentsOf } from "./attachments.ts";
import { pressed } from "./buttons.ts";
import { contentOf, nameOf } from "./content.ts";

/** Something that was said, before anything of it is fetched. */
export interface Said {
  readonly id: InboundId;
  readonly sender: Sender;
  readonly content: string;
  readonly attachments: readonly Attachment[];
  readonly sessionKey: string;
  readonly timestamp: string;
  /** The message itself; a press has none of its own. */
  readonly messageId: number | undefined;
}

export const updateKey = (id: number) => `telegram:update:${id}` as InboundId;
export const albumKey = (chatId: number, group: string) => `telegram:album:${chatId}:${group}` as InboundId;

function senderOf(
  id: InboundId,
  user: User,
  chat: Chat,
  thread: string | undefined,
): Omit<Sender, "isAddressed"> {
  return {
    senderId: user.username === undefined ? `${user.id}` : `${user.id}|${user.username}`,
    chatId: `${chat.id}`,
    ...(thread === undefined ? {} : { thread }),
    isPrivate: chat.type === "private",
    eventId: id,
    displayName: nameOf(user),
  };
}

/** Only topics keep things apart; a chain of replies in a group has a number too, and is none. */
function topicOf(message: Pick<Message, "is_topic_message" | "message_thread_id">): string | undefined {
  const { is_topic_message: isTopic, message_thread_id: thread } = message;
  return isTopic && thread !== undefined ? `${thread}` : undefined;
}

function sessionOf(chat: Chat, thread: string | undefined): string {
  return thread === undefined ? `telegram:${chat.id}` : `telegram:${chat.id}:topic:${thread}`;
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

type Written = Message & { readonly from: User };

/** Messages that belong together are one; the first says who, where and when. */
export function saidIn(
  id: InboundId,
  messages: readonly [Written, ...Written[]],
  self: Self,
  { isMeantAnyway = false } = {},
): Said {
  const [first] = messages;
  const thread = topicOf(first);
  const isAddressed =
    isMeantAnyway || first.chat.type === "private" || messages.some((message) => isMeant(message, self));
  return {
    id,
    sender: { ...senderOf(id, first.from, first.chat, thread), isAddressed },
    content: contentOf(messages, self),
    attachments: messages.flatMap(attachmentsOf),
    sessionKey: sessionOf(first.chat, thread),
    timestamp: isoOf(first.date),
    messageId: first.message_id,
  };
}

/** `undefined` when the button does not tell what it says any more. `now` is when it was pressed. */
export function saidByPress(
  id: InboundId,
  press: CallbackQuery & { readonly message: NonNullable<CallbackQuery["message"]> },
  now: number,
): Said | undefined {
  const content = pressed(press);
  if (content === undefined) return undefined;
  const { chat } = press.message;
  const thread = topicOf(press.message);
  return {
    id,
    // Nobody else's message can carry a button of ours.
    sender: { ...senderOf(id, press.from, chat, thread), isAddressed: true },
    content,
    attachments: [],
    sessionKey: sessionOf(chat, thread),
    timestamp: new Date(now).toISOString(),
    messageId: undefined,
  };
}

export interface Fetched {
  readonly media: readonly Media[];
  /** In the place of files that did not come. */
  readonly notes: readonly string[];
}

export function inboundOf(
  said: Said,
  { media, notes }: Fetched,
  { quotes }: { quotes: boolean },
): InboundMessage {
  const { id, sender, sessionKey, timestamp, messageId } = said;
  return {
    id,
    kind: "message",
    channel: "telegram",
    senderId: sender.senderId,
    chatId: sender.chatId,
    content: [said.content, ...notes].filter((line) => line !== "").join("\n"),
    media,
    timestamp,
    origin: "chat",
    sessionKey,
    ...(sender.thread === undefined ? {} : { thread: sender.thread }),
    ...(quotes && messageId !== undefined ? { replyTo: `${messageId}` } : {}),
    metadata: {},
  };
}
