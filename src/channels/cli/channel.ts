/** The terminal as a channel: one message and its answer, or a chat. */

import { defineChannel } from "../../core/channel.ts";
import { config } from "./config.ts";

export const channel = defineChannel({
  name: "cli",
  config,
  capabilities: {
    markup: "markdown",
    edits: false,
    deltas: true,
    typing: false,
    reactions: false,
    buttons: true,
    idempotencyKey: false,
  },
  async create(options, context) {
    if (options.message !== undefined) {
      const { createOneShot } = await import("./one-shot.ts");
      return createOneShot(options.message, options, context);
    }
    const { createChat } = await import("./chat.ts");
    return createChat(options, context);
  },
});
