/** A part of a conversation as plain text: for the model that sums it up, and for the history when none could. */

import type { StoredMessage } from "../core/session.ts";
import { breadcrumb } from "../lib/breadcrumb.ts";
import { clip, oneLine } from "../lib/text.ts";
import { LONGEST_RAW, RAW } from "./history-text.ts";
import type { Stamps } from "./stamp.ts";

/** Of a tool's result: what it came to, not what it said. */
const RESULT = 300;
const LONGEST_NAME = 60;

/** "" for a line that says nothing. What was put in front of the user's text by us is left out. */
function said({ role, name = "", content, tool_calls: calls = [], media = [] }: StoredMessage): string {
  if (role === "tool") return `${oneLine(name, LONGEST_NAME)}: ${oneLine(content, RESULT)}`;
  const called = calls.map((call) => oneLine(call.function.name, LONGEST_NAME)).join(", ");
  return [...media.map(breadcrumb), content.trim(), called === "" ? "" : `[calls ${called}]`]
    .filter((part) => part !== "")
    .join(" ");
}

function lineOf(message: StoredMessage, text: string, stamps: Stamps): string {
  const at = stamps.ofLine(message.timestamp);
  return `${at === undefined ? "" : `[${at}] `}${message.role.toUpperCase()}: ${text}`;
}

export function conversationText(messages: readonly StoredMessage[], stamps: Stamps): string {
  return messages
    .map((message) => ({ message, text: said(message) }))
    .filter(({ text }) => text !== "")
    .map(({ message, text }) => lineOf(message, text, stamps))
    .join("\n");
}

/** One line a message. Where all of it would be too long, each has the same share, so that none is missing. */
export function rawText(messages: readonly StoredMessage[], stamps: Stamps): string {
  const title = `${RAW} ${messages.length} messages`;
  const spoken = messages
    .map((message) => ({ message, text: oneLine(said(message), LONGEST_RAW) }))
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
