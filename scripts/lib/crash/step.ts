/** Reads from a request how far a conversation has come: what is asked, what was done for it, what was said. */

import { goOnFrom } from "../../../src/lib/phrases.ts";
import { findMarks, findRequests, type Request, readMark } from "./marks.ts";

export interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { name: string; arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** How the program asks for the rest of a reply that was cut off. */
const GO_ON = goOnFrom("").split(".")[0] ?? "";

/** Where a conversation stands. */
export interface Step {
  /** What was asked since the last answer. */
  readonly requests: readonly Request[];
  /** What was said of the reply, before it was cut off. */
  readonly begun: string;
  /** Rounds of calls since then. */
  readonly round: number;
  /** Answers that the `message` tool gave, or may have given. */
  readonly answered: ReadonlySet<number>;
  /** Those that it may have given. */
  readonly uncertain: readonly number[];
  /** Messages for whose sake another chat was told, says the newest result. */
  readonly told: readonly number[];
}

export function readStep(all: readonly Message[]): Step {
  // After a reply that was cut off, what came of it and the request to go on stand behind the conversation.
  const isCutOff = textOf(all.at(-1)?.content).startsWith(GO_ON);
  const messages = isCutOff ? all.slice(0, -2) : all;
  const lastAnswer = messages.findLastIndex(
    ({ role, tool_calls }) => role === "assistant" && (tool_calls ?? []).length === 0,
  );
  const since = messages.slice(lastAnswer + 1);
  const calls = since.flatMap(({ tool_calls }) => tool_calls ?? []);
  const sent = calls.flatMap((call) => {
    if (call.function.name !== "message") return [];
    const result = textOf(since.find(({ tool_call_id }) => tool_call_id === call.id)?.content);
    const isUncertain = /outcome unknown/.test(result);
    if (/^Error/.test(result) && !isUncertain) return [];
    return findMarks(call.function.arguments).map((mark) => ({ ...readMark(mark), isUncertain }));
  });
  const answers = sent.filter(({ kind }) => kind === "answer");
  return {
    requests: since.flatMap(({ role, content }) => (role === "user" ? findRequests(textOf(content)) : [])),
    begun: isCutOff ? textOf(all.at(-2)?.content) : "",
    round: since.filter(({ tool_calls }) => (tool_calls ?? []).length > 0).length,
    answered: new Set(answers.map(({ number }) => number)),
    uncertain: answers.filter(({ isUncertain }) => isUncertain).map(({ number }) => number),
    told: sent
      .filter(({ kind, isUncertain }) => kind === "forward" && !isUncertain)
      .map(({ number }) => number),
  };
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : (JSON.stringify(content) ?? "");
}
