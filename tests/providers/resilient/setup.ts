/** Scripted models behind the resilient one, on a clock that jumps to whatever comes next. */

import type {
  ChatDelta,
  ChatOptions,
  ChatReply,
  ChatRequest,
  Model,
  ModelErrorKind,
  ModelNotice,
} from "../../../src/core/model.ts";
import type { ModelCall } from "../../../src/core/usage.ts";
import { never } from "../../../src/lib/abort.ts";
import {
  type Candidate,
  createResilient,
  type ResilientOptions,
} from "../../../src/providers/resilient/resilient.ts";
import { createStanding } from "../../../src/providers/resilient/standing.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import { createFakeModel, type FakeModel, type Scripted } from "../../fakes/model.ts";

const HOUR_MS = 3_600_000;

export interface Outcome {
  readonly reply: ChatReply;
  /** All of the text that was shown. */
  readonly text: string;
  readonly reasoning: string;
  readonly notices: readonly ModelNotice[];
  /** Milliseconds it took. */
  readonly tookMs: number;
}

interface Asked {
  /** `m0`, `m1`, … */
  readonly model: string;
  readonly at: number;
}

interface Options extends Partial<Omit<ResilientOptions, "candidates" | "clock">> {
  /** Of the models, by their place. */
  readonly settings?: readonly Candidate["settings"][];
  /** By the place of a model that cannot be opened. */
  readonly broken?: readonly number[];
}

type Ask = Partial<ChatRequest> & Partial<Pick<ChatOptions, "signal" | "caller" | "onNotice">>;

/** One script for each model, in the order in which they are asked. */
export function setup(
  scripts: readonly [readonly Scripted[], ...(readonly Scripted[])[]],
  { settings = [], broken = [], ...options }: Options = {},
) {
  const clock = createFakeClock();
  const calls: ModelCall[] = [];
  const asked: Asked[] = [];
  const models = scripts.map((script) => createFakeModel(...script));

  function candidate(model: FakeModel, index: number): Candidate {
    const name = `m${index}`;
    const watched: Model = {
      provider: `p${index}`,
      chat(request, chatOptions) {
        asked.push({ model: name, at: clock.elapsed() });
        return model.chat(request, chatOptions);
      },
    };
    const own = settings[index];
    return {
      provider: `p${index}`,
      name,
      async open() {
        if (broken.includes(index)) throw new Error("Cannot find package");
        return watched;
      },
      standing: createStanding(clock),
      ...(own === undefined ? {} : { settings: own }),
    };
  }

  const candidates = models.map(candidate);
  const [first, ...rest] = candidates;
  if (first === undefined) throw new Error("At least one model is needed");
  const resilient = createResilient({
    candidates: [first, ...rest],
    retryMode: "standard",
    deadlineMs: 900_000,
    clock,
    random: () => 0.5,
    onCall: (call) => calls.push(call),
    ...options,
  });

  /** Begins a request, and leaves the clock to the test. */
  function begin({ signal = never, caller, onNotice, ...request }: Ask = {}): Promise<Outcome> {
    const deltas: ChatDelta[] = [];
    const notices: ModelNotice[] = [];
    const started = clock.elapsed();
    const textOf = (kind: ChatDelta["kind"]) =>
      deltas.flatMap((delta) => (delta.kind === kind ? [delta.text] : [])).join("");
    return resilient
      .chat(
        {
          model: "wanted",
          messages: [{ role: "user", content: "hi" }],
          tools: [],
          toolChoice: "auto",
          maxTokens: 100,
          ...request,
        },
        {
          signal,
          onDelta: (delta) => void deltas.push(delta),
          onNotice: onNotice ?? ((notice) => void notices.push(notice)),
          ...(caller === undefined ? {} : { caller }),
        },
      )
      .then((reply) => ({
        reply,
        text: textOf("text"),
        reasoning: textOf("reasoning"),
        notices,
        tookMs: clock.elapsed() - started,
      }));
  }

  return {
    clock,
    models,
    scales: candidates.map(({ standing }) => standing.scale),
    calls,
    asked,
    resilient,
    begin,
    /** Runs a request to its end. One that does not end by itself within the hour fails the test. */
    async ask(request: Ask = {}): Promise<Outcome> {
      let outcome: Outcome | undefined;
      const running = begin(request).then((settled) => {
        outcome = settled;
      });
      const started = clock.elapsed();
      await clock.advance(0);
      while (outcome === undefined && clock.elapsed() - started < HOUR_MS) await clock.advance(500);
      if (outcome === undefined) throw new Error("The request did not settle");
      await running;
      return outcome;
    },
    /** Sees a request that was stopped to its end: a model gets one turn of the event loop to say what it had. */
    async end(running: Promise<Outcome>): Promise<Outcome> {
      await clock.advance(0);
      await clock.advance(0);
      return running;
    },
  };
}

/** A failure, with the text that came before it. */
export function failure(
  kind: ModelErrorKind,
  { message = `it is ${kind}`, partial = "", ...rest }: FailureOptions = {},
): Scripted {
  return { error: { kind, message, ...rest }, partial };
}

interface FailureOptions {
  readonly message?: string;
  readonly partial?: string;
  readonly retryAfterMs?: number;
  readonly status?: number;
}

const usage = { input: 10, output: 5, cached: 2, reasoning: 1 };

/** An answer that the limit of tokens cut off. */
export function cutOff(content: string): Scripted {
  return async (_, { onDelta }) => {
    if (content !== "") onDelta({ kind: "text", text: content });
    return { ok: true, content, toolCalls: [], finishReason: "length", cutOff: true, usage };
  };
}

/** Says something and then never settles, whatever its signal does. `tell` keeps the way to say more. */
export function deaf(text: string, tell: (say: (text: string) => void) => void = () => {}): Scripted {
  return (_, { onDelta }) => {
    const say = (more: string) => onDelta({ kind: "text", text: more });
    if (text !== "") say(text);
    tell(say);
    return new Promise(() => {});
  };
}

/** What the models were asked at: `m0@0 m0@1000`. */
export function trace(asked: readonly Asked[]): string {
  return asked.map(({ model, at }) => `${model}@${at}`).join(" ");
}
