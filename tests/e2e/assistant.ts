/** A model that is what the program asks it to be: the agent, a subagent, or a judge that answers by a call. */

import type { JsonObject } from "../../src/core/json.ts";
import type { Reply } from "../fakes/chat-reply.ts";
import { echo, lastSaid } from "./gateway.ts";

interface Request {
  readonly body: JsonObject;
  /** The text of the last message of the user. */
  readonly said: string;
  /** The last message is the result of a call. */
  readonly result: string | undefined;
}

export type Answer = (request: Request) => Reply | Promise<Reply>;

export interface Roles {
  readonly agent?: Answer;
  readonly subagent?: Answer;
  /** By the name of the one tool that is offered. */
  readonly judges?: Readonly<Record<string, Answer>>;
}

function toolNames(body: JsonObject): readonly string[] {
  const tools = (body["tools"] ?? []) as readonly { function: { name: string } }[];
  return tools.map((tool) => tool.function.name);
}

function resultOf(body: JsonObject): string | undefined {
  const messages = body["messages"] as readonly { role: string; content: unknown }[];
  const last = messages.at(-1);
  return last?.role === "tool" ? String(last.content) : undefined;
}

export function textOf(body: JsonObject): string {
  return JSON.stringify(body["messages"]);
}

const repeat: Answer = ({ body }) => echo(body);

export function assistant({ agent = repeat, subagent = repeat, judges = {} }: Roles) {
  return (body: JsonObject): Reply | Promise<Reply> => {
    const names = toolNames(body);
    const request = { body, said: lastSaid(body), result: resultOf(body) };
    const judge = names.length === 1 ? judges[names[0] ?? ""] : undefined;
    if (judge !== undefined) return judge(request);
    return names.includes("spawn") ? agent(request) : subagent(request);
  };
}

export function call(name: string, args: JsonObject): Reply {
  return { toolCalls: [{ name, arguments: args }] };
}
