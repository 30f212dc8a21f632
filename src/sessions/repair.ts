/** Makes a transcript that any provider accepts out of whatever the file holds. Pure; the file stays as it is. */

import type { StoredMessage, StoredToolCall } from "../core/session.ts";
import { INTERRUPTED } from "../lib/phrases.ts";
import { parseToolArguments } from "../lib/tool-arguments.ts";

const callName = /^[a-zA-Z0-9_-]{1,64}$/;

/** An assistant line, absent before the first one, and everything up to the next. */
interface Segment {
  readonly assistant: StoredMessage | undefined;
  readonly users: StoredMessage[];
  /** By call id; the first result of a call counts. */
  readonly results: Map<string, StoredMessage>;
}

function segments(lines: readonly StoredMessage[]): Segment[] {
  const first: Segment = { assistant: undefined, users: [], results: new Map() };
  const found = [first];
  let current = first;
  for (const line of lines) {
    if (line.role === "assistant") {
      current = { assistant: line, users: [], results: new Map() };
      found.push(current);
    } else if (line.role === "user") {
      current.users.push(line);
    } else if (line.tool_call_id !== undefined && !current.results.has(line.tool_call_id)) {
      current.results.set(line.tool_call_id, line);
    }
  }
  return found;
}

function hasContent(line: StoredMessage): boolean {
  return /\S/.test(line.content) || Boolean(line.runtime);
}

function uniqueId(wanted: string, taken: Set<string>): string {
  const base = wanted || "call";
  let id = base;
  for (let suffix = 2; taken.has(id); suffix++) id = `${base}_${suffix}`;
  taken.add(id);
  return id;
}

/** The assistant's line and one result for each of its calls, in the order of the calls. */
function repairExchange(
  assistant: StoredMessage,
  results: Segment["results"],
  taken: Set<string>,
): StoredMessage[] {
  if (assistant.tool_calls === undefined) return hasContent(assistant) ? [assistant] : [];
  const calls: StoredToolCall[] = [];
  const answers: StoredMessage[] = [];
  const seen = new Set<string>();
  for (const call of assistant.tool_calls) {
    const { name, arguments: text } = call.function;
    if (seen.has(call.id) || !callName.test(name)) continue;
    seen.add(call.id);
    const id = uniqueId(call.id, taken);
    const parsed = parseToolArguments(text);
    calls.push({ id, type: "function", function: { name, arguments: parsed.ok ? parsed.text : "{}" } });
    const result = results.get(call.id);
    answers.push({
      ...result,
      role: "tool",
      tool_call_id: id,
      name,
      content: result?.content || INTERRUPTED,
    });
  }
  if (calls.length > 0) return [{ ...assistant, tool_calls: calls }, ...answers];
  const { tool_calls: _, ...plain } = assistant;
  return hasContent(plain) ? [plain] : [];
}

/**
 * Starts at the first user line. Every call is followed directly by exactly one result, in the order of
 * the calls, and a missing one says that the call was interrupted; results without a call, doubled ones
 * and lines with nothing to say are left out; call ids are unique. Lines that are in order come out as
 * they are, and the same lines always come out the same, so that providers can cache the prefix.
 */
export function repairTranscript(lines: readonly StoredMessage[]): readonly StoredMessage[] {
  const start = lines.findIndex((line) => line.role === "user" && hasContent(line));
  if (start < 0) return [];
  const taken = new Set<string>();
  return segments(lines.slice(start)).flatMap(({ assistant, users, results }) => [
    ...(assistant ? repairExchange(assistant, results, taken) : []),
    ...users.filter(hasContent),
  ]);
}
