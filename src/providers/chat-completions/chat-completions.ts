/** The chat-completions protocol, which most vendors and every local server speak, over the openai package. */

import type { ChatRequest, Model } from "../../core/model.ts";
import type { EndpointOptions } from "../wire/endpoint.ts";
import { openaiTarget } from "../wire/openai-target.ts";
import { createTransport } from "../wire/transport.ts";
import { createWireModel } from "../wire/wire-model.ts";
import { createQuirkLearner } from "./quirk-lessons.ts";
import type { Quirks } from "./quirks.ts";
import { createReplyBuilder } from "./reply.ts";
import { encodeRequest } from "./request.ts";

export function createChatCompletions(options: EndpointOptions): Model {
  const { provider, baseUrl, apiKey = "", headers = {}, extraBody = {}, extraQuery = {}, clock } = options;
  const learner = createQuirkLearner(options.quirks);
  const sentWith = new WeakMap<ChatRequest, Quirks>();
  /** Models whose prompt ends in an opener, so that their replies begin inside a block of reasoning. */
  const insideThoughts = new Set<string>();
  let callsWithoutId = 0;
  const newCallId = () => `call_${clock.now().toString(36)}_${++callsWithoutId}`;
  return createWireModel({
    provider,
    baseUrl,
    secrets: [apiKey, ...Object.values(headers), ...Object.values(extraQuery)],
    clock,
    transport: createTransport(options),
    protocol: {
      target: openaiTarget("/chat/completions", options),
      encode(request) {
        sentWith.set(request, learner.quirks);
        return encodeRequest(request, learner.quirks, extraBody);
      },
      builder: ({ model, tools }, onDelta) =>
        createReplyBuilder({
          onDelta,
          newCallId,
          toolsOffered: tools.length > 0,
          startsInside: insideThoughts.has(model),
          onOrphanClose: () => void insideThoughts.add(model),
          reasoningIsAnswer: learner.quirks.reasoningIsAnswer,
        }),
      learn: ({ status, body }, request) =>
        learner.learn({
          status,
          body,
          quirks: sentWith.get(request) ?? learner.quirks,
          encode: (quirks) => encodeRequest(request, quirks, extraBody),
        }),
    },
  });
}
