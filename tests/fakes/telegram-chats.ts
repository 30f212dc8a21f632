/** The chats of the fake: who is in them, what was said, and what the bot may do there. */

import { readHtml } from "./telegram-html.ts";
import type { UploadedFile } from "./telegram-request.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A message of the bot as people see it now. */
export interface ShownMessage {
  readonly messageId: number;
  /** Without markup. */
  readonly text: string;
  /** As it was sent. */
  readonly source: string;
  readonly parseMode: string | undefined;
  readonly replyTo: number | undefined;
  readonly thread: number | undefined;
  /** Labels, in rows. */
  readonly buttons: readonly (readonly string[])[];
  readonly edits: number;
  readonly media: (UploadedFile & { readonly kind: string }) | undefined;
}

/** The Bot API says no. */
export class Refused extends Error {
  readonly code: number;
  readonly parameters: Fields | undefined;

  constructor(code: number, description: string, parameters?: Fields) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

const bad = (what: string) => new Refused(400, `Bad Request: ${what}`);

export interface Chat {
  readonly id: number;
  readonly description: Fields;
  readonly shown: ShownMessage[];
  readonly keyboards: Map<number, Fields>;
  readonly known: Set<number>;
  readonly threads: Set<number>;
  readonly reactions: Map<number, readonly string[]>;
  isBlocked: boolean;
  movedTo: number | undefined;
  nextMessageId: number;
}

const MOST_TEXT = 4_096;
const MOST_CAPTION = 1_024;
const MIB = 1024 * 1024;
const REACTIONS: ReadonlySet<string> = new Set([..."👍👎❤🔥🥰👏😁🤔🤯😱😢🎉🤩🙏👌👀💯⚡🏆🤝🫡✍🆒"]);

export interface Chats {
  /** The chat, made when nobody was in it before. Negative ids are groups. */
  meet(id: number, description?: Fields): Chat;
  /** The chat, if the bot knows it. */
  find(id: number): Chat | undefined;
  send(fields: Fields, media?: ShownMessage["media"]): Fields;
  edit(fields: Fields): Fields;
  react(fields: Fields): true;
  act(fields: Fields): true;
}

function describe(id: number, given: Fields): Fields {
  if (id > 0) return { id, type: "private", first_name: `User ${id}`, ...given };
  return { id, type: "supergroup", title: `Group ${-id}`, ...given };
}

export function createChats(bot: Fields): Chats {
  const chats = new Map<number, Chat>();

  function meet(id: number, description: Fields = {}): Chat {
    const known = chats.get(id);
    if (known) return known;
    const chat: Chat = {
      id,
      description: describe(id, description),
      shown: [],
      keyboards: new Map(),
      known: new Set(),
      threads: new Set(),
      reactions: new Map(),
      isBlocked: false,
      movedTo: undefined,
      nextMessageId: 1,
    };
    chats.set(id, chat);
    return chat;
  }

  /** The chat of a call, if the bot may act in it. */
  function chatOf(fields: Fields): Chat {
    const chat = chats.get(Number(fields["chat_id"]));
    if (chat === undefined) throw bad("chat not found");
    if (chat.isBlocked) throw new Refused(403, "Forbidden: bot was blocked by the user");
    if (chat.movedTo !== undefined) {
      throw new Refused(400, "Bad Request: group chat was upgraded to a supergroup chat", {
        migrate_to_chat_id: chat.movedTo,
      });
    }
    return chat;
  }

  function threadOf(chat: Chat, fields: Fields): number | undefined {
    const thread = fields["message_thread_id"];
    if (thread === undefined) return undefined;
    if (!chat.threads.has(Number(thread))) throw bad("message thread not found");
    return Number(thread);
  }

  function messageOf(chat: Chat, { messageId, text, thread, replyTo, media }: ShownMessage): Fields {
    const keyboard = chat.keyboards.get(messageId);
    return {
      message_id: messageId,
      date: Math.floor(Date.now() / 1_000),
      chat: chat.description,
      from: bot,
      ...(media === undefined ? { text } : {}),
      ...(thread === undefined ? {} : { message_thread_id: thread, is_topic_message: true }),
      ...(replyTo === undefined ? {} : { reply_to_message: { message_id: replyTo, chat: chat.description } }),
      ...(keyboard === undefined ? {} : { reply_markup: keyboard }),
    };
  }

  return {
    meet,
    find: (id) => chats.get(id),

    send(fields, media) {
      const chat = chatOf(fields);
      const thread = threadOf(chat, fields);
      const replyTo = repliedTo(chat, fields);
      const { source, text } = readText(fields, media === undefined);
      const markup = readKeyboard(fields["reply_markup"]);
      const messageId = chat.nextMessageId++;
      chat.known.add(messageId);
      if (markup) chat.keyboards.set(messageId, markup);
      const shown: ShownMessage = {
        messageId,
        text,
        source,
        parseMode: fields["parse_mode"] as string | undefined,
        replyTo,
        thread,
        buttons: labelsOf(markup),
        edits: 0,
        media,
      };
      chat.shown.push(shown);
      return messageOf(chat, shown);
    },

    edit(fields) {
      const chat = chatOf(fields);
      const messageId = Number(fields["message_id"]);
      const index = chat.shown.findIndex((message) => message.messageId === messageId);
      const before = chat.shown[index];
      if (before === undefined) {
        throw bad(chat.known.has(messageId) ? "message can't be edited" : "message to edit not found");
      }
      const { source, text } = readText(fields, true);
      const markup = readKeyboard(fields["reply_markup"]);
      const isSame =
        source === before.source && JSON.stringify(markup) === JSON.stringify(chat.keyboards.get(messageId));
      if (isSame) {
        throw bad(
          "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
        );
      }
      if (markup) chat.keyboards.set(messageId, markup);
      else chat.keyboards.delete(messageId);
      const parseMode = fields["parse_mode"] as string | undefined;
      const edits = before.edits + 1;
      const after = { ...before, source, text, parseMode, buttons: labelsOf(markup), edits };
      chat.shown[index] = after;
      return messageOf(chat, after);
    },

    react(fields) {
      const chat = chatOf(fields);
      const messageId = Number(fields["message_id"]);
      if (!chat.known.has(messageId)) throw bad("message to react not found");
      const emojis = ((fields["reaction"] ?? []) as { emoji: string }[]).map(({ emoji }) => emoji);
      if (emojis.some((emoji) => !REACTIONS.has(emoji))) throw bad("REACTION_INVALID");
      chat.reactions.set(messageId, emojis);
      return true;
    },

    act(fields) {
      threadOf(chatOf(fields), fields);
      return true;
    },
  };
}

function repliedTo(chat: Chat, fields: Fields): number | undefined {
  const reply = fields["reply_parameters"] as Fields | undefined;
  if (reply === undefined) return undefined;
  const messageId = Number(reply["message_id"]);
  if (chat.known.has(messageId)) return messageId;
  if (reply["allow_sending_without_reply"] === true) return undefined;
  throw bad("message to be replied not found");
}

/** A text that is sent, or the caption of a file. */
function readText(fields: Fields, isText: boolean): { source: string; text: string } {
  const source = String(fields[isText ? "text" : "caption"] ?? "");
  const read = fields["parse_mode"] === "HTML" ? readHtml(source) : ({ ok: true, text: source } as const);
  if (!read.ok) throw new Refused(400, read.description);
  if (isText && read.text.trim() === "") throw bad("message text is empty");
  if (isText && read.text.length > MOST_TEXT) throw bad("message is too long");
  if (!isText && read.text.length > MOST_CAPTION) throw bad("message caption is too long");
  return { source, text: read.text.trim() };
}

interface KeyboardButton {
  readonly text?: string;
  readonly callback_data?: string;
  readonly copy_text?: { readonly text?: string };
  readonly url?: string;
}

type Keyboard = { readonly inline_keyboard: readonly (readonly KeyboardButton[])[] };

function readKeyboard(markup: unknown): Keyboard | undefined {
  if (markup === undefined) return undefined;
  const keyboard = markup as Keyboard;
  for (const { text, callback_data: data, copy_text: copy, url } of keyboard.inline_keyboard.flat()) {
    if (!text || !/[^\s\p{Cf}]/u.test(text)) throw bad("inline keyboard button text is empty");
    if ([data, copy, url].filter((kind) => kind !== undefined).length !== 1) throw bad("BUTTON_TYPE_INVALID");
    if (data !== undefined && (data === "" || Buffer.byteLength(data) > 64)) throw bad("BUTTON_DATA_INVALID");
    if (copy !== undefined && (!copy.text || copy.text.length > 256)) throw bad("BUTTON_COPY_TEXT_INVALID");
  }
  return keyboard;
}

function labelsOf(markup: Keyboard | undefined): readonly (readonly string[])[] {
  return markup?.inline_keyboard.map((row) => row.map(({ text = "" }) => text)) ?? [];
}

/** A file that the bot sends, or why Telegram does not take it. */
export function readUpload(kind: string, file: UploadedFile | undefined): ShownMessage["media"] {
  if (file === undefined || file.bytes.length === 0) throw bad("file must be non-empty");
  if (file.bytes.length > 50 * MIB) throw new Refused(413, "Request Entity Too Large");
  if (kind === "photo" && file.bytes.length > 10 * MIB) throw bad("PHOTO_INVALID_DIMENSIONS");
  return { kind, ...file };
}
