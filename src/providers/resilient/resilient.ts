/**
 * The one place that decides what happens when a model fails: wait and try again, go on where it broke
 * off, leave out the images, take another model, or give up, all within one deadline.
 */

import type {
  ChatAnswer,
  ChatMessage,
  ChatOptions,
  ChatRequest,
  Model,
  ModelError,
  Usage,
} from "../../core/model.ts";
import type { Clock } from "../../core/platform.ts";
import type { ModelCall } from "../../core/usage.ts";
import { ABORTED } from "../../lib/aborted.ts";
import { goOnFrom, outOfQuota, switchesTo, waitsFor } from "../../lib/phrases.ts";
import { promptTokens } from "../../lib/request-tokens.ts";
import { tail } from "../../lib/text.ts";
import { callModel, type Failure, openModel, type Reply } from "./call.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import { showsImages, withoutImages } from "./image-refusals.ts";
import type { Standing } from "./standing.ts";

/** A model that may answer, with its own name and settings. */
export interface Candidate {
  readonly provider: string;
  /** As its provider knows it. */
  readonly name: string;
  /** Called when it is first needed. */
  readonly open: () => Promise<Model>;
  /** Where they differ from the request's. */
  readonly settings?: Pick<ChatRequest, "maxTokens" | "temperature" | "reasoningEffort">;
  readonly standing: Standing;
}

export interface ResilientOptions {
  /** In the order in which they are asked. */
  readonly candidates: readonly [Candidate, ...Candidate[]];
  /** A few times, or for as long as the deadline allows. */
  readonly retryMode: "standard" | "persistent";
  /** All attempts of one request together, with the waits between them. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Must not throw. */
  readonly onCall: (call: ModelCall) => void;
}

const WAITS_MS = [1_000, 2_000, 4_000] as const;
/** A server that asks for more than this is not waited for. */
const LONGEST_WAIT_MS = 60_000;
/** Persistent gives up when the same thing has gone wrong so often. */
const SAME_ERRORS = 10;
const MOST_CONTINUATIONS = 3;
/** How much of its own end a model is shown when it goes on. */
const TAIL_CHARS = 64;
/** Shorter waits pass before anybody asks why. */
const NOTEWORTHY_WAIT_MS = 3_000;

/** Another model may do better, and the next request may fail too. What is wrong with this one is wrong for all. */
function isOfModel({ error: { kind, status }, isOurs }: Failure): boolean {
  // Models are retired; then their providers know them no more.
  const isGone = kind === "badRequest" && status === 404;
  return isOurs === true || isGone || kind === "transient" || kind === "auth" || kind === "quota";
}

/** A request on its way: what has been shown of the answer so far, and what it took. */
interface Progress {
  /** All deltas of text joined. */
  text: string;
  continuations: number;
  usage: Usage | undefined;
  /** Replies that said something. */
  replies: number;
  /** The last of them that was an answer as far as it went. */
  cut: ChatAnswer | undefined;
  /** What went wrong last. */
  last: ModelError | undefined;
}

/**
 * The deltas of all attempts joined are the answer's text: after something was shown, a new attempt goes
 * on behind it, and never begins anew.
 */
export function createResilient({
  candidates,
  retryMode,
  deadlineMs,
  clock,
  random,
  onCall,
}: ResilientOptions): Model {
  const isStandIn = (candidate: Candidate) => candidate !== candidates[0];

  /** Nobody is asked when `signal` has aborted. */
  async function call(
    candidate: Candidate,
    request: ChatRequest,
    { onDelta, caller }: ChatOptions,
    signal: AbortSignal,
  ): Promise<Reply> {
    const label = labelOf(candidate);
    const model = await openModel(candidate.open, label, signal);
    if ("ok" in model) return model;
    const started = clock.elapsed();
    const { reply, thought } = await callModel(model, request, { signal, onDelta, label, clock });
    const latencyMs = Math.round(clock.elapsed() - started);
    learnFrom(candidate, request, reply);
    const { provider, name } = candidate;
    onCall({ provider, model: name, request, reply, thought, caller, latencyMs });
    return reply;
  }

  /** How its count of tokens differs from our estimate. */
  function learnFrom(candidate: Candidate, request: ChatRequest, reply: Reply): void {
    const { scale } = candidate.standing;
    if (reply.ok) {
      if (reply.usage) scale.learn(promptTokens(request), reply.usage.input);
    } else if (reply.error.kind === "contextOverflow" && isStandIn(candidate)) {
      // The first one's refusals are told by whoever makes its prompts fit.
      scale.refused(promptTokens(request));
    }
  }

  function delayFor(error: ModelError, attempt: number): number | undefined {
    const { retryAfterMs } = error;
    if (retryAfterMs !== undefined && retryAfterMs > LONGEST_WAIT_MS) return undefined;
    const step = retryMode === "standard" ? WAITS_MS[attempt] : 1_000 * 2 ** attempt;
    if (step === undefined) return undefined;
    return Math.max(Math.min(step * (0.75 + random() / 2), LONGEST_WAIT_MS), retryAfterMs ?? 0);
  }

  /** Asks one model until it answers, or until asking it again makes no sense. */
  async function ask(
    candidate: Candidate,
    original: ChatRequest,
    options: ChatOptions,
    { deadline, progress }: { deadline: Deadline; progress: Progress },
  ): Promise<Reply> {
    const session = options.caller?.sessionKey;
    const { imageRefusals } = candidate.standing;
    let attempt = 0;
    let same = { message: "", times: 0 };
    let isInWords = imageRefusals.known(session);
    for (;;) {
      const request = requestFor(candidate, isInWords ? withoutImages(original) : original, progress.text);
      const asked = clock.elapsed();
      const reply = await call(candidate, request, options, deadline.signal);
      const shown = reply.ok ? reply.content : reply.partial;
      progress.text += shown;
      if (shown !== "") progress.replies++;
      if (reply.ok) {
        if (isInWords) imageRefusals.remember(session);
        progress.usage = sum(progress.usage, reply.usage);
        if (!isUnfinished(reply) || progress.continuations >= MOST_CONTINUATIONS) return reply;
        progress.cut = { ...reply, model: labelOf(candidate) };
        progress.continuations++;
        continue;
      }
      if (deadline.signal.aborted) return deadline.failure(reply, progress.last);
      const { error } = reply;
      progress.last = error;
      if (!isInWords && error.kind === "badRequest" && !reply.isOurs && showsImages(original)) {
        isInWords = true;
        continue;
      }
      if (error.kind !== "transient") return reply;
      same = { message: error.message, times: same.message === error.message ? same.times + 1 : 1 };
      if (same.times >= SAME_ERRORS) return reply;
      // What goes on behind new text is no repetition, but there is an end to it too.
      if (shown.trim() !== "" && progress.continuations++ < MOST_CONTINUATIONS) attempt = 0;
      const wait = delayFor(error, attempt++);
      if (wait === undefined || wait >= deadline.left()) return reply;
      if (clock.elapsed() - asked + wait >= NOTEWORTHY_WAIT_MS)
        options.onNotice?.({ kind: "waiting", text: waitsFor(error.message, wait) });
      // An abort is looked at below.
      await clock.sleep(wait, deadline.signal).catch(() => {});
      if (deadline.signal.aborted) return deadline.failure(reply, progress.last);
    }
  }

  /** No model takes the time that belongs to the `others` behind it. */
  async function askInTime(
    candidate: Candidate,
    request: ChatRequest,
    options: ChatOptions,
    { deadline, progress, others }: { deadline: Deadline; progress: Progress; others: number },
  ): Promise<Reply> {
    const share = createDeadline(clock, deadline.left() / (others + 1), deadline.signal);
    try {
      const reply = await ask(candidate, request, options, { deadline: share, progress });
      return !reply.ok && deadline.signal.aborted ? deadline.failure(reply, progress.last) : reply;
    } finally {
      share.stop();
    }
  }

  /** Those that work come first; a model that keeps failing is left alone for a while, if there is another. */
  function order(): readonly Candidate[] {
    const working = candidates.filter(({ standing }) => standing.breaker.allows());
    return working.length > 0 ? working : candidates;
  }

  /** Once, until it answers again. */
  function tellOfQuota({ standing }: Candidate, text: string, { onNotice }: ChatOptions): void {
    if (onNotice === undefined || standing.quotaTold) return;
    standing.quotaTold = true;
    onNotice({ kind: "quota", text });
  }

  /** Asks the models in turn. The first failure is the one that is told: the others only stood in. */
  async function askAll(
    request: ChatRequest,
    options: ChatOptions,
    deadline: Deadline,
    progress: Progress,
  ): Promise<Reply> {
    let first: Failure | undefined;
    const inTurn = order();
    for (const [index, candidate] of inTurn.entries()) {
      const { standing } = candidate;
      const reply = await askInTime(candidate, request, options, {
        deadline,
        progress,
        others: inTurn.length - 1 - index,
      });
      if (reply.ok) {
        standing.breaker.succeeded();
        standing.quotaTold = false;
        return { ...reply, model: labelOf(candidate) };
      }
      if (options.signal.aborted) return { ok: false, error: ABORTED, partial: "" };
      if (isOfModel(reply)) standing.breaker.failed();
      const { kind, message } = reply.error;
      const failure = isStandIn(candidate) ? namedIn(reply, labelOf(candidate)) : reply;
      first ??= failure;
      const next = inTurn[index + 1];
      // What a stand-in finds wrong may be its own settings, and the next one has others.
      const isItsOwn = isStandIn(candidate) && (kind === "badRequest" || kind === "contextOverflow");
      const mayBeBetter = isOfModel(reply) || isItsOwn;
      const goesOn = mayBeBetter && !deadline.signal.aborted && next !== undefined;
      if (kind === "quota" && (goesOn || progress.cut !== undefined)) {
        tellOfQuota(candidate, outOfQuota(message, goesOn ? labelOf(next) : undefined), options);
      }
      // Too long can be helped, also when it is the last stand-in that says so.
      if (!goesOn) return kind === "contextOverflow" ? failure : first;
      if (kind !== "quota")
        options.onNotice?.({ kind: "switched", text: switchesTo(message, labelOf(next)) });
    }
    return first ?? { ok: false, error: ABORTED, partial: "" };
  }

  return {
    provider: candidates[0].provider,
    async chat(request, options) {
      const deadline = createDeadline(clock, deadlineMs, options.signal);
      const progress: Progress = {
        text: "",
        continuations: 0,
        usage: undefined,
        replies: 0,
        cut: undefined,
        last: undefined,
      };
      try {
        const reply = await askAll(request, options, deadline, progress);
        if (reply.ok) return joined(reply, progress);
        // An answer that could not be finished is better than none.
        if (progress.cut && reply.error.kind !== "aborted") return joined(progress.cut, progress);
        // What single calls had used is recorded with them.
        return { ok: false, error: reply.error, partial: progress.text };
      } finally {
        deadline.stop();
      }
    },
  };
}

function namedIn(reply: Failure, model: string): Failure {
  return { ...reply, error: { ...reply.error, model } };
}

/** Cut off by the limit of tokens in the middle of its text. Calls that were cut off are told to the model as errors. */
function isUnfinished({ cutOff, content, toolCalls }: ChatAnswer): boolean {
  return cutOff === true && toolCalls.length === 0 && content.trim() !== "";
}

export function labelOf({ provider, name }: Pick<Candidate, "provider" | "name">): string {
  return `${provider}/${name}`;
}

function requestFor({ name, settings }: Candidate, request: ChatRequest, shown: string): ChatRequest {
  const { reasoningEffort: _, ...others } = request;
  const own = settings === undefined ? request : { ...others, ...settings };
  return {
    ...own,
    model: name,
    messages: shown.trim() === "" ? request.messages : goOn(request.messages, shown),
  };
}

function goOn(messages: readonly ChatMessage[], shown: string): readonly ChatMessage[] {
  return [
    ...messages,
    { role: "assistant", content: shown },
    { role: "user", content: goOnFrom(tail(shown, TAIL_CHARS)) },
  ];
}

/** What was thought belongs to one reply as a whole, and not to one that was put together. */
function joined(reply: ChatAnswer, { text, usage, replies }: Progress): ChatAnswer {
  if (replies <= 1 && text === reply.content) return reply;
  const { reasoningContent: _, thinkingBlocks: __, ...rest } = reply;
  return { ...rest, content: text, ...(usage === undefined ? {} : { usage }) };
}

function sum(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const cost = (a.cost ?? 0) + (b.cost ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
    ...(cost > 0 ? { cost } : {}),
  };
}
