/** Scripts that go on for as long as requests come: what crash and soak tests run against. */

import type { JsonObject } from "../../src/core/json.ts";
import type { Reply } from "./chat-reply.ts";

/** Chooses the reply to a valid request. `index` counts them from 0. */
export type ScriptFunction = (body: JsonObject, index: number) => Reply | Promise<Reply>;

export interface ExecThenAnswer {
  /** Rounds of calls before the answer to each new user message. */
  readonly rounds: number;
  readonly callsPerRound?: number;
  /** `{n}` becomes a number that no other call of this server has. */
  readonly command?: string;
}

/** How many assistant messages with calls stand behind the last user message. */
function roundsDone(body: JsonObject): number {
  const messages = Array.isArray(body["messages"]) ? (body["messages"] as readonly JsonObject[]) : [];
  const lastUser = messages.findLastIndex((message) => message["role"] === "user");
  return messages.slice(lastUser + 1).filter((message) => message["tool_calls"] !== undefined).length;
}

/**
 * For each new user message: `rounds` rounds of `exec` calls, then the text `done {n}`. Since no command
 * is asked for twice, a number that a command wrote twice is a call that was run twice.
 */
export function execThenAnswer({
  rounds,
  callsPerRound = 1,
  command = "echo {n} >> calls.log",
}: ExecThenAnswer): ScriptFunction {
  let calls = 0;
  let answers = 0;
  return (body) => {
    if (roundsDone(body) >= rounds) return { text: ["done ", String(++answers)] };
    const toolCalls = Array.from({ length: callsPerRound }, () => {
      const filled = command.replaceAll("{n}", String(++calls));
      return { name: "exec", arguments: { command: filled } };
    });
    return { toolCalls };
  };
}
