/** The files of a message, and how they get here. */

import type { Message, PhotoSize } from "grammy/types";
import { type ChannelContext, SendError } from "../../core/channel.ts";
import { UserError } from "../../core/errors.ts";
import type { Media } from "../../core/messages.ts";
import { notDownloaded, tooLargeToDownload } from "../../lib/phrases.ts";
import type { BotApi } from "./bot-api.ts";
import { isRefusal } from "./refusal.ts";

export interface Attachment {
  readonly kind: string;
  readonly fileId: string;
  readonly bytes: number | undefined;
  readonly name: string | undefined;
}

/** What the Bot API gives to bots. */
const LIMIT_MB = 20;
const LIMIT = LIMIT_MB * 1024 * 1024;
const WAITS_MS = [1_000, 2_000];

interface TelegramFile {
  readonly file_id: string;
  readonly file_size?: number;
  readonly file_name?: string;
}

function largest(sizes: readonly PhotoSize[] = []): PhotoSize | undefined {
  return sizes.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
}

function attachment(kind: string, file: TelegramFile | undefined): readonly Attachment[] {
  if (file === undefined) return [];
  return [{ kind, fileId: file.file_id, bytes: file.file_size, name: file.file_name }];
}

export function attachmentsOf(message: Message): readonly Attachment[] {
  const { photo, voice, audio, video, video_note: note, animation, document } = message;
  return [
    ...attachment("photo", largest(photo)),
    ...attachment("voice", voice),
    ...attachment("audio", audio),
    ...attachment("video", video),
    ...attachment("video note", note),
    ...attachment("animation", animation),
    // An animation comes as a document too.
    ...attachment("document", animation === undefined ? document : undefined),
  ];
}

/** A file that came, or what is said in its place. */
export type Fetched = { readonly media: Media } | { readonly note: string };

export interface FetchAttachmentOptions {
  readonly api: BotApi;
  readonly context: Pick<ChannelContext, "media" | "clock" | "log">;
}

/** Rejects only with the signal's reason: a file that does not come must not keep the words beside it. */
export async function fetchAttachment(
  { kind, fileId, bytes: told, name }: Attachment,
  { api, context }: FetchAttachmentOptions,
  signal: AbortSignal,
): Promise<Fetched> {
  const { clock, log } = context;

  async function once(): Promise<Fetched> {
    if (told !== undefined && told > LIMIT) return { note: tooLargeToDownload(kind, name, LIMIT_MB) };
    const file = await api.call((raw, limited) => raw.getFile({ file_id: fileId }, limited), signal);
    const bytes = file.file_path && (await api.download(file.file_path, LIMIT, signal));
    if (!bytes) return { note: tooLargeToDownload(kind, name, LIMIT_MB) };
    const store = await context.media();
    return {
      media: await store.save({ channel: "telegram", bytes, ...(name === undefined ? {} : { name }) }),
    };
  }

  for (let attempt = 0; ; attempt++) {
    try {
      return await once();
    } catch (error) {
      signal.throwIfAborted();
      if (isRefusal(error, /file is too big/i)) return { note: tooLargeToDownload(kind, name, LIMIT_MB) };
      const wait = WAITS_MS[attempt];
      if (wait === undefined || !mayPass(error)) {
        log.warn("Could not fetch a file from Telegram", { kind, error });
        return { note: notDownloaded(kind, name) };
      }
      const asked = error instanceof SendError ? error.retryAfterMs : 0;
      await clock.sleep(Math.min(Math.max(wait, asked), 30_000), signal);
    }
  }
}

function mayPass(error: unknown): boolean {
  if (error instanceof UserError) return false;
  return error instanceof SendError && ["down", "slowDown", "temporary"].includes(error.kind);
}
