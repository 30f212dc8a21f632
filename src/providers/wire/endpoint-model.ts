/** A model at an endpoint, by whichever protocol: what all of them need, made once. */

import type { ChatRequest, Model } from "../../core/model.ts";
import { createCallIds } from "./call-ids.ts";
import type { EndpointOptions } from "./endpoint.ts";
import type { SpokenTextOptions } from "./spoken-text.ts";
import { createThoughtHabits } from "./thought-habits.ts";
import { createTransport } from "./transport.ts";
import { createWireModel, type Protocol, type ReplyBuilder } from "./wire-model.ts";

export interface EndpointProtocol extends Omit<Protocol, "builder"> {
  /** Puts the reply to `request` together. */
  reply(options: SpokenTextOptions, request: ChatRequest): ReplyBuilder;
}

export function createEndpointModel(
  options: EndpointOptions,
  { reply, ...protocol }: EndpointProtocol,
): Model {
  const { provider, baseUrl, apiKey = "", headers = {}, extraQuery = {}, clock } = options;
  const habits = createThoughtHabits();
  const newCallId = createCallIds(clock);
  return createWireModel({
    provider,
    baseUrl,
    secrets: [apiKey, ...Object.values(headers), ...Object.values(extraQuery)],
    clock,
    transport: createTransport(options),
    onBug: options.onBug,
    protocol: {
      ...protocol,
      builder(request, onDelta) {
        const { model, tools } = request;
        return reply(
          { onDelta, newCallId, toolsOffered: tools.length > 0, habit: habits.of(model) },
          request,
        );
      },
    },
  });
}
