/** A model behind any protocol: sends, learns from refusals, and turns what goes wrong into an error. */

import type {
  ChatAnswer,
  ChatDelta,
  ChatFailure,
  ChatRequest,
  Model,
  ModelError,
  Usage,
} from "../../core/model.ts";
import type { Clock } from "../../core/platform.ts";
import { abortable } from "../../lib/abort.ts";
import { ABORTED } from "../../lib/aborted.ts";
import { createMask } from "../../lib/mask.ts";
import { BadTarget, CallFailure, Refusal } from "./errors.ts";
import { describeBug, describeFailure } from "./sentences.ts";
import type { Sink, Target, Transport } from "./transport.ts";

/** Puts one reply together. */
export interface ReplyBuilder extends Sink {
  /** The text so far: what its deltas joined give. */
  partial(): string;
  /** What the provider has counted so far. */
  readonly usage: Usage | undefined;
  /** Throws `BadReply` when what arrived is no answer. */
  finish(): ChatAnswer;
}

/** What a protocol is made of. */
export interface Protocol {
  /** Asked before each call. Rejects when the configuration makes no request. */
  target(request: ChatRequest): Promise<Target>;
  encode(request: ChatRequest): Uint8Array<ArrayBuffer>;
  /** Each piece of text goes to `onDelta` as it arrives, whole code points at a time. */
  builder(request: ChatRequest, onDelta: (delta: ChatDelta) => void): ReplyBuilder;
  /**
   * Whether this refusal of `request` taught something new about the server, so that it should be sent
   * again. Each lesson is learnt once, so this ends. What it throws goes through `chat`.
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
  /** Called with what can only be a mistake in this program. Must not throw. */
  readonly onBug?: ((error: unknown) => void) | undefined;
}

export function createWireModel({
  provider,
  baseUrl,
  secrets,
  clock,
  transport,
  protocol,
  onBug = () => {},
}: WireModelOptions): Model {
  const mask = createMask(secrets);

  async function targetFor(request: ChatRequest, signal: AbortSignal): Promise<Target> {
    const found = protocol.target(request).catch((cause: unknown) => {
      throw new BadTarget("the configuration makes no request", { cause });
    });
    const target = await abortable(found, signal);
    // It may have aborted in the same moment.
    signal.throwIfAborted();
    return target;
  }

  function failureOf(error: unknown, request: ChatRequest, builder: ReplyBuilder): ChatFailure {
    const names = { provider, origin: originOf(baseUrl), model: request.model };
    const isBug = !(error instanceof CallFailure);
    if (isBug) onBug(error);
    const described = isBug
      ? describeBug(error, names)
      : describeFailure(error, names, { now: clock.now(), started: builder.started });
    return failed({ ...described, message: mask(described.message) }, builder);
  }

  return {
    provider,
    async chat(request, { signal, onDelta }) {
      for (;;) {
        if (signal.aborted) return { ok: false, error: ABORTED, partial: "" };
        const builder = protocol.builder(request, onDelta);
        try {
          const target = await targetFor(request, signal);
          await transport.send(target, protocol.encode(request), builder, signal);
          return builder.finish();
        } catch (error) {
          if (signal.aborted) return failed(ABORTED, builder);
          const isNew = error instanceof Refusal && !builder.started && protocol.learn(error, request);
          if (!isNew) return failureOf(error, request, builder);
        }
      }
    },
  };
}

function failed(error: ModelError, builder: ReplyBuilder): ChatFailure {
  const { usage, started } = builder;
  return {
    ok: false,
    error,
    partial: builder.partial(),
    ...(usage === undefined ? {} : { usage }),
    ...(started ? { started } : {}),
  };
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
