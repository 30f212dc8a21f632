/** What the spinner says about a turn, from the messages the turn sends. */

import type { OutboundMessage } from "../../core/messages.ts";
import { oneLine } from "../../lib/text.ts";
import { hintText } from "./transcript.ts";

export const THINKING = "thinking…";
/** After an answer, while what it began in the background goes on. */
export const WAITING = "waiting for work in the background…";

/** `undefined` when the message says nothing about what comes next. */
export function activityOf(message: OutboundMessage): string | undefined {
  switch (message.kind) {
    case "delta":
      return "writing…";
    case "streamEnd":
    case "reasoning":
      return THINKING;
    case "toolHint":
      return hintText(message.content);
    case "progress":
      return oneLine(message.content, 200) || undefined;
    case "final":
      return undefined;
  }
}
