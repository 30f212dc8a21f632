/** The images of a message, whoever's it is. */

import type { ChatMessage, Image } from "../core/model.ts";

const NONE: readonly Image[] = [];

export function imagesOf(message: ChatMessage): readonly Image[] {
  return message.role === "user" || message.role === "tool" ? (message.images ?? NONE) : NONE;
}
