/** Whose opaque thoughts go back to a model: its own, until it does not take them. */

import type { AssistantMessage } from "../../core/model.ts";

export interface ReplayedThoughts {
  /** Whether a message's thoughts may go to `model`. */
  allowedTo(model: string): (message: AssistantMessage) => boolean;
  /** They were refused: made with another key, say, or bound to what has been shortened since. */
  refuse(messages: Iterable<AssistantMessage>): void;
}

export function createReplayedThoughts(provider: string): ReplayedThoughts {
  const refused = new WeakSet<AssistantMessage>();
  return {
    allowedTo(model) {
      const thinker = `${provider}/${model}`;
      return (message) => (message.model === undefined || message.model === thinker) && !refused.has(message);
    },
    refuse(messages) {
      for (const message of messages) refused.add(message);
    },
  };
}
