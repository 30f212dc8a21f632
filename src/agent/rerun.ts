/** Runs the loop on a recorded turn: the model's answers and the tools' results are those of the record. */

import type { RunEvent, RunResult } from "../core/events.ts";
import { type InboundId, NOWHERE } from "../core/messages.ts";
import type { AssistantMessage, ChatReply, Model, SystemMessage, ToolCall } from "../core/model.ts";
import type { ReplayDifference } from "../core/replay.ts";
import type { StoredMessage, StoredToolCall } from "../core/session.ts";
import { type ToolResult, toolError, toolOk } from "../core/tool.ts";
import type { Toolbox } from "../core/toolbox.ts";
import { acceptableArguments, acceptableName } from "../lib/acceptable-call.ts";
import { createTokenScale } from "../lib/token-scale.ts";
import { failedBecause, INTERRUPTED, type NotMade, notMadeFor, toolFailure } from "../lib/tool-failure.ts";
import { toChat } from "../lib/transcript.ts";
import { runLoop } from "./loop.ts";

export interface RerunDeps {
  readonly tools: Omit<Toolbox, "run">;
  readonly maxRounds: number;
}

export interface RecordedTurn {
  readonly turn: InboundId | undefined;
  readonly system: SystemMessage;
  readonly messages: readonly StoredMessage[];
}

/** An answer of the model and the results of its calls. */
interface RecordedRound {
  readonly answer: StoredMessage;
  readonly calls: readonly StoredToolCall[];
  /** By the id of the call. */
  readonly results: ReadonlyMap<string, string>;
}

const NOTHING_LEFT: ChatReply = {
  ok: false,
  error: { kind: "aborted", message: "Nothing more is recorded" },
  partial: "",
};

/** Resolves to what the loop would do otherwise than the record says. */
export async function rerun(
  { turn, system, messages }: RecordedTurn,
  { tools, maxRounds }: RerunDeps,
  signal: AbortSignal,
): Promise<readonly ReplayDifference[]> {
  const differences: ReplayDifference[] = [];
  const { rounds, strays } = roundsOf(messages);
  const user = messages.find(({ role }) => role === "user");
  /** Of the round that runs: the recorded result of each call, by the id that the loop gives it. */
  const results = new Map<string, string | undefined>();
  let asked = 0;

  const differ = (difference: ReplayDifference) => void differences.push(difference);
  for (const id of strays) differ({ detail: `A result is recorded for the call "${id}", which nobody made` });

  const model: Model = {
    provider: "record",
    async chat() {
      const round = rounds[asked];
      if (round === undefined) return NOTHING_LEFT;
      asked++;
      return replyOf(round);
    },
  };

  /** Compares the calls that the loop is about to make with those of the record. */
  function compareCalls({ content, toolCalls = [] }: AssistantMessage): void {
    const round = asked;
    const { answer, calls } = rounds[round - 1] ?? { answer: undefined, calls: [] };
    if (answer !== undefined && answer.content !== content)
      differ({ round, detail: "The text beside the calls differs", recorded: answer.content, now: content });
    results.clear();
    for (const [index, now] of toolCalls.entries()) {
      const call = calls[index];
      if (call === undefined) {
        differ({ round, detail: `The call of ${now.name} is not recorded`, now: now.arguments });
        continue;
      }
      results.set(now.id, rounds[round - 1]?.results.get(call.id));
      const pairs = [
        // Only of a turn with an id can the ids be made again.
        ["The id", call.id, turn === undefined ? call.id : now.id],
        ["The name", call.function.name, now.name],
        ["The text of the arguments", call.function.arguments, now.arguments],
      ] as const;
      for (const [what, before, after] of pairs) {
        if (before !== after)
          differ({ round, detail: `${what} of call ${index + 1} differs`, recorded: before, now: after });
      }
    }
    for (const call of calls.slice(toolCalls.length))
      differ({ round, detail: `The loop does not make the call of ${call.function.name}` });
  }

  async function run(call: ToolCall): Promise<ToolResult> {
    const round = asked;
    const result = results.get(call.id);
    const problem = tools.problemOf(call);
    if (result === undefined) {
      differ({ round, detail: `No result is recorded for the call of ${call.name}` });
      return toolError(INTERRUPTED);
    }
    const refusal = refusalOf(result);
    if (problem !== undefined && notMadeFor(problem)?.for !== refusal?.for) {
      const now = toolFailure(problem);
      differ({ round, detail: `The call of ${call.name} would be refused`, recorded: result, now });
      return toolError(now);
    }
    // Arguments that were no JSON stand in the record as none at all.
    if (problem === undefined && refusal !== undefined && call.arguments !== "{}")
      differ({ round, detail: `The call of ${call.name} would be made now`, recorded: result });
    return failedBecause(result) === undefined ? toolOk(result) : toolError(result);
  }

  const result = await runLoop(
    {
      // Any will do where none is recorded: the ids that are made of it are not compared then.
      turn: turn ?? ("replay" as InboundId),
      messages: [system, user === undefined ? { role: "user", content: "" } : toChat(user)],
      request: { model: "record", maxTokens: 1 },
      maxRounds,
      // What was left out of the prompt changed what the model said, which is recorded.
      promptTokens: Number.MAX_SAFE_INTEGER,
    },
    {
      model,
      scale: createTokenScale(),
      tools: { ...tools, run },
      run: {
        sessionKey: "replay",
        turn: turn ?? ("replay" as InboundId),
        sender: "",
        origin: "chat",
        channel: NOWHERE,
        chatId: "",
        signal,
      },
      emit: (event: RunEvent) => {
        if (event.type === "assistant.calls") compareCalls(event.message);
      },
    },
  );
  signal.throwIfAborted();
  const end = compareEnds(rounds, asked, result);
  return end === undefined ? differences : [...differences, end];
}

function refusalOf(result: string): NotMade | undefined {
  const problem = failedBecause(result);
  return problem === undefined ? undefined : notMadeFor(problem);
}

function roundsOf(messages: readonly StoredMessage[]) {
  const rounds: (RecordedRound & { results: Map<string, string> })[] = [];
  const strays: string[] = [];
  for (const message of messages) {
    if (message.role === "assistant")
      rounds.push({ answer: message, calls: message.tool_calls ?? [], results: new Map() });
    if (message.role !== "tool") continue;
    const { tool_call_id: id = "", content } = message;
    const round = rounds.findLast(({ calls }) => calls.some((call) => call.id === id));
    if (round === undefined) strays.push(id);
    else if (!round.results.has(id)) round.results.set(id, content);
  }
  return { rounds, strays };
}

function replyOf({ answer, results }: RecordedRound): ChatReply {
  const message = toChat(answer);
  // Lines of the assistant become its messages; the type does not know that.
  const { toolCalls: calls = [], ...rest } = message.role === "assistant" ? message : { content: "" };
  const toolCalls = calls.map((call) => asSent(call, results.get(call.id)));
  const { content, ...more } = rest;
  return {
    ok: true,
    ...more,
    content,
    toolCalls,
    finishReason: toolCalls.length > 0 ? "tool_calls" : "stop",
  };
}

/**
 * A call as the model had made it, as far as its refusal shows that. In the record names have only letters
 * that every provider takes, and arguments that were no JSON stand as none at all, so that those of several
 * calls look the same; the loop, which stops when one call fails again and again, had told them apart.
 */
function asSent(call: ToolCall, result = ""): ToolCall {
  const refusal = refusalOf(result);
  if (refusal?.for === "name" && acceptableName(refusal.name) === call.name)
    return { ...call, name: refusal.name };
  const wasRefused = call.arguments === "{}" && refusal?.for === "arguments";
  // Not if it should look like JSON itself, which would show as another difference.
  return wasRefused && acceptableArguments(result) === "{}" ? { ...call, arguments: result } : call;
}

function compareEnds(
  rounds: readonly RecordedRound[],
  asked: number,
  result: RunResult,
): ReplayDifference | undefined {
  const last = rounds.at(-1);
  const final = last?.calls.length === 0 ? last.answer : undefined;
  if (result.status !== "answered") {
    // A turn that was stopped or that failed has no answer, and ends here too.
    if (final === undefined && asked === rounds.length) return undefined;
    return {
      detail: "The run ends without an answer",
      ...(final === undefined ? {} : { recorded: final.content }),
    };
  }
  const now = result.message.content;
  // The last answer may be the program's own words, which no model was asked for.
  const left = rounds.length - asked - (final === undefined || asked === rounds.length ? 0 : 1);
  if (left > 0)
    return { detail: `The run ends earlier: ${left} of the recorded answers are not asked for`, now };
  if (final === undefined) return { detail: "The run ends with an answer, and none is recorded", now };
  if (final.content !== now) return { detail: "The answer differs", recorded: final.content, now };
  return undefined;
}
