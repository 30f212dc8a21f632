/** Makes a transcript that any provider accepts out of whatever the file holds. The file stays as it is. */

import type { StoredMessage, StoredToolCall } from "../core/session.ts";
import { acceptableArguments, acceptableName } from "../lib/acceptable-call.ts";
import { INTERRUPTED } from "../lib/tool-failure.ts";

/** An assistant line, absent before the first one, and everything up to the next. */
interface Exchange {
  readonly assistant: StoredMessage | undefined;
  readonly users: StoredMessage[];
  /** By call id; the first result of a call counts. */
  readonly results: Map<string, StoredMessage>;
}

function exchangeOf(assistant: StoredMessage | undefined): Exchange {
  return { assistant, users: [], results: new Map() };
}

function hasContent(line: StoredMessage): boolean {
  if (/\S/.test(line.content) || line.runtime) return true;
  return line.role === "user" && Boolean(line.media?.length);
}

/** Gives ids out once each. */
function createIds(taken: (id: string) => boolean = () => false) {
  const given = new Set<string>();
  /** The next suffix to try, by base: models that give every call the same id are common. */
  const suffixes = new Map<string, number>();
  return {
    has: (id: string) => given.has(id) || taken(id),
    unique(wanted: string): string {
      const base = wanted || "call";
      let id = base;
      let suffix = suffixes.get(base) ?? 2;
      for (; given.has(id) || taken(id); suffix++) id = `${base}_${suffix}`;
      suffixes.set(base, suffix);
      given.add(id);
      return id;
    },
  };
}

type Ids = ReturnType<typeof createIds>;

/** The assistant's line and one result for each of its calls, in the order of the calls. */
function repairAssistant(assistant: StoredMessage, results: Exchange["results"], ids: Ids): StoredMessage[] {
  if (assistant.tool_calls === undefined) return hasContent(assistant) ? [assistant] : [];
  const calls: StoredToolCall[] = [];
  const answers: StoredMessage[] = [];
  const seen = new Set<string>();
  for (const call of assistant.tool_calls) {
    if (seen.has(call.id)) continue;
    seen.add(call.id);
    const id = ids.unique(call.id);
    const name = acceptableName(call.function.name);
    const text = acceptableArguments(call.function.arguments);
    calls.push({ ...call, id, function: { name, arguments: text } });
    const result = results.get(call.id);
    answers.push({
      ...result,
      role: "tool",
      tool_call_id: id,
      name,
      content: result?.content ?? INTERRUPTED,
    });
  }
  if (calls.length > 0) return [{ ...assistant, tool_calls: calls }, ...answers];
  const { tool_calls: _, ...plain } = assistant;
  return hasContent(plain) ? [plain] : [];
}

function repairExchange({ assistant, users, results }: Exchange, ids: Ids): StoredMessage[] {
  return [...(assistant ? repairAssistant(assistant, results, ids) : []), ...users];
}

export interface Transcript {
  /** Takes the next line of the file. */
  add(line: StoredMessage): void;
  /** What a provider is sent for the lines so far. */
  lines(): readonly StoredMessage[];
}

/**
 * A transcript that grows. It starts at the first user line; every call is followed directly by exactly
 * one result, in the order of the calls, and a missing one says that the call was interrupted; results
 * without a call, doubled ones and lines with nothing to say are left out; call ids are unique. Lines
 * that are in order come out as they are, and what stands before the last assistant line never changes
 * any more, so that providers can cache the prefix and nobody repairs it twice.
 */
export function createTranscript(): Transcript {
  const ids = createIds();
  const finished: StoredMessage[] = [];
  let current = exchangeOf(undefined);
  let started = false;

  return {
    add(line) {
      started ||= line.role === "user" && hasContent(line);
      if (!started) return;
      if (line.role === "assistant") {
        finished.push(...repairExchange(current, ids));
        current = exchangeOf(line);
      } else if (line.role === "user") {
        if (hasContent(line)) current.users.push(line);
      } else if (line.tool_call_id !== undefined && !current.results.has(line.tool_call_id)) {
        current.results.set(line.tool_call_id, line);
      }
    },
    lines: () => [...finished, ...repairExchange(current, createIds(ids.has))],
  };
}
