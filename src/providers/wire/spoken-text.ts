/** The text of a reply as it arrives, freed of the reasoning and the tool calls that a model writes into it. */

import type { ChatDelta, ToolCall } from "../../core/model.ts";
import type { TextCall } from "../../lib/text-calls.ts";
import { createThinkFilter, type ThinkFilter } from "../../lib/think/think-filter.ts";
import { createDeltaText } from "./delta-text.ts";
import { finishCalls } from "./reply-calls.ts";
import { checkRoom } from "./reply-failures.ts";
import type { ThoughtHabit } from "./thought-habits.ts";

export interface SpokenTextOptions {
  readonly onDelta: (delta: ChatDelta) => void;
  /** For the calls in the text. */
  readonly newCallId: () => string;
  /** Tools were offered, so that calls which come as text are calls. */
  readonly toolsOffered?: boolean;
  /** Whether the model's replies begin inside a block of reasoning. */
  readonly habit?: ThoughtHabit;
  /** Reasoning is the answer when there is no other. */
  readonly reasoningIsAnswer?: boolean;
}

export interface SpokenText {
  /** Throws `BadReply`. */
  say(piece: string): void;
  /** Reasoning that the server told apart. */
  think(piece: string): void;
  /** The text so far: what its deltas joined give. What is still held may be reasoning, and is no part of it. */
  partial(): string;
  /** `native` are the protocol's own calls. Servers that find those in the text, too, send both. Throws `BadReply`. */
  finish(
    native: readonly ToolCall[],
    options?: {
      /** The reply ends where the limit of tokens was reached, so that calls at its end may be quoted as well. */
      readonly cutOff?: boolean;
    },
  ): {
    readonly content: string;
    readonly toolCalls: readonly ToolCall[];
    readonly reasoning: string;
  };
}

export function createSpokenText({
  onDelta,
  newCallId,
  toolsOffered = false,
  habit,
  reasoningIsAnswer = false,
}: SpokenTextOptions): SpokenText {
  const text = createDeltaText("text", onDelta);
  const reasoning = createDeltaText("reasoning", onDelta);
  /** With what they were written as, as long as nothing but white space came behind them. */
  const calls: { found: readonly TextCall[]; raw: string }[] = [];
  /** Where the answer begins: what came before turned out to be reasoning. */
  let from = 0;
  let sawStrayCloser = false;
  let hasReasoning = false;
  let filter: ThinkFilter | undefined;

  function addCalls(found: readonly TextCall[], raw: string): void {
    checkRoom(
      calls.reduce((sum, one) => sum + one.found.length, found.length - 1),
      "tool calls",
    );
    calls.push({ found, raw });
  }

  /** Calls end a reply. Before more text they are quoted, and whoever wrote what is quoted must not be obeyed. */
  function addText(piece: string): void {
    const last = calls.at(-1);
    if (last === undefined) {
      text.add(piece);
      return;
    }
    last.raw += piece;
    if (piece.trim() !== "") sayCalls();
  }

  function sayCalls(): void {
    for (const { raw } of calls.splice(0)) text.add(raw);
  }

  function startAnew(): void {
    sawStrayCloser = true;
    text.flush();
    from = text.text.length;
  }

  function createFilter(): ThinkFilter {
    return createThinkFilter({
      sink: { text: addText, reasoning: reasoning.add, calls: addCalls, strayCloser: startAnew },
      // A server that tells the reasoning apart does not leave half of it in the text.
      startsInside: habit?.startsInside === true && !hasReasoning,
      toolCalls: toolsOffered,
    });
  }

  function callsInText(): readonly ToolCall[] {
    return finishCalls(
      calls.flatMap(({ found }) => found).map((call) => ({ ...call, id: "" })),
      newCallId,
    );
  }

  return {
    say(piece) {
      if (piece === "") return;
      filter ??= createFilter();
      filter.push(piece);
    },
    think(piece) {
      hasReasoning ||= piece !== "";
      reasoning.add(piece);
    },
    partial: () => text.text,
    finish(native, { cutOff = false } = {}) {
      filter?.end();
      if (cutOff) sayCalls();
      // A reply without text says nothing about how the model's text begins.
      if (filter) habit?.note(sawStrayCloser);
      const toolCalls = native.length > 0 ? native : callsInText();
      text.flush();
      reasoning.flush();
      const thought = text.text.slice(0, from) + reasoning.text;
      const isAnswer = reasoningIsAnswer && toolCalls.length === 0 && text.text.slice(from).trim() === "";
      if (isAnswer) text.add(reasoning.text);
      const answer = text.text.slice(from);
      // White space between the closer and the answer belongs to neither.
      return {
        content: from > 0 ? answer.trimStart() : answer,
        toolCalls,
        reasoning: isAnswer ? "" : thought,
      };
    },
  };
}
