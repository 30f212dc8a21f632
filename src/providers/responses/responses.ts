/** OpenAI's Responses protocol over the openai package; a server that does not speak it is asked by chat completions. */

import type { AssistantMessage, ChatRequest, Model } from "../../core/model.ts";
import { lazy } from "../../lib/lazy.ts";
import type { EndpointOptions } from "../wire/endpoint.ts";
import type { Refusal } from "../wire/model-failure.ts";
import { openaiTarget } from "../wire/openai-target.ts";
import { createTransport } from "../wire/transport.ts";
import { createWireModel } from "../wire/wire-model.ts";
import {
  learnFromRefusal,
  noResponsesQuirks,
  type ResponsesQuirks,
  refusesReasoning,
  speaksNoResponses,
} from "./quirks.ts";
import { createResponsesReply } from "./reply.ts";
import { encodeResponsesRequest } from "./request.ts";

/** Thrown through the model, whose answer it would be a failure of, to where the other protocol is known. */
class OtherProtocol extends Error {
  override readonly name = "OtherProtocol";
}

export function createResponses(options: EndpointOptions): Model {
  const model = createResponsesOnly(options);
  const twin = lazy(async () =>
    (await import("../chat-completions/chat-completions.ts")).createChatCompletions(options),
  );
  /** Models that answered by chat completions after their server had refused this protocol. */
  const chatOnly = new Set<string>();

  return {
    provider: options.provider,
    async chat(request, chatOptions) {
      if (chatOnly.has(request.model)) return (await twin()).chat(request, chatOptions);
      try {
        return await model.chat(request, chatOptions);
      } catch (error) {
        if (!(error instanceof OtherProtocol)) throw error;
      }
      const reply = await (await twin()).chat(request, chatOptions);
      // Where both fail the address is wrong, or the server is in trouble, and the next call may find it well.
      if (reply.ok) chatOnly.add(request.model);
      return reply;
    },
  };
}

/** Its `chat` throws `OtherProtocol`, and nothing else. */
function createResponsesOnly(options: EndpointOptions): Model {
  const { provider, baseUrl, apiKey = "", headers = {}, extraBody = {}, extraQuery = {}, clock } = options;
  const { noTemperature = false, noForcedTool = false } = options.quirks ?? {};
  let quirks: ResponsesQuirks = { ...noResponsesQuirks, noTemperature, noForcedTool };
  /** Whose opaque parts were refused: made with another key, say. */
  const unreadable = new WeakSet<AssistantMessage>();
  let callsWithoutId = 0;
  const newCallId = () => `call_${clock.now().toString(36)}_${++callsWithoutId}`;

  function givesBack(message: AssistantMessage, { model }: ChatRequest): boolean {
    return (
      (message.model === undefined || message.model === `${provider}/${model}`) && !unreadable.has(message)
    );
  }

  function learnUnreadable(request: ChatRequest): boolean {
    let isNew = false;
    for (const message of request.messages) {
      if (message.role !== "assistant" || !message.thinkingBlocks?.length) continue;
      if (!givesBack(message, request)) continue;
      unreadable.add(message);
      isNew = true;
    }
    return isNew;
  }

  function learn(refusal: Refusal, request: ChatRequest): boolean {
    const { status, body } = refusal;
    if (status === 400 || status === 404 || status === 422) {
      const learnt = learnFromRefusal(body, quirks, request);
      quirks = learnt ?? quirks;
      if (learnt !== undefined || (refusesReasoning(body) && learnUnreadable(request))) return true;
    }
    if (speaksNoResponses(refusal)) throw new OtherProtocol("the server does not speak this protocol");
    return false;
  }

  return createWireModel({
    provider,
    baseUrl,
    secrets: [apiKey, ...Object.values(headers), ...Object.values(extraQuery)],
    clock,
    transport: createTransport(options),
    protocol: {
      target: openaiTarget("/responses", options),
      encode: (request) =>
        encodeResponsesRequest(request, {
          quirks,
          extraBody,
          givesBack: (message) => givesBack(message, request),
        }),
      builder: (_request, onDelta) => createResponsesReply({ onDelta, newCallId }),
      learn,
    },
  });
}
