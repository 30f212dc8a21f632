/** The tool that sends a message to a chat, beside the answer. */

import * as v from "valibot";
import type { Button, Media } from "../core/messages.ts";
import {
  defineTool,
  type SentTo,
  type ToolContext,
  type ToolFiles,
  toolError,
  toolOk,
} from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";
import { mediaType } from "../lib/image-type.ts";
import { basename } from "../lib/path.ts";
import { wellFormed } from "../lib/text.ts";
import { fileKind, PROBE_BYTES } from "./file-kind.ts";
import { text } from "./parameters.ts";
import { findTarget, noSuchFile } from "./target-file.ts";

const MOST_FILES = 10;
/** What platforms show of buttons, with room to spare. */
const MOST_ROWS = 10;
const MOST_IN_ROW = 8;
const LONGEST_LABEL = 64;

const label = v.pipe(v.string(), v.minLength(1), v.maxLength(LONGEST_LABEL));

export const message = defineTool({
  name: "message",
  description:
    "Send a message to a chat: to another one, or to this one with files or buttons. Do not use it to answer: your reply is sent by itself. What you send to this chat takes the place of that reply.",
  parameters: v.strictObject({
    content: text("The text, in Markdown; may be left out when there are files"),
    channel: text("The channel, such as telegram; this chat's own when left out"),
    chat_id: text("The chat in that channel; this one when left out"),
    media: v.optional(
      v.pipe(
        v.array(v.string()),
        v.maxLength(MOST_FILES),
        v.description(`Paths of files of the workspace to send along, at most ${MOST_FILES}`),
      ),
    ),
    buttons: v.optional(
      v.pipe(
        v.array(v.pipe(v.array(label), v.minLength(1), v.maxLength(MOST_IN_ROW))),
        v.maxLength(MOST_ROWS),
        v.description("Rows of labels; whoever presses a button says its label in the chat"),
      ),
    ),
  }),
  mainOnly: true,
  // What is put is named after the call, and no name is put twice.
  repeatable: true,
  aliases: { text: "content", message: "content", to: "chat_id", chatId: "chat_id", files: "media" },

  async execute({ content = "", channel, chat_id: chatId, media = [], buttons = [] }, context) {
    const { files, outbound } = context.ports;
    const words = wellFormed(content);
    if (words.trim() === "" && media.length === 0)
      return toolError("there is nothing to send: give content, media, or both");
    if (words.trim() === "" && buttons.length > 0)
      return toolError("buttons need words above them: give content too");
    if (channel !== undefined && channel !== context.channel && chatId === undefined)
      return toolError(`chat_id is missing: which chat of ${quote(channel)} should get it?`);
    if (buttons.flat().some((words) => words.trim() === ""))
      return toolError("a button needs a label that can be read");
    const attached: Media[] = [];
    for (const path of media) attached.push(await attach(files, path));
    const sent = await outbound.send(
      { channel, chatId, content: words, media: attached, buttons: buttons.map(asButtons) },
      context.call,
    );
    const where = addressOf(sent, context);
    return toolOk(`Sent to ${where.channel}:${where.chatId}${along(attached.length)}`, { sentTo: where });
  },
});

function asButtons(labels: readonly string[]): readonly Button[] {
  return labels.map((words) => ({ label: wellFormed(words), send: wellFormed(words) }));
}

/** The chat that is being answered gets it in the thread that it is answered in. */
function addressOf({ channel, chatId }: SentTo, context: ToolContext): SentTo {
  const isHere = channel === context.channel && chatId === context.chatId;
  return { channel, chatId, ...(isHere && context.thread !== undefined ? { thread: context.thread } : {}) };
}

async function attach(files: ToolFiles, named: string): Promise<Media> {
  const target = await findTarget(files, named, "read", "send");
  if (target.stat === undefined) throw await noSuchFile(files, target, named, "read");
  const { bytes } = target.stat;
  const probe = await explained("send", named, () => files.system.read(target.path, { end: PROBE_BYTES }));
  // A text may be cut in the middle of a character.
  const mime = fileKind(probe, bytes).kind === "text" ? "text/plain" : mediaType(probe);
  return { path: target.path, mime, name: basename(target.path) };
}

function along(files: number): string {
  if (files === 0) return "";
  return files === 1 ? ", with 1 file" : `, with ${files} files`;
}
