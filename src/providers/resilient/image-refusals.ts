/** Which model takes no images, as it showed in which session; there they are replaced by words from then on. */

import type { ChatMessage, ChatRequest, UserMessage } from "../../core/model.ts";
import { imageNotShown } from "../../lib/phrases.ts";

/** Sessions remembered at once. The oldest is found out again with one refused request. */
const MOST = 1_000;

export function createImageRefusals() {
  const refused = new Map<string, true>();
  const words = new WeakMap<ChatMessage, ChatMessage>();

  const keyOf = (session: string, { provider, name }: { provider: string; name: string }) =>
    JSON.stringify([session, provider, name]);

  /** The same object each time, so that it is encoded and counted once. */
  function withoutImages(message: ChatMessage): ChatMessage {
    if (!hasImages(message)) return message;
    const known = words.get(message);
    if (known !== undefined) return known;
    const { images, ...rest } = message;
    const names = (images ?? []).map(({ name }) => imageNotShown(name));
    const stripped = { ...rest, content: [...names, rest.content].filter((text) => text !== "").join("\n") };
    words.set(message, stripped);
    return stripped;
  }

  return {
    /** Whether leaving the images out would change anything. */
    concerns: ({ messages }: ChatRequest): boolean => messages.some(hasImages),
    known: (session: string | undefined, model: { provider: string; name: string }): boolean =>
      session !== undefined && refused.has(keyOf(session, model)),
    /** Without a session there is nothing to remember it for. */
    remember(session: string | undefined, model: { provider: string; name: string }): void {
      if (session === undefined) return;
      const key = keyOf(session, model);
      refused.delete(key);
      refused.set(key, true);
      for (const oldest of refused.keys()) {
        if (refused.size <= MOST) break;
        refused.delete(oldest);
      }
    },
    strip: (request: ChatRequest): ChatRequest => ({
      ...request,
      messages: request.messages.map(withoutImages),
    }),
  };
}

function hasImages(message: ChatMessage): message is UserMessage {
  return message.role === "user" && message.images !== undefined && message.images.length > 0;
}
