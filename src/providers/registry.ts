/**
 * The protocols by name, each loaded when it is first used. A new one is a folder, a line here and its name
 * in `ProtocolName`; the rows of its vendors name it.
 */

import type { ProtocolName } from "../core/app.ts";
import type { Model } from "../core/model.ts";
import type { EndpointOptions } from "./wire/endpoint.ts";

export const protocols = {
  chatCompletions: async (options: EndpointOptions): Promise<Model> =>
    (await import("./chat-completions/chat-completions.ts")).createChatCompletions(options),
  responses: async (options: EndpointOptions): Promise<Model> =>
    (await import("./responses/responses.ts")).createResponses(options),
  anthropic: async (options: EndpointOptions): Promise<Model> =>
    (await import("./anthropic/anthropic.ts")).createAnthropic(options),
  offline: async (): Promise<Model> => (await import("./offline/offline.ts")).createOfflineModel(),
} satisfies Record<ProtocolName | "offline", (options: EndpointOptions) => Promise<Model>>;
