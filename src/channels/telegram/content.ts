/** A message in words for the model: the text, what it answers, where it comes from, and what is no text. */

import type { Contact, Message, MessageOrigin, User } from "grammy/types";
import { oneLine, wellFormed } from "../../lib/text.ts";
import { answered, type MarkedText, markedText, type Self, withoutGreeting } from "./addressed.ts";

const LONGEST_QUOTE = 500;
const LONGEST_WORDS = 200;

/** One line between quotation marks: whatever it says, it is seen to be said by somebody else. */
function quoted(text: string, max = LONGEST_QUOTE): string {
  return JSON.stringify(oneLine(wellFormed(text), max));
}

const words = (text: string) => oneLine(wellFormed(text), LONGEST_WORDS).replaceAll("]", ")");

export function nameOf({
  first_name: first,
  last_name: last,
}: Pick<User, "first_name" | "last_name">): string {
  return words([first, last].filter((part) => part !== undefined).join(" "));
}

function withHandle(user: User): string {
  return user.username === undefined ? nameOf(user) : `${nameOf(user)} (@${words(user.username)})`;
}

function origin(from: MessageOrigin): string {
  switch (from.type) {
    case "user":
      return withHandle(from.sender_user);
    case "hidden_user":
      return words(from.sender_user_name);
    case "chat":
      return words("title" in from.sender_chat ? (from.sender_chat.title ?? "a chat") : "a chat");
    case "channel":
      return words(from.chat.title ?? "a channel");
    default:
      // The platform may come to know other kinds.
      return "somebody";
  }
}

/** What somebody else's message held, for the line that quotes it. */
function gist(message: Message): string {
  const { text } = markedText(message);
  return text || (markerOf(message) ?? fileKind(message) ?? "");
}

function replyLine(message: Message, self: Self): string | undefined {
  const reply = answered(message);
  const part = message.quote?.text;
  if (reply !== undefined) {
    const by = reply.from?.id === self.id ? "your message" : `a message of ${authorOf(reply)}`;
    return `[In reply to ${by}: ${quoted(part ?? gist(reply))}]`;
  }
  const external = message.external_reply;
  if (external === undefined) return undefined;
  return `[In reply to a message of ${origin(external.origin)}${part === undefined ? "" : `: ${quoted(part)}`}]`;
}

function authorOf({ from, sender_chat: chat }: Message): string {
  if (chat !== undefined) return words("title" in chat ? (chat.title ?? "a chat") : "a chat");
  return from === undefined ? "somebody" : withHandle(from);
}

function forwardLine({ forward_origin: from }: Message): string | undefined {
  return from === undefined ? undefined : `[Forwarded from ${origin(from)}]`;
}

function contactLine({ first_name, last_name, phone_number: phone }: Contact): string {
  const name = nameOf({ first_name, ...(last_name === undefined ? {} : { last_name }) });
  return `[contact ${name}, ${words(phone)}]`;
}

/** What nobody can read here, and is better named than passed over in silence. */
const UNREAD = ["story", "paid_media", "game", "invoice", "giveaway"] as const;

/** What a message holds beside text and files. */
function markerOf(message: Message): string | undefined {
  const { sticker, venue, location, contact, poll, dice, checklist } = message;
  if (sticker) return sticker.emoji === undefined ? "[sticker]" : `[sticker ${words(sticker.emoji)}]`;
  if (venue) {
    const { latitude, longitude } = venue.location;
    return `[location ${latitude},${longitude}: ${words(venue.title)}, ${words(venue.address)}]`;
  }
  if (location) return `[location ${location.latitude},${location.longitude}]`;
  if (contact) return contactLine(contact);
  if (poll) {
    const options = poll.options.map(({ text }) => quoted(text, LONGEST_WORDS));
    return `[poll ${quoted(poll.question)}: ${options.join(", ")}]`;
  }
  if (dice) return `[dice ${words(dice.emoji)} ${dice.value}]`;
  if (checklist) {
    const tasks = checklist.tasks.map(({ text }) => quoted(text, LONGEST_WORDS));
    return `[checklist ${quoted(checklist.title)}: ${tasks.join(", ")}]`;
  }
  const kind = UNREAD.find((name) => message[name] !== undefined);
  return kind && `[${kind.replace("_", " ")}]`;
}

const KINDS = ["photo", "voice", "audio", "video", "animation", "document"] as const;

function fileKind(message: Message): string | undefined {
  if (message.video_note) return "[video note]";
  const kind = KINDS.find((name) => message[name] !== undefined);
  return kind && `[${kind}]`;
}

/** Addresses that stand behind other words would be lost with the markup. */
function withAddresses({ text, entities }: MarkedText): string {
  return entities
    .filter((entity) => entity.type === "text_link")
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((result, { offset, length, url }) => {
      const end = offset + length;
      return `${result.slice(0, end)} (${oneLine(url, 2_000)})${result.slice(end)}`;
    }, text);
}

/** The text alone, and what stands for what is none; "" for a message that says nothing, such as that somebody joined. */
function ownContent(message: Message, self: Self): string {
  const said = withoutGreeting(markedText(message), self);
  return [wellFormed(withAddresses(said)), markerOf(message)].filter((line) => line).join("\n");
}

/** Messages that belong together, in words; where they come from and what they answer is said once. */
export function contentOf(messages: readonly [Message, ...Message[]], self: Self): string {
  const [first] = messages;
  const own = messages.map((message) => ownContent(message, self)).filter((text) => text !== "");
  // In front of a command anything would make it none.
  if (own[0]?.startsWith("/")) return own.join("\n");
  return [replyLine(first, self), forwardLine(first), ...own].filter((line) => line).join("\n");
}
