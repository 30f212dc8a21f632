/** Telegram as a channel. */

import { defineChannel } from "../../core/channel.ts";
import { config } from "./config.ts";

export const channel = defineChannel({
  name: "telegram",
  config,
  capabilities: {
    limit: { size: 4_096, unit: "utf16" },
    markup: "html",
    edits: true,
    deltas: false,
    typing: true,
    reactions: true,
    buttons: true,
    idempotencyKey: false,
  },
  async create(settings, context) {
    const { createTelegram } = await import("./telegram.ts");
    return createTelegram(settings, context);
  },
});
