/** In which sessions a model has shown that it takes no images; there they are replaced by words from then on. */

import type { ChatMessage, ChatRequest, ToolMessage, UserMessage } from "../../core/model.ts";
import { imagesOf } from "../../lib/message-images.ts";
import { imageNotShown } from "../../lib/phrases.ts";

/** Sessions remembered at once. The oldest is found out again with one refused request. */
const MOST = 1_000;

/** Of one model. Without a session there is nothing to remember it for. */
export interface ImageRefusals {
  known(session: string | undefined): boolean;
  remember(session: string | undefined): void;
}

export function createImageRefusals(): ImageRefusals {
  const refused = new Set<string>();
  return {
    known: (session) => session !== undefined && refused.has(session),
    remember(session) {
      if (session === undefined) return;
      refused.delete(session);
      refused.add(session);
      for (const oldest of refused) {
        if (refused.size <= MOST) break;
        refused.delete(oldest);
      }
    },
  };
}

/** Whether leaving the images out would change anything. */
export function showsImages({ messages }: ChatRequest): boolean {
  return messages.some(hasImages);
}

export function withoutImages(request: ChatRequest): ChatRequest {
  return { ...request, messages: request.messages.map(inWords) };
}

const words = new WeakMap<ChatMessage, ChatMessage>();

/** The same object each time, so that it is encoded and counted once. */
function inWords(message: ChatMessage): ChatMessage {
  if (!hasImages(message)) return message;
  const known = words.get(message);
  if (known !== undefined) return known;
  const { images: _, ...rest } = message;
  const names = imagesOf(message).map(({ name }) => imageNotShown(name));
  // Where the images would stand.
  const texts = message.role === "user" ? [...names, rest.content] : [rest.content, ...names];
  const stripped = { ...rest, content: texts.filter((text) => text !== "").join("\n") };
  words.set(message, stripped);
  return stripped;
}

function hasImages(message: ChatMessage): message is UserMessage | ToolMessage {
  return imagesOf(message).length > 0;
}
