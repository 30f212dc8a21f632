/** WebSockets: other programs and web pages talk with the agent, and see its answers grow. */

import { defineChannel } from "../../core/channel.ts";
import { config } from "./config.ts";

export const channel = defineChannel({
  name: "websocket",
  config,
  admits: "secret",
  capabilities: {
    markup: "markdown",
    edits: false,
    deltas: true,
    typing: true,
    reactions: false,
    buttons: true,
    idempotencyKey: true,
    waitsForFinal: true,
  },
  async create(options, context) {
    const { createWebsocket } = await import("./create-websocket.ts");
    return createWebsocket(options, context);
  },
});
