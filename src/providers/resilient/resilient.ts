/**
 * The one place that decides what happens when a model fails: wait and try again, go on where it broke
 * off, leave out the images, take another model, or give up, all within one deadline.
 */

import type {
  ChatAnswer,
  ChatDelta,
  ChatFailure,
  ChatMessage,
  ChatOptions,
  ChatReply,
  ChatRequest,
  Model,
  ModelError,
  ModelErrorKind,
  TokenScale,
  Usage,
} from "../../core/model.ts";
import type { Clock } from "../../core/platform.ts";
import { abortable } from "../../lib/abort.ts";
import { goOnFrom, outOfQuota, switchesTo, waitsFor } from "../../lib/phrases.ts";
import { tail } from "../../lib/text.ts";
import { type Breaker, createBreaker } from "./breaker.ts";
import { ABORTED, createDeadline, type Deadline } from "./deadline.ts";
import { createImageRefusals } from "./image-refusals.ts";

/** A model that may answer, with its own name and settings. */
export interface Candidate {
  readonly provider: string;
  /** As its provider knows it. */
  readonly name: string;
  /** Called when it is first needed. */
  readonly open: () => Promise<Model>;
  /** Where they differ from the request's. */
  readonly settings?: Pick<ChatRequest, "maxTokens" | "temperature" | "reasoningEffort">;
  readonly scale: TokenScale;
}

/** One call over the wire, for the record. */
export interface ModelCall {
  readonly candidate: Candidate;
  readonly request: ChatRequest;
  readonly reply: ChatReply;
  readonly caller: ChatOptions["caller"];
  readonly latencyMs: number;
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

/**
 * Another model may do better. What is wrong with the request itself would be wrong for it too; but what a
 * stand-in finds wrong may be its own settings, and the next one has others.
 */
function fallsBack(kind: ModelErrorKind, isStandIn: boolean): boolean {
  return kind === "transient" || kind === "auth" || kind === "quota" || (isStandIn && kind === "badRequest");
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
  const breakers = new Map<Candidate, Breaker>(
    candidates.map((candidate) => [candidate, createBreaker(clock)]),
  );
  const imageRefusals = createImageRefusals();
  /** Whose empty account has been told of, until it answers again. */
  const quotaTold = new Set<Candidate>();

  /** One call over the wire. Nobody is asked when `signal` has aborted. */
  async function call(
    candidate: Candidate,
    request: ChatRequest,
    { onDelta, caller }: ChatOptions,
    signal: AbortSignal,
  ): Promise<ChatReply> {
    if (signal.aborted) return { ok: false, error: ABORTED, partial: "" };
    const started = clock.elapsed();
    const reply = await chatUntil(candidate, request, { signal, onDelta });
    onCall({ candidate, request, reply, caller, latencyMs: Math.round(clock.elapsed() - started) });
    return reply;
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
  ): Promise<ChatReply> {
    const session = options.caller?.sessionKey;
    let attempt = 0;
    let same = { message: "", times: 0 };
    let withoutImages = imageRefusals.known(session, candidate);
    for (;;) {
      const request = requestFor(
        candidate,
        withoutImages ? imageRefusals.strip(original) : original,
        progress.text,
      );
      const asked = clock.elapsed();
      const reply = await call(candidate, request, options, deadline.signal);
      const shown = reply.ok ? reply.content : reply.partial;
      progress.text += shown;
      if (shown !== "") progress.replies++;
      if (reply.ok) {
        if (withoutImages) imageRefusals.remember(session, candidate);
        progress.usage = sum(progress.usage, reply.usage);
        if (!isUnfinished(reply) || progress.continuations >= MOST_CONTINUATIONS) return reply;
        progress.cut = { ...reply, model: labelOf(candidate) };
        progress.continuations++;
        continue;
      }
      if (deadline.signal.aborted) return deadline.failure(reply);
      const { error } = reply;
      if (!withoutImages && error.kind === "badRequest" && imageRefusals.concerns(original)) {
        withoutImages = true;
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
      if (deadline.signal.aborted) return deadline.failure(reply);
    }
  }

  /** No model takes the time that belongs to the `others` behind it. */
  async function askInTime(
    candidate: Candidate,
    request: ChatRequest,
    options: ChatOptions,
    { deadline, progress, others }: { deadline: Deadline; progress: Progress; others: number },
  ): Promise<ChatReply> {
    const share = createDeadline(clock, deadline.left() / (others + 1), deadline.signal);
    try {
      const reply = await ask(candidate, request, options, { deadline: share, progress });
      return !reply.ok && deadline.signal.aborted ? deadline.failure(reply) : reply;
    } finally {
      share.stop();
    }
  }

  /** Those that work come first; a model that keeps failing is left alone for a while, if there is another. */
  function order(): readonly Candidate[] {
    const closed = candidates.filter((candidate) => breakers.get(candidate)?.allows() ?? true);
    return closed.length > 0 ? closed : candidates;
  }

  function tellOfQuota(candidate: Candidate, text: string, { onNotice }: ChatOptions): void {
    if (onNotice === undefined || quotaTold.has(candidate)) return;
    quotaTold.add(candidate);
    onNotice({ kind: "quota", text });
  }

  /** Asks the models in turn. The first failure is the one that is told: the others only stood in. */
  async function askAll(
    request: ChatRequest,
    options: ChatOptions,
    deadline: Deadline,
    progress: Progress,
  ): Promise<ChatReply> {
    let first: ChatFailure | undefined;
    const inTurn = order();
    for (const [index, candidate] of inTurn.entries()) {
      const reply = await askInTime(candidate, request, options, {
        deadline,
        progress,
        others: inTurn.length - 1 - index,
      });
      if (reply.ok) {
        breakers.get(candidate)?.succeeded();
        quotaTold.delete(candidate);
        return { ...reply, model: labelOf(candidate) };
      }
      if (options.signal.aborted) return { ok: false, error: ABORTED, partial: "" };
      breakers.get(candidate)?.failed(reply.error.kind);
      const { kind, message } = reply.error;
      // It can be helped, also when it is a stand-in that says so.
      if (kind === "contextOverflow") return reply;
      first ??= reply;
      const next = inTurn[index + 1];
      const goesOn = fallsBack(kind, index > 0) && !deadline.signal.aborted && next !== undefined;
      if (kind === "quota" && (goesOn || progress.cut !== undefined)) {
        tellOfQuota(candidate, outOfQuota(message, goesOn ? labelOf(next) : undefined), options);
      }
      if (!goesOn) return first;
      if (kind !== "quota")
        options.onNotice?.({ kind: "switched", text: switchesTo(message, labelOf(next)) });
    }
    return first ?? { ok: false, error: ABORTED, partial: "" };
  }

  return {
    provider: candidates[0].provider,
    async chat(request, options) {
      const deadline = createDeadline(clock, deadlineMs, options.signal);
      const progress: Progress = { text: "", continuations: 0, usage: undefined, replies: 0, cut: undefined };
      try {
        const reply = await askAll(request, options, deadline, progress);
        if (reply.ok) return joined(reply, progress);
        // An answer that could not be finished is better than none.
        if (progress.cut && reply.error.kind !== "aborted") return joined(progress.cut, progress);
        return { ...reply, partial: progress.text };
      } finally {
        deadline.stop();
      }
    },
  };
}

/** Settles soon after `signal` aborts, whatever the model does, and shows nothing more then. */
async function chatUntil(
  candidate: Candidate,
  request: ChatRequest,
  { signal, onDelta }: ChatOptions,
): Promise<ChatReply> {
  let said = "";
  let isOver = false;
  const listen = (delta: ChatDelta) => {
    if (isOver || signal.aborted) return;
    if (delta.kind === "text") said += delta.text;
    onDelta(delta);
  };
  try {
    const model = await abortable(candidate.open(), signal);
    return await abortable(model.chat(request, { signal, onDelta: listen }), signal);
  } catch (error) {
    if (signal.aborted) return { ok: false, error: ABORTED, partial: said };
    const words = error instanceof Error ? error.message : String(error);
    const message = `${labelOf(candidate)} cannot be used: ${words}`;
    return { ok: false, error: { kind: "badRequest", message }, partial: said };
  } finally {
    isOver = true;
  }
}

/** Cut off by the limit of tokens in the middle of its text. Calls that were cut off are told to the model as errors. */
function isUnfinished({ cutOff, content, toolCalls }: ChatAnswer): boolean {
  return cutOff === true && toolCalls.length === 0 && content.trim() !== "";
}

export function labelOf({ provider, name }: Candidate): string {
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
