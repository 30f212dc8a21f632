/** Anthropic's own protocol, over its package. */

import type { Model } from "../../core/model.ts";
import type { EndpointOptions } from "../wire/endpoint.ts";
import { createEndpointModel } from "../wire/endpoint-model.ts";
import { withoutConversation } from "../wire/extra-body.ts";
import { createLearner } from "../wire/learner.ts";
import { createReplayedThoughts } from "../wire/replayed-thoughts.ts";
import { quirkLessons, refusesThoughts } from "./quirk-lessons.ts";
import { type AnthropicQuirks, quirksOf } from "./quirks.ts";
import { createAnthropicReply } from "./reply.ts";
import { type EncodedRequest, encodeAnthropic } from "./request.ts";
import { anthropicTarget } from "./target.ts";

export function createAnthropic(options: EndpointOptions): Model {
  const extraBody = withoutConversation(options.extraBody);
  const thoughts = createReplayedThoughts(options.provider);
  const { encode, learn } = createLearner<AnthropicQuirks, EncodedRequest>({
    first: (model) => quirksOf(model, options.quirks),
    encode: (request, quirks) =>
      encodeAnthropic(request, { quirks, mayReplay: thoughts.allowedTo(request.model), extraBody }),
    lessons: ({ text, sent }) => quirkLessons(text, sent.settings),
    withhold({ text, sent }) {
      if (refusesThoughts(text)) thoughts.refuse(sent.replayed);
    },
  });
  return createEndpointModel(options, {
    target: anthropicTarget(options),
    encode,
    learn,
    reply: createAnthropicReply,
  });
}
