/** One step of putting a place into memory: the next turns of it, with a model, or raw when no model could. */

import type { BackgroundPause } from "../core/background.ts";
import type { Clock, Lock, Locks, Log } from "../core/platform.ts";
import type { SessionStore, Unconsolidated } from "../core/session.ts";
import { limitSignal } from "../lib/abort.ts";
import { estimateTokens } from "../lib/estimate.ts";
import type { ConsolidationModel } from "./ask.ts";
import { conversationText, type Telling } from "./conversation.ts";
import type { Job, Next } from "./queue.ts";
import type { Remember, Remembered } from "./remember.ts";
import type { Written, WrittenNotes } from "./written.ts";

/** Of a conversation in one question, whatever the model takes: it overlooks things in more. */
const MOST_TOKENS = 24_000;
/** What a question takes beside the facts and the conversation, by our estimate. */
const QUESTION_TOKENS = 800;
/** The part of a prompt that it may have, and the least with which the facts are shown beside it. */
const SHARE = 0.5;
const LEAST_SHARE = 0.1;
const FEWEST_TOKENS = 100;
/** The part of its longest reply that the facts may take, so that a model can give them back whole beside an entry. */
const FACTS_SHARE = 0.8;

/**
 * Of a conversation that was never put into memory, in tokens, unless a prompt takes more: years of one that was copied
 * here would cost hundreds of questions.
 */
const MOST_BEHIND = 200_000;
/** For all that nobody asked for. What remains is looked at when somebody speaks there again, or at the next start. */
const MOST_FOUND_QUESTIONS = 50;

/** After the first failure, the second, …; then no model is asked any more. */
const WAITS_MS = [30_000, 120_000] as const;
const MOST_ATTEMPTS = WAITS_MS.length + 1;
/** When the disk or the settings are to blame. */
const LONG_WAIT_MS = 10 * 60_000;
/** Between two looks at whether the pause is over that the provider's refusal began. */
const PAUSE_MS = 5 * 60_000;

/** A turn may go on for hours, and others need the memory meanwhile. */
const LONGEST_LOCK_WAIT_MS = 10_000;
const AGAIN_MS = 30_000;

export interface StepJob extends Job {
  /** That failed, of the turns that come next. */
  attempts: number;
  /** What a model refused as too long is asked in parts of this size. */
  divisor: number;
  /** The model had more to say than it may. */
  isWithoutFacts: boolean;
  /** In the history already, and not noted in the session yet. */
  written: Written | undefined;
}

export function createStepJob(job: Job): StepJob {
  return { ...job, ...fresh() };
}

function fresh(): Omit<StepJob, keyof Job> {
  return { attempts: 0, divisor: 1, isWithoutFacts: false, written: undefined };
}

export interface StepOptions {
  readonly sessions: Pick<SessionStore, "unconsolidated" | "consolidated">;
  readonly model: () => Promise<ConsolidationModel>;
  readonly remember: Remember;
  readonly notes: WrittenNotes;
  readonly telling: Telling;
  readonly clock: Clock;
  readonly locks: Locks;
  readonly log: Log;
  readonly workspace: string;
  readonly keepMessages: number;
  readonly pause: BackgroundPause;
  readonly isPatient: boolean;
}

export function createStep(options: StepOptions): (job: StepJob, signal: AbortSignal) => Promise<Next> {
  const { sessions, model, remember, notes, telling, clock, locks, log, workspace, pause, isPatient } =
    options;
  let foundQuestions = 0;
  let isTold = false;

  /** A process that is about to end leaves what must wait to the next one. */
  const later = (inMs: number): Next => (isPatient ? { inMs } : "done");

  /** Who waits for a process to end hears once that something stays undone, and how it came to that only if they ask. */
  function tell(message: string, details: Readonly<Record<string, unknown>>): void {
    if (!isPatient && !isTold) log.warn(message);
    isTold = true;
    const say = isPatient ? log.warn : log.info;
    say(message, details);
  }

  interface Batch {
    readonly turns: Unconsolidated;
    readonly withFacts: boolean;
  }

  /** The next turns, as many as one question takes beside the facts. */
  async function nextTurns(
    job: StepJob,
    choice: ConsolidationModel,
    signal: AbortSignal,
  ): Promise<Batch | undefined> {
    const prompt = choice.scale.fit(choice.promptTokens);
    const facts = job.isWithoutFacts ? undefined : await remember.facts();
    const factsTokens = estimateTokens(facts ?? "");
    const room = prompt - QUESTION_TOKENS - factsTokens;
    const isRoomFor = room >= prompt * LEAST_SHARE && factsTokens <= choice.maxTokens * FACTS_SHARE;
    const withFacts = facts !== undefined && isRoomFor;
    const most = Math.min(MOST_TOKENS, prompt * SHARE, withFacts ? room : prompt) / job.divisor;
    let maxTokens = Math.max(FEWEST_TOKENS, Math.floor(most));
    for (const limit = maxTokens; ; maxTokens = Math.floor(maxTokens / 2)) {
      const turns = await sessions.unconsolidated(job.place, {
        maxTokens,
        keepTokens: job.keepTokens,
        mostTokens: Math.max(MOST_BEHIND, prompt),
        signal,
      });
      if (turns === undefined) return undefined;
      // Many short lines take more as text than they did as messages.
      const taken = estimateTokens(conversationText(turns.messages, telling));
      if (taken > limit * 1.2 && maxTokens > FEWEST_TOKENS) continue;
      if (facts !== undefined && !isRoomFor) {
        log.warn("Left MEMORY.md as it is, because it is too long for the model", { tokens: factsTokens });
      }
      return { turns, withFacts };
    }
  }

  function failed(job: StepJob, turns: Unconsolidated, result: Extract<Remembered, { ok: false }>): Next {
    const { problem, kind, isCutOff } = result;
    if (kind === "quota" || kind === "auth") {
      pause.observe({ origin: undefined, error: kind });
      tell("Memory waits for the model's provider", { session: turns.key, problem });
      return later(PAUSE_MS);
    }
    if (kind === "contextOverflow") job.divisor *= 2;
    job.isWithoutFacts ||= isCutOff;
    const waitMs = isPatient ? WAITS_MS[job.attempts] : undefined;
    job.attempts++;
    const attempt = isPatient ? log.warn : log.info;
    attempt("Could not put a conversation into memory", {
      session: turns.key,
      attempt: job.attempts,
      problem,
    });
    return waitMs === undefined ? "now" : { inMs: waitMs };
  }

  /** Notes in the session that its turns are in memory. */
  async function mark(job: StepJob, { turns, summary }: Written, signal: AbortSignal): Promise<Next> {
    const limited = limitSignal(signal, { clock, ms: isPatient ? LONGEST_LOCK_WAIT_MS : undefined });
    try {
      const isNoted = await sessions.consolidated(turns, {
        keepMessages: options.keepMessages,
        ...(summary === undefined ? {} : { summary }),
        signal: limited.signal,
      });
      await notes.remove(turns);
      // What was too long for the model is so for what comes next, too.
      Object.assign(job, { ...fresh(), divisor: job.divisor });
      if (isNoted) log.info("Put a part of a conversation into memory", { session: turns.key });
      return isNoted && turns.hasMore ? "now" : "done";
    } catch (error) {
      if (signal.aborted || !limited.signal.aborted) throw error;
      return { inMs: AGAIN_MS };
    } finally {
      limited.release();
    }
  }

  function enough({ place }: StepJob): Next {
    log.info("Left a conversation for later, because many wait to be put into memory", { ...place });
    return "done";
  }

  /** Under the lock of all that writes memory. */
  async function work(job: StepJob, signal: AbortSignal): Promise<Next> {
    const choice = await model();
    const batch = await nextTurns(job, choice, signal);
    if (batch === undefined) return "done";
    const { turns, withFacts } = batch;
    job.written = await notes.find(turns);
    if (job.written !== undefined) return mark(job, job.written, signal);
    let summary: string | undefined;
    if (choice.offline || job.attempts >= MOST_ATTEMPTS) {
      await remember.keepRaw(turns);
      // The stand-in is no model, and whoever chose it knows that.
      const say = choice.offline ? log.info : tell;
      say("Kept a part of a conversation as it was said, because no model summed it up", {
        session: turns.key,
        messages: turns.messages.length,
      });
    } else {
      if (job.isFound && foundQuestions++ >= MOST_FOUND_QUESTIONS) return enough(job);
      const result = await remember.remember(turns, { choice, withFacts, signal });
      if (!result.ok) {
        signal.throwIfAborted();
        return failed(job, turns, result);
      }
      pause.observe({ origin: undefined, error: undefined });
      summary = result.summary === "" ? undefined : result.summary;
    }
    job.written = { turns, summary };
    await notes.add(job.written);
    return mark(job, job.written, signal);
  }

  async function step(job: StepJob, signal: AbortSignal): Promise<Next> {
    if (job.written !== undefined) return mark(job, job.written, signal);
    const pausedMs = pause.leftMs();
    // It can end before its time.
    if (pausedMs > 0) return later(Math.min(pausedMs, PAUSE_MS));
    const lock: Lock = await locks.acquire(`consolidation:${workspace}`, signal);
    try {
      return await work(job, signal);
    } finally {
      await lock.release();
    }
  }

  return async (job, signal) => {
    try {
      return await step(job, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      // Then no model is asked any more: it is not to blame.
      if (job.written === undefined) job.attempts++;
      log.error("Could not put a conversation into memory", { error });
      return later(LONG_WAIT_MS);
    }
  };
}
