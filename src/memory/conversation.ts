/** A part of a conversation as plain text: for the model that sums it up, and for the history when none could. */

import type { StoredMessage } from "../core/session.ts";
import { breadcrumb } from "../lib/breadcrumb.ts";
import { clip, oneLine } from "../lib/text.ts";
import { LONGEST_RAW, RAW } from "./history-text.ts";
import type { Stamps } from "./stamp.ts";

/** Of a tool's result: what it came to, not what it said. */
const RESULT = 300;
const LONGEST_NAME = 60;
/** Whatever a model takes for one. */
const LINE_END = /\r\n|[\n\r\v\f\x85\u2028\u2029]/g;

export interface Telling {
  readonly stamps: Stamps;
  /** Takes secrets out of what was said, before it is cut. */
  readonly mask: (text: string) => string;
}

/** "" for a line that says nothing. What was put in front of the user's text by us is left out. */
function said(
  { role, name = "", content, tool_calls: calls = [], media = [] }: StoredMessage,
  mask: Telling["mask"],
): string {
  const text = mask(content);
  if (role === "tool") return `${oneLine(name, LONGEST_NAME)}: ${oneLine(text, RESULT)}`;
  const called = calls.map((call) => oneLine(call.function.name, LONGEST_NAME)).join(", ");
  return [...media.map(breadcrumb), text.trim(), called === "" ? "" : `[calls ${called}]`]
    .filter((part) => part !== "")
    .join(" ");
}

function lineOf(message: StoredMessage, text: string, stamps: Stamps): string {
  const at = stamps.ofLine(message.timestamp);
  return `${at === undefined ? "" : `[${at}] `}${message.role.toUpperCase()}: ${text}`;
}

/** Lines of a message after its first are indented, so that none can be taken for another message or a heading. */
export function conversationText(messages: readonly StoredMessage[], { stamps, mask }: Telling): string {
  return messages
    .map((message) => ({ message, text: said(message, mask) }))
    .filter(({ text }) => text !== "")
    .map(({ message, text }) => lineOf(message, text.replace(LINE_END, "\n  "), stamps))
    .join("\n");
}

/** One line a message. Where all of it would be too long, each has the same share, so that none is missing. */
export function rawText(messages: readonly StoredMessage[], { stamps, mask }: Telling): string {
  const title = `${RAW} ${messages.length} messages`;
  const spoken = messages
    .map((message) => ({ message, text: oneLine(said(message, mask), LONGEST_RAW) }))
    .filter(({ text }) => text !== "");
  let whole = title;
  for (let share = LONGEST_RAW; share >= 20; share = Math.floor(share * 0.75)) {
    const lines = spoken.map(({ message, text }) => lineOf(message, clip(text, share), stamps));
    whole = [title, ...lines].join("\n");
    // The history indents lines that begin with a time.
    if (whole.length + 2 * lines.length <= LONGEST_RAW) break;
  }
  return whole;
}
