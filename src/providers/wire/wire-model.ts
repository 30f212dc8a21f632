/** A model behind any protocol: sends, learns from refusals, and turns what goes wrong into an error. */

import type { ChatAnswer, ChatDelta, ChatReply, ChatRequest, Model, ModelError } from "../../core/model.ts";
import type { Clock } from "../../core/platform.ts";
import { createMask } from "../../lib/mask.ts";
import { describeFailure, Refusal } from "./model-failure.ts";
import type { Sink, Target, Transport } from "./transport.ts";

/** Puts one reply together. */
export interface ReplyBuilder extends Sink {
  /** The text so far: what its deltas joined give. */
  partial(): string;
  /** Throws `BadReply` when what arrived is no answer. */
  finish(): ChatAnswer;
}

/** What a protocol is made of. */
export interface Protocol {
  /** Asked before each call. */
  target(request: ChatRequest): Promise<Target>;
  encode(request: ChatRequest): Uint8Array<ArrayBuffer>;
  /** Each piece of text goes to `onDelta` as it arrives, whole code points at a time. */
  builder(request: ChatRequest, onDelta: (delta: ChatDelta) => void): ReplyBuilder;
  /**
   * Whether this refusal of `request` taught something new about the server, so that it should be sent
   * again. Each lesson is learnt once, so this ends.
   */
  learn(refusal: Refusal, request: ChatRequest): boolean;
}

export interface WireModelOptions {
  /** The row or endpoint, as people know it. */
  readonly provider: string;
  readonly baseUrl: string;
  /** Never part of a message. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly transport: Transport;
  readonly protocol: Protocol;
}

export function createWireModel({
  provider,
  baseUrl,
  secrets,
  clock,
  transport,
  protocol,
}: WireModelOptions): Model {
  const mask = createMask(secrets);

  function failureOf(error: unknown, request: ChatRequest, builder: ReplyBuilder): ChatReply {
    const partial = builder.partial();
    const names = { provider, origin: originOf(baseUrl), model: request.model };
    const described = describeFailure(error, names, { now: clock.now(), started: builder.started });
    return { ok: false, error: { ...described, message: mask(described.message) }, partial };
  }

  return {
    provider,
    async chat(request, { signal, onDelta }) {
      for (;;) {
        if (signal.aborted) return { ok: false, error: ABORTED, partial: "" };
        const builder = protocol.builder(request, onDelta);
        try {
          const target = await protocol.target(request);
          await transport.send(target, protocol.encode(request), builder, signal);
          return builder.finish();
        } catch (error) {
          if (signal.aborted) return { ok: false, error: ABORTED, partial: builder.partial() };
          const isNew = error instanceof Refusal && !builder.started && protocol.learn(error, request);
          if (!isNew) return failureOf(error, request, builder);
        }
      }
    },
  };
}

const ABORTED: ModelError = { kind: "aborted", message: "The request was stopped" };

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
