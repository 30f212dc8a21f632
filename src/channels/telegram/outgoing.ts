/** Sends and changes messages. */

import type { RawApi } from "grammy";
import type { ReplyParameters } from "grammy/types";
import type { ChatPlace, OutboundPart } from "../../core/channel.ts";
import type { FileSystem } from "../../core/platform.ts";
import { createRecent } from "../../lib/recent.ts";
import type { BotApi, CallSignal } from "./bot-api.ts";
import { keyboard } from "./buttons.ts";
import { isRefusal, Refusal } from "./refusal.ts";
import { type Upload, uploadOf } from "./uploads.ts";

/** Groups whose new id is remembered. */
const MOVED = 1_000;
const UPLOAD_MS = 600_000;

export interface OutgoingOptions {
  readonly api: BotApi;
  readonly files: Pick<FileSystem, "stat" | "stream">;
}

export interface Outgoing {
  send(part: OutboundPart, signal: AbortSignal): Promise<string>;
  edit(messageId: string, part: OutboundPart, signal: AbortSignal): Promise<void>;
  showTyping(place: ChatPlace, signal: AbortSignal): Promise<void>;
}

/** Where a message goes, as every method of sending takes it. */
interface Target {
  readonly chat_id: number | string;
  readonly message_thread_id?: number;
  readonly reply_parameters?: ReplyParameters;
}

type Call = (raw: RawApi, target: Target, signal: CallSignal) => Promise<{ message_id: number }>;
type TextContent = Extract<OutboundPart["content"], { kind: "text" }>;

const TOPIC_GONE = /message thread not found|TOPIC_DELETED/i;
const BAD_BUTTONS = /reply markup|keyboard|BUTTON_/i;
/** It may be too wide or too tall to be shown, or somebody takes no voice, which is no reason not to send it. */
const ONLY_AS_DOCUMENT = /PHOTO_|IMAGE_PROCESS_FAILED|VOICE_MESSAGES_FORBIDDEN/;

const numberOf = (id: string) => (/^-?\d{1,15}$/.test(id) ? Number(id) : id);

function targetOf({ chatId, thread }: ChatPlace, replyTo?: string): Target {
  const quoted = replyTo === undefined ? Number.NaN : Number(replyTo);
  return {
    chat_id: numberOf(chatId),
    ...(thread === undefined ? {} : { message_thread_id: Number(thread) }),
    ...(Number.isSafeInteger(quoted)
      ? { reply_parameters: { message_id: quoted, allow_sending_without_reply: true } }
      : {}),
  };
}

function textFields({ text, isPlain, buttons }: TextContent) {
  return {
    text,
    link_preview_options: { is_disabled: true },
    ...(isPlain ? {} : { parse_mode: "HTML" as const }),
    ...(buttons === undefined || buttons.length === 0 ? {} : { reply_markup: keyboard(buttons) }),
  };
}

type TextFields = ReturnType<typeof textFields>;

/** What is wrong with buttons must not keep back what stands above them. */
async function despiteButtons<T>(fields: TextFields, run: (fields: TextFields) => Promise<T>): Promise<T> {
  try {
    return await run(fields);
  } catch (error) {
    if (fields.reply_markup === undefined || !isRefusal(error, BAD_BUTTONS)) throw error;
    const { reply_markup: _, ...words } = fields;
    return run(words);
  }
}

export function createOutgoing({ api, files }: OutgoingOptions): Outgoing {
  const moved = createRecent<{ to: number | undefined }>({ most: MOVED });

  /** A group that becomes a larger one goes on under another id, which the refusal names. */
  async function inChat<T>(target: Target, run: (target: Target) => Promise<T>): Promise<T> {
    const known = moved.of(`${target.chat_id}`, () => ({ to: undefined }));
    try {
      return await run(known.to === undefined ? target : { ...target, chat_id: known.to });
    } catch (error) {
      if (!(error instanceof Refusal) || error.movedTo === undefined) throw error;
      known.to = error.movedTo;
      return run({ ...target, chat_id: error.movedTo });
    }
  }

  async function deliver(target: Target, call: Call, signal: AbortSignal, limitMs?: number): Promise<string> {
    const attempt = async (where: Target) => {
      const { message_id: id } = await api.call((raw, limited) => call(raw, where, limited), signal, limitMs);
      return `${id}`;
    };
    return inChat(target, async (where) => {
      try {
        return await attempt(where);
      } catch (error) {
        if (!isRefusal(error, TOPIC_GONE)) throw error;
        // The topic is gone, and the group it was in is still meant to read this.
        const { message_thread_id: _, ...group } = where;
        return attempt(group);
      }
    });
  }

  async function sendFile(target: Target, upload: Upload, signal: AbortSignal): Promise<string> {
    const call: Call = (raw, where, limited) => {
      const file = api.file(files.stream(upload.path, { signal: limited }), upload.name);
      switch (upload.kind) {
        case "photo":
          return raw.sendPhoto({ ...where, photo: file }, limited);
        case "animation":
          return raw.sendAnimation({ ...where, animation: file }, limited);
        case "voice":
          return raw.sendVoice({ ...where, voice: file }, limited);
        case "audio":
          return raw.sendAudio({ ...where, audio: file }, limited);
        case "video":
          return raw.sendVideo({ ...where, video: file }, limited);
        case "document":
          return raw.sendDocument({ ...where, document: file }, limited);
      }
    };
    try {
      return await deliver(target, call, signal, UPLOAD_MS);
    } catch (error) {
      if (upload.kind === "document" || !isRefusal(error, ONLY_AS_DOCUMENT)) throw error;
      return sendFile(target, { ...upload, kind: "document" }, signal);
    }
  }

  return {
    async send(part, signal) {
      const target = targetOf(part, part.replyTo);
      const { content } = part;
      if (content.kind === "media") return sendFile(target, await uploadOf(content.media, files), signal);
      return despiteButtons(textFields(content), (fields) =>
        deliver(target, (raw, where, limited) => raw.sendMessage({ ...where, ...fields }, limited), signal),
      );
    },

    async edit(messageId, part, signal) {
      if (part.content.kind !== "text") return;
      const target = targetOf(part);
      const message_id = Number(messageId);
      try {
        await despiteButtons(textFields(part.content), (fields) =>
          inChat(target, ({ chat_id }) =>
            api.call(
              (raw, limited) => raw.editMessageText({ chat_id, message_id, ...fields }, limited),
              signal,
            ),
          ),
        );
      } catch (error) {
        if (!isRefusal(error, /message is not modified/i)) throw error;
      }
    },

    async showTyping(place, signal) {
      await inChat(targetOf(place), (target) =>
        api.call((raw, limited) => raw.sendChatAction({ ...target, action: "typing" }, limited), signal),
      );
    },
  };
}
