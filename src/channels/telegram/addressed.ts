/** Whom a message is meant for: by what Telegram marked in it, never by what its text looks like. */

import type { Message, MessageEntity } from "grammy/types";

/** The bot itself. */
export interface Self {
  readonly id: number;
  /** Without the `@`. */
  readonly username: string;
}

export interface MarkedText {
  readonly text: string;
  readonly entities: readonly MessageEntity[];
}

/** What a message says, be it the text or the caption of a file. */
export function markedText(message: Message): MarkedText {
  const { text, entities, caption, caption_entities: captionEntities } = message;
  return text === undefined
    ? { text: caption ?? "", entities: captionEntities ?? [] }
    : { text, entities: entities ?? [] };
}

/** Offsets are UTF-16 code units, as those of our strings are. */
function marked(text: string, { offset, length }: MessageEntity): string {
  return text.slice(offset, offset + length);
}

function names(mention: string, self: Self): boolean {
  return mention.toLowerCase() === `@${self.username.toLowerCase()}`;
}

function mentions({ text }: MarkedText, entity: MessageEntity, self: Self): boolean {
  if (entity.type === "mention") return names(marked(text, entity), self);
  return entity.type === "text_mention" && entity.user.id === self.id;
}

/** The bot that a command names, with its `@`. */
function suffix(text: string, entity: MessageEntity): string | undefined {
  return entity.type === "bot_command" ? /@.*$/.exec(marked(text, entity))?.[0] : undefined;
}

/** The message that this one answers. Whatever is said in a topic seems to answer the topic's beginning. */
export function answered({ reply_to_message: reply }: Message): Message | undefined {
  return reply?.forum_topic_created === undefined ? reply : undefined;
}

/** Whether somebody in a group means the bot: names it, answers it, or gives it a command. */
export function isMeant(message: Message, self: Self): boolean {
  if (answered(message)?.from?.id === self.id) return true;
  const said = markedText(message);
  return said.entities.some((entity) => {
    const bot = suffix(said.text, entity);
    return bot === undefined ? mentions(said, entity, self) : names(bot, self);
  });
}

/** A command that is addressed to another bot, and to us in no other way. */
export function isForAnother(message: Message, self: Self): boolean {
  const { text, entities } = markedText(message);
  const first = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  const bot = first && suffix(text, first);
  return bot !== undefined && !names(bot, self) && !isMeant(message, self);
}

/** The same without a mention of the bot that it begins with, so that a command behind it is one. */
export function withoutGreeting(said: MarkedText, self: Self): MarkedText {
  const first = said.entities.find(({ offset }) => offset === 0);
  if (first === undefined || !mentions(said, first, self)) return said;
  const rest = said.text.slice(first.length).replace(/^[\s,:]+/, "");
  if (rest === "") return said;
  const cut = said.text.length - rest.length;
  const entities = said.entities
    .filter(({ offset }) => offset >= cut)
    .map((entity) => ({ ...entity, offset: entity.offset - cut }));
  return { text: rest, entities };
}
