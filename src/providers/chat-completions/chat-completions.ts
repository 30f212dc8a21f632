/** The chat-completions protocol, which most vendors and every local server speak, over the openai package. */

import type { Model } from "../../core/model.ts";
import type { EndpointOptions } from "../wire/endpoint.ts";
import { createEndpointModel } from "../wire/endpoint-model.ts";
import { withoutConversation } from "../wire/extra-body.ts";
import { createLearner } from "../wire/learner.ts";
import { openaiTarget } from "../wire/openai-target.ts";
import { quirkLessons } from "./quirk-lessons.ts";
import { noQuirks, type Quirks } from "./quirks.ts";
import { createReplyBuilder } from "./reply.ts";
import { encodeRequest } from "./request.ts";

export function createChatCompletions(options: EndpointOptions): Model {
  const extraBody = withoutConversation(options.extraBody);
  const first: Quirks = { ...noQuirks, ...options.quirks };
  const { encode, learn, quirksOf } = createLearner<Quirks>({
    first: () => first,
    encode: (request, quirks) => ({ body: encodeRequest(request, quirks, extraBody) }),
    lessons: ({ text }) => quirkLessons(text),
  });
  return createEndpointModel(options, {
    target: openaiTarget("/chat/completions", options),
    encode,
    learn,
    reply(spoken, { model }) {
      return createReplyBuilder({ ...spoken, reasoningIsAnswer: quirksOf(model).reasoningIsAnswer });
    },
  });
}
