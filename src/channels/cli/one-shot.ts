/** One message, its answer, the end: what `nanobot agent -m` and a pipe do. */

import type { Channel, ChannelContext } from "../../core/channel.ts";
import { Stopped } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { FinalMessage, InboundId, OutboundMessage } from "../../core/messages.ts";
import { never } from "../../lib/abort.ts";
import { safeJson } from "../../lib/safe-json.ts";
import { oneLine } from "../../lib/text.ts";
import { activityOf, THINKING, WAITING } from "./activity.ts";
import type { CliConfig } from "./config.ts";
import { createInbound } from "./inbound.ts";
import { askWithKeys, createQuestions } from "./question.ts";
import { createScreen } from "./screen.ts";
import { createSpinner } from "./spinner.ts";
import { createTranscript } from "./transcript.ts";

function report(session: string, final: FinalMessage, tools: readonly JsonObject[]): JsonObject {
  const { usage, model } = final.metadata;
  return {
    session,
    outcome: final.outcome,
    content: final.content,
    tools,
    ...(final.media.length > 0 && { media: final.media.map(({ path }) => path) }),
    ...(usage !== undefined && { usage }),
    ...(model !== undefined && { model }),
  };
}

function isAnswer(message: OutboundMessage, question: InboundId | undefined): message is FinalMessage {
  return message.kind === "final" && question !== undefined && message.answers.includes(question);
}

/** The channel that emits `content` and is at its end when the final message that answers it was shown. */
export function createOneShot(content: string, config: CliConfig, context: ChannelContext): Channel {
  const { terminal, clock, emit } = context;
  const { session, media, json, markdown, color, notice } = config;
  const screen = createScreen(terminal, { footer: terminal.stderrIsTty ? "err" : undefined });
  const answers = json ? "none" : terminal.stdoutIsTty ? "stream" : "whole";
  const transcript = createTranscript({ terminal, screen, answers, markdown, color, asides: "err" });
  const spinner = createSpinner(screen, terminal, clock, {
    preview: () => transcript.pending(),
    color: color && terminal.stderrIsTty,
  });
  const tools: JsonObject[] = [];
  const answered = Promise.withResolvers<void>();
  // Only `start` waits for it, and a failure before or after that is told to whoever called `send`.
  answered.promise.catch(() => {});
  const stopped = new AbortController();
  let settled = Promise.resolve();
  let question: InboundId | undefined;
  let isAnswered = false;
  let isOver = false;
  let activity = THINKING;
  const questions = createQuestions({
    terminal,
    screen,
    stream: "err",
    clock,
    color: color && terminal.stderrIsTty,
    onShow() {
      spinner.stop();
      transcript.end();
    },
    onGone: () => spinner.start(activity),
    // While keys are read, Ctrl-C is one of them and no signal.
    onInterrupt: () => answered.reject(new Stopped("user")),
  });

  async function exchange(aborted: Promise<void>): Promise<void> {
    try {
      if (notice !== undefined) transcript.say(oneLine(notice, 1_000));
      const message = createInbound(session, context)(content, media);
      question = message.id;
      spinner.start(activity);
      await Promise.race([
        emit(message, never)
          .then(() => answered.promise)
          .then(restSaid),
        aborted,
      ]);
    } finally {
      isOver = true;
      questions.inputEnded();
      spinner.stop();
      transcript.end();
      screen.close();
      await terminal.flush();
    }
  }

  /** What was begun in the background speaks later. */
  async function restSaid(): Promise<void> {
    isAnswered = true;
    wait();
    await context.quiet?.();
  }

  function wait(): void {
    if (isOver) return;
    activity = WAITING;
    spinner.start(activity);
  }

  async function show(message: OutboundMessage): Promise<void> {
    await questions.gone();
    const last = isAnswer(message, question);
    const isLater = isAnswered && message.kind === "final" && message.answers.length > 0;
    if (last || isLater) spinner.stop();
    if (message.kind === "toolHint") tools.push(message.metadata);
    activity = activityOf(message) ?? activity;
    spinner.say(activity);
    transcript.show(message);
    if (isLater) wait();
    if (json && (last || isLater)) terminal.out(`${safeJson(report(session, message, tools.splice(0)))}\n`);
  }

  /** Whoever waits for the answer hears of what keeps it from being shown. */
  async function failing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      answered.reject(error);
      throw error;
    }
  }

  return {
    async start(signal) {
      const ended = AbortSignal.any([signal, stopped.signal]);
      if (ended.aborted) return;
      const asked = exchange(new Promise((resolve) => ended.addEventListener("abort", () => resolve())));
      // `stop` waits for the end of `start`; how it ended is for whoever called `start`.
      settled = asked.catch(() => {});
      await asked;
    },

    async stop() {
      stopped.abort();
      await settled;
    },

    // Whoever cannot type, or see the question, is not asked.
    ...(terminal.stdinIsTty && terminal.stderrIsTty ? { ask: askWithKeys(questions, terminal) } : {}),

    async show(message) {
      await failing(() => show(message));
    },

    async send({ message }) {
      await failing(async () => {
        await show(message);
        await terminal.flush();
      });
      if (isAnswer(message, question)) answered.resolve();
      return "";
    },
  };
}
