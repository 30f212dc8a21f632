/** Runs a subagent under Deno: whether its thread asks the model, runs a tool and reports what came of it. */

import type { JsonObject } from "../../src/core/json.ts";
import type { Reply } from "../../tests/fakes/chat-reply.ts";
import { answerOf, withDenoGateway } from "./deno-gateway.ts";

const TASK = "say what the shell says";
const MARK = "from-the-shell";

/** Rejects, with what went wrong, unless it does. */
export async function checkDenoSubagent(deno: readonly string[], home: string): Promise<void> {
  await withDenoGateway(deno, { home, script: reply }, async (url) => {
    const answer = await answerOf(url, "have somebody ask the shell");
    if (answer !== `I heard: ${MARK}`) throw new Error(`the webhook was told ${JSON.stringify(answer)}`);
  });
}

/** The agent asks a subagent and waits, and the subagent asks the shell. */
function reply(body: JsonObject): Reply {
  const messages = body["messages"] as readonly JsonObject[];
  const isSubagent = messages.some(({ role, content }) => role === "user" && String(content).endsWith(TASK));
  const last = messages.at(-1);
  const heard = last?.["role"] === "tool" && String(last["content"]).includes(MARK);
  if (heard) return { text: [isSubagent ? MARK : `I heard: ${MARK}`] };
  if (last?.["role"] === "tool") return { text: [`It went wrong: ${String(last["content"])}`] };
  if (isSubagent) return { toolCalls: [{ name: "exec", arguments: { command: `echo ${MARK}` } }] };
  return { toolCalls: [{ name: "spawn", arguments: { task: TASK, wait: true } }] };
}
