/** The block of the Telegram channel. */

import * as v from "valibot";

/** The original's key, without effect here. */
const ignored = v.optional(v.pipe(v.unknown(), v.description("Kept for the original, without effect")));

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

export const config = v.object({
  token: v.optional(v.pipe(v.string(), v.description("As @BotFather gives it")), ""),
  mode: v.optional(
    v.pipe(
      v.picklist(["polling", "webhook"]),
      v.description("Whether Telegram is asked for news, or calls the gateway"),
    ),
    "polling",
  ),
  webhookUrl: v.optional(
    v.pipe(
      v.string(),
      v.description("Where Telegram calls; without it gateway.publicUrl and the channel's path"),
    ),
    "",
  ),
  webhookSecretToken: v.optional(
    v.pipe(v.string(), v.description("Comes with every call; without it one is derived from the token")),
    "",
  ),
  webhookMaxConnections: v.optional(
    v.pipe(whole(1, 100), v.description("How many calls Telegram makes at once")),
    4,
  ),
  pollTimeout: v.optional(
    v.pipe(whole(1, 50), v.description("Seconds for which one poll waits for news")),
    30,
  ),
  apiRoot: v.optional(
    v.pipe(v.string(), v.description("The address of the Bot API")),
    "https://api.telegram.org",
  ),
  proxy: v.optional(
    v.pipe(v.string(), v.description("The proxy to go through, before the one of the environment")),
  ),
  streaming: v.optional(
    v.pipe(v.boolean(), v.description("Whether answers grow while they are written")),
    true,
  ),
  streamEditInterval: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0.1),
      v.maxValue(60),
      v.description("Seconds between two edits of a text that grows"),
    ),
    0.6,
  ),
  replyToMessage: v.optional(
    v.pipe(v.boolean(), v.description("Whether answers quote the message that they answer")),
    false,
  ),
  reactEmoji: v.optional(
    v.pipe(v.string(), v.description("The reaction that says that a message was taken; empty for none")),
    "👀",
  ),
  inlineKeyboards: ignored,
  richMessages: ignored,
  connectionPoolSize: ignored,
  poolTimeout: ignored,
  webhookListenHost: ignored,
  webhookListenPort: ignored,
  webhookPath: ignored,
});

export type TelegramConfig = v.InferOutput<typeof config>;
