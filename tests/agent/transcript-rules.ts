/** Whether messages are a valid transcript, by the rules of the strictest vendors, before they are put on the wire. */

import type { ChatMessage } from "../../src/core/model.ts";

/** What is wrong with it; `undefined` when nothing is. */
export function checkTranscript(messages: readonly ChatMessage[]): string | undefined {
  const open = new Set<string>();
  const seen = new Set<string>();
  let previous: ChatMessage["role"] | undefined;
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    if (role === "system" && index > 0) return `a system message at ${index}`;
    if (previous === undefined || previous === "system") {
      if (role === "assistant" || role === "tool") return `begins with ${role}`;
    }
    if (role === "tool") {
      if (!open.delete(message.toolCallId)) return `the result at ${index} answers no open call`;
    } else if (open.size > 0) return `results are missing before ${index}`;
    if (role === "assistant") {
      for (const { id, arguments: text } of message.toolCalls ?? []) {
        if (seen.has(id)) return `the id ${id} comes twice`;
        seen.add(id);
        open.add(id);
        const value: unknown = JSON.parse(text);
        if (typeof value !== "object" || value === null || Array.isArray(value))
          return "arguments are no object";
      }
    }
    previous = role;
  }
  if (open.size > 0) return "results are missing at the end";
  return previous === "user" || previous === "tool" ? undefined : `ends with ${previous}`;
}
