/** The parts that a message is sent in: its text in pieces, then its files. */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { OutboundPart } from "../../core/channel.ts";
import type { Button, FinalMessage, Media, OutboundMessage } from "../../core/messages.ts";
import type { Breather } from "../../lib/breather.ts";
import { CHOOSE } from "../../lib/phrases.ts";
import { type Piece, pieces } from "../../lib/split/markdown.ts";
import { measures } from "../../lib/split/measures.ts";
import { isVisible } from "../../lib/text.ts";
import type { Target } from "./target.ts";

/** Against reading it. */
const WORK_PER_CHARACTER = 100;

type Buttons = readonly (readonly Button[])[];

export type Draft =
  | { readonly kind: "text"; readonly piece: Piece; readonly buttons?: Buttons }
  | { readonly kind: "media"; readonly media: Media };

type Platform = Pick<Target, "capabilities"> & { readonly channel: Pick<Target["channel"], "render"> };

/** One after the other, so that who needs the first need not make the rest. */
export function* piecesFor(text: string, { channel, capabilities }: Platform): Generator<Piece> {
  const render = channel.render?.bind(channel);
  const { limit } = capabilities;
  if (limit !== undefined) {
    const options = { limit: limit.size, measure: measures[limit.unit] };
    yield* pieces(text, render === undefined ? options : { ...options, render });
  } else if (isVisible(text)) {
    yield { markdown: text, text: render?.(text) ?? text };
  }
}

/** Where there are no buttons, one says what they would have said, unless the text does already. */
function withChoices(content: string, buttons: Buttons): string {
  const missing = buttons.flat().filter(({ send }) => !content.includes(send));
  const choices = missing.map(({ label, send }) => (label === send ? `- ${label}` : `- ${label}: ${send}`));
  return choices.length === 0 ? content : `${content}\n\n${choices.join("\n")}`;
}

/** In a long message others have their turn between the pieces. */
export async function draftsOf(
  message: FinalMessage,
  target: Platform,
  breather: Breather,
): Promise<readonly Draft[]> {
  const { media, buttons = [] } = message;
  const hasButtons = buttons.some((row) => row.length > 0);
  const content = hasButtons && !isVisible(message.content) ? CHOOSE : message.content;
  const shown = hasButtons && !target.capabilities.buttons ? withChoices(content, buttons) : content;
  const texts: Draft[] = [];
  for (const piece of piecesFor(shown, target)) {
    await breather.take(piece.markdown.length * WORK_PER_CHARACTER);
    texts.push({ kind: "text", piece });
  }
  const last = texts.at(-1);
  if (hasButtons && target.capabilities.buttons && last?.kind === "text") {
    texts[texts.length - 1] = { ...last, buttons };
  }
  return [...texts, ...media.map((file): Draft => ({ kind: "media", media: file }))];
}

/** What is the same at every attempt for one part, and different for every other. */
function keyOf(id: string, index: number): string {
  return createHash("sha256")
    .update(Buffer.from(`${id}\n${index}`))
    .digest("base64url");
}

export interface PartOptions {
  readonly message: OutboundMessage;
  readonly index: number;
  readonly draft: Draft;
  /** In the place of the text in the channel's markup. */
  readonly plainText?: string;
  readonly replyTo?: string;
}

export function partOf({ message, index, draft, plainText, replyTo }: PartOptions): OutboundPart {
  const { id, chatId, thread } = message;
  const content: OutboundPart["content"] =
    draft.kind === "media"
      ? draft
      : {
          kind: "text",
          text: plainText ?? draft.piece.text,
          isPlain: plainText !== undefined,
          ...(draft.buttons === undefined ? {} : { buttons: draft.buttons }),
        };
  return {
    message,
    index,
    key: keyOf(id, index),
    chatId,
    ...(thread === undefined ? {} : { thread }),
    ...(replyTo === undefined ? {} : { replyTo }),
    content,
  };
}
