/** Anthropic's own protocol, over its package. */

import type { AssistantMessage, ChatMessage, ChatRequest, Model } from "../../core/model.ts";
import type { EndpointOptions } from "../wire/endpoint.ts";
import { createTransport } from "../wire/transport.ts";
import { createWireModel, type Protocol } from "../wire/wire-model.ts";
import { createAnthropicReply } from "./reply.ts";
import { type Encoded, encodeAnthropic } from "./request.ts";
import { type AnthropicQuirks, learnFrom, quirksOf } from "./settings.ts";
import { anthropicTarget } from "./target.ts";

export function createAnthropic(options: EndpointOptions): Model {
  const { provider, baseUrl, apiKey = "", headers = {}, extraQuery = {}, clock } = options;
  let callsWithoutId = 0;
  const newCallId = () => `call_${clock.now().toString(36)}_${++callsWithoutId}`;
  return createWireModel({
    provider,
    baseUrl,
    secrets: [apiKey, ...Object.values(headers), ...Object.values(extraQuery)],
    clock,
    transport: createTransport(options),
    protocol: {
      target: anthropicTarget(options),
      builder: (_request, onDelta) => createAnthropicReply({ onDelta, newCallId }),
      ...createEncoder(options),
    },
  });
}

/** Encodes requests by what is known of their models, and learns from refusals. */
function createEncoder({
  provider,
  quirks: configured,
  extraBody = {},
}: EndpointOptions): Pick<Protocol, "encode" | "learn"> {
  const known = new Map<string, AnthropicQuirks>();
  const refused = new WeakSet<ChatMessage>();
  // Requests that run at the same time are refused for the same reason: each is judged by what it said itself.
  const sent = new WeakMap<ChatRequest, Encoded>();
  const quirksFor = (model: string) => known.get(model) ?? quirksOf(model, configured);

  return {
    encode(request) {
      const writer = `${provider}/${request.model}`;
      const mayReplay = (message: AssistantMessage) =>
        (message.model ?? writer) === writer && !refused.has(message);
      const encoded = encodeAnthropic(request, { quirks: quirksFor(request.model), mayReplay, extraBody });
      sent.set(request, encoded);
      return encoded.body;
    },
    learn({ status, body }, request) {
      const encoded = sent.get(request);
      if (encoded === undefined || (status !== 400 && status !== 422)) return false;
      const learnt = learnFrom(body, encoded.settings);
      if (learnt !== undefined) {
        known.set(request.model, { ...quirksFor(request.model), ...learnt });
        return true;
      }
      // Thinking is bound to what stood before it, which may have been shortened since.
      if (encoded.replayed.size === 0 || !/thinking|signature/i.test(body)) return false;
      for (const message of encoded.replayed) refused.add(message);
      return true;
    },
  };
}
