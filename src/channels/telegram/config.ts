/** The block of the Telegram channel. */

import * as v from "valibot";

/** The original has it, and it has no effect here. */
const ignored = v.optional(v.unknown());

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

export const config = v.object({
  /** As @BotFather gives it. */
  token: v.optional(v.string(), ""),
  mode: v.optional(v.picklist(["polling", "webhook"]), "polling"),
  /** Where Telegram reaches the gateway; without it `gateway.publicUrl` and the channel's path. */
  webhookUrl: v.optional(v.string(), ""),
  /** Comes with every update. Without it one is derived from the token. */
  webhookSecretToken: v.optional(v.string(), ""),
  webhookMaxConnections: v.optional(whole(1, 100), 4),
  /** Seconds for which one poll waits for news. */
  pollTimeout: v.optional(whole(1, 50), 30),
  /** Of the Bot API. */
  apiRoot: v.optional(v.string(), "https://api.telegram.org"),
  /** Goes before the proxy of the environment. */
  proxy: v.nullish(v.string()),
  streaming: v.optional(v.boolean(), true),
  /** Seconds between two edits of a text that grows. */
  streamEditInterval: v.optional(v.pipe(v.number(), v.minValue(0.1), v.maxValue(60)), 0.6),
  /** Answers quote the message that they answer. */
  replyToMessage: v.optional(v.boolean(), false),
  /** Says that a message was taken; "" says nothing. */
  reactEmoji: v.optional(v.string(), "👀"),
  inlineKeyboards: ignored,
  richMessages: ignored,
  connectionPoolSize: ignored,
  poolTimeout: ignored,
  webhookListenHost: ignored,
  webhookListenPort: ignored,
  webhookPath: ignored,
});

export type TelegramConfig = v.InferOutput<typeof config>;
