/** The protocols by name, each loaded when it is first used. A new one is one file and one line. */

import type { Model } from "../core/model.ts";
import type { ChatCompletionsOptions } from "./chat-completions.ts";

export const protocols = {
  chatCompletions: async (options: ChatCompletionsOptions): Promise<Model> =>
    (await import("./chat-completions.ts")).createChatCompletions(options),
  offline: async (): Promise<Model> => (await import("./offline.ts")).createOfflineModel(),
};
