/** Webhooks: other programs send events with a secret, and can have the agent's answers. */

import { defineChannel } from "../../core/channel.ts";
import { config } from "./config.ts";

export const channel = defineChannel({
  name: "webhook",
  config,
  admits: "secret",
  capabilities: {
    markup: "markdown",
    edits: false,
    deltas: false,
    typing: false,
    reactions: false,
    buttons: false,
    idempotencyKey: true,
    waitsForFinal: true,
  },
  async create(options, context) {
    const { createWebhook } = await import("./create-webhook.ts");
    return createWebhook(options, context);
  },
});
