/** OpenAI's Responses protocol over the openai package; a server that does not speak it is asked by chat completions. */

import type { ChatRequest, Model } from "../../core/model.ts";
import { lazy } from "../../lib/lazy.ts";
import { createRecent } from "../../lib/recent.ts";
import type { EndpointOptions } from "../wire/endpoint.ts";
import { createEndpointModel } from "../wire/endpoint-model.ts";
import { withoutConversation } from "../wire/extra-body.ts";
import { createLearner } from "../wire/learner.ts";
import { openaiTarget } from "../wire/openai-target.ts";
import { createReplayedThoughts } from "../wire/replayed-thoughts.ts";
import { speaksNoResponses } from "./other-protocol.ts";
import { quirkLessons, refusesThoughts } from "./quirk-lessons.ts";
import { noResponsesQuirks, type ResponsesQuirks } from "./quirks.ts";
import { createResponsesReply } from "./reply.ts";
import { encodeResponsesRequest } from "./request.ts";

/** Models that something is remembered about. */
const MOST_MODELS = 100;

export function createResponses(options: EndpointOptions): Model {
  /** Requests that were refused because nobody there speaks this protocol. */
  const misdirected = new WeakSet<ChatRequest>();
  const model = createResponsesOnly(options, (request) => misdirected.add(request));
  const twin = lazy(async () =>
    (await import("../chat-completions/chat-completions.ts")).createChatCompletions(options),
  );
  const models = createRecent<{ isChatOnly: boolean }>({ most: MOST_MODELS });

  return {
    provider: options.provider,
    async chat(request, chatOptions) {
      const known = models.of(request.model, () => ({ isChatOnly: false }));
      if (known.isChatOnly) return (await twin()).chat(request, chatOptions);
      misdirected.delete(request);
      const reply = await model.chat(request, chatOptions);
      if (reply.ok || !misdirected.has(request)) return reply;
      const other = await (await twin()).chat(request, chatOptions);
      // Where both fail the address is wrong, or the server is in trouble, and the next call may find it well.
      known.isChatOnly = other.ok;
      return other;
    },
  };
}

function createResponsesOnly(options: EndpointOptions, onMisdirected: (request: ChatRequest) => void): Model {
  const { noTemperature = false, noForcedTool = false } = options.quirks ?? {};
  const first: ResponsesQuirks = { ...noResponsesQuirks, noTemperature, noForcedTool };
  const extraBody = withoutConversation(options.extraBody);
  const thoughts = createReplayedThoughts(options.provider);
  const { encode, learn } = createLearner<ResponsesQuirks>({
    first: () => first,
    encode(request, quirks) {
      const givesBack = thoughts.allowedTo(request.model);
      return { body: encodeResponsesRequest(request, { quirks, extraBody, givesBack }) };
    },
    lessons: ({ text, request, quirks }) => quirkLessons(text, request, quirks),
    withhold({ text, request: { model, messages } }) {
      if (!refusesThoughts(text)) return;
      const replies = messages.filter((message) => message.role === "assistant");
      thoughts.refuse(replies.filter(thoughts.allowedTo(model)));
    },
  });
  return createEndpointModel(options, {
    target: openaiTarget("/responses", options),
    encode,
    learn(refusal, request) {
      if (learn(refusal, request)) return true;
      if (speaksNoResponses(refusal)) onMisdirected(request);
      return false;
    },
    reply: createResponsesReply,
  });
}
