/** Buttons as Telegram has them: what a press says travels in 64 bytes, or is copied, or is the label. */

import { Buffer } from "node:buffer";
import type { CallbackQuery, InlineKeyboardButton, InlineKeyboardMarkup } from "grammy/types";
import type { Button } from "../../core/messages.ts";
import { isVisible, wellFormed } from "../../lib/text.ts";

const MOST_BYTES = 64;
const MOST_COPIED = 256;
const NO_LABEL = "…";
/** In front of a place in the keyboard; nobody can say it, because it cannot be seen. */
const PLACE = "\u2060";

function button(given: Button, place: string): InlineKeyboardButton {
  const label = wellFormed(given.label);
  const send = wellFormed(given.send);
  // Without a letter on one of its buttons no message is taken.
  const text = [label, send].find(isVisible) ?? NO_LABEL;
  const isData = send !== "" && !send.startsWith(PLACE) && Buffer.byteLength(send) <= MOST_BYTES;
  if (isData) return { text, callback_data: send };
  // Cut off, it would say something else; pasted by hand, it still says the same.
  if (send !== label && send !== "" && send.length <= MOST_COPIED) return { text, copy_text: { text: send } };
  return { text, callback_data: PLACE + place };
}

export function keyboard(rows: readonly (readonly Button[])[]): InlineKeyboardMarkup {
  return {
    inline_keyboard: rows.map((buttons, row) =>
      buttons.map((entry, column) => button(entry, `${row}.${column}`)),
    ),
  };
}

/** What somebody says by a press; `undefined` when the message with the button is too old to tell. */
export function pressed({ data, message }: CallbackQuery): string | undefined {
  if (!data?.startsWith(PLACE)) return data;
  const [row = 0, column = 0] = data.slice(PLACE.length).split(".").map(Number);
  return message?.reply_markup?.inline_keyboard[row]?.[column]?.text;
}
