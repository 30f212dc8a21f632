/** Which updates concern us, and what of them must be there for that. */

import type { CallbackQuery, Message, Update } from "grammy/types";
import * as v from "valibot";
import { isForAnother, type Self } from "./addressed.ts";

/** What we ask Telegram for. It may send others for a while, from before it was asked. */
export const WANTED = ["message", "callback_query"] as const;

const id = v.pipe(v.number(), v.safeInteger());
const user = v.looseObject({ id, is_bot: v.boolean(), first_name: v.string() });
const message = v.looseObject({
  message_id: id,
  date: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(8_000_000_000)),
  chat: v.looseObject({ id, type: v.string() }),
});

const numbered = v.looseObject({ update_id: id });
const updateWithMessage = v.looseObject({ message: v.looseObject({ ...message.entries, from: user }) });
const updateWithPress = v.looseObject({
  callback_query: v.looseObject({ id: v.string(), from: user, message, data: v.string() }),
});

/** `undefined` for what is no update at all. */
export function parseUpdate(value: unknown): Update | undefined {
  return v.is(numbered, value) ? (value as unknown as Update) : undefined;
}

export type UpdateEvent =
  | { readonly kind: "message"; readonly message: Message & { from: NonNullable<Message["from"]> } }
  | {
      readonly kind: "press";
      readonly press: CallbackQuery & { data: string; message: NonNullable<CallbackQuery["message"]> };
    };

/** `undefined` for what we do not listen to: edits, channels, other bots, and commands for other bots. */
export function eventOf(update: Update, self: Self): UpdateEvent | undefined {
  if (v.is(updateWithPress, update)) {
    const press = update.callback_query as unknown as Extract<UpdateEvent, { kind: "press" }>["press"];
    return press.from.is_bot ? undefined : { kind: "press", press };
  }
  if (!v.is(updateWithMessage, update)) return undefined;
  const said = update.message as unknown as Extract<UpdateEvent, { kind: "message" }>["message"];
  const isOfChat = said.sender_chat !== undefined || said.is_automatic_forward === true;
  if (said.from.is_bot || isOfChat || said.chat.type === ("channel" as string)) return undefined;
  return isForAnother(said, self) ? undefined : { kind: "message", message: said };
}
