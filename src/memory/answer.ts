/** What a model gave when it was asked for memory, whatever form it has: models call as they like, or only speak. */

import * as v from "valibot";
import type { ChatAnswer, Model, ToolCall } from "../core/model.ts";
import { isObject } from "../lib/is-object.ts";
import { head } from "../lib/text.ts";
import { parseToolArguments } from "../lib/tool-arguments.ts";
import { plainText } from "./plain-text.ts";
import { readable } from "./readable.ts";

export const NAME = "save_memory";

export const schema = v.object({
  history_entry: v.pipe(
    v.string(),
    v.nonEmpty("history_entry must say something"),
    v.description(
      "A paragraph for the history: what was talked about, found out, decided and left open, with the names, numbers, places and dates that somebody will search for. In the language of the conversation. Without a time in front.",
    ),
  ),
  memory_update: v.optional(
    v.pipe(
      v.string(),
      v.description(
        "The whole new text of MEMORY.md: every fact it holds now that is still true, and what is new. Left out when nothing is new.",
      ),
    ),
  ),
});

type Given = v.InferOutput<typeof schema>;

/** How deep the fields are looked for: `{"input": {"arguments": "{…}"}}` and worse came. */
const DEEPEST_WRAP = 4;
/** In characters: far more than either is taken for, and little enough to be gone through with care. */
const LONGEST = 128_000;

/** The same model, whose calls have text where text belongs, and are one. */
export function readableModel(model: Model, onAnswer: (answer: ChatAnswer) => void): Model {
  return {
    provider: model.provider,
    async chat(request, options) {
      const reply = await model.chat(request, options);
      if (!reply.ok) return reply;
      onAnswer(reply);
      return { ...reply, toolCalls: oneCall(reply.toolCalls) };
    },
  };
}

/** Only one tool was offered, so that one is meant, whatever it was called; and several calls are parts of one answer. */
function oneCall(calls: readonly ToolCall[]): readonly ToolCall[] {
  const [first] = calls;
  if (first === undefined) return calls;
  const parts = calls.flatMap(({ arguments: text }) => readableArguments(text) ?? []);
  const entry = parts.flatMap((part) => part.history_entry ?? []).join("\n");
  const update = parts.findLast((part) => part.memory_update !== undefined)?.memory_update;
  if (parts.length === 0) return [{ ...first, name: NAME }];
  const given = {
    ...(entry === "" ? {} : { history_entry: entry }),
    ...(update === undefined ? {} : { memory_update: update }),
  };
  return [{ ...first, name: NAME, arguments: JSON.stringify(given) }];
}

/** `undefined` for what is no such object, of which the validation says why. */
function readableArguments(text: string): Partial<Given> | undefined {
  const parsed = parseToolArguments(text);
  const fields = parsed.ok ? fieldsIn(parsed.value) : undefined;
  if (fields === undefined) return undefined;
  const { historyentry: entry, memoryupdate: update } = fields;
  return {
    ...(isNothing(entry) ? {} : { history_entry: textOf(entry) }),
    ...(isNothing(update) ? {} : { memory_update: unfenced(textOf(update)) }),
  };
}

function textOf(value: unknown): string {
  return plainText(head(readable(value), LONGEST));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

type Fields = { readonly [name: string]: unknown };

/** What was asked for, by its names in small letters, however it was wrapped and its names were spelt. */
function fieldsIn(value: unknown, depth = 0): Fields | undefined {
  if (depth > DEEPEST_WRAP) return undefined;
  if (typeof value === "string") {
    const parsed = value.trimStart().startsWith("{") ? parseToolArguments(value) : undefined;
    return parsed?.ok ? fieldsIn(parsed.value, depth + 1) : undefined;
  }
  if (!isObject(value)) return undefined;
  const named = Object.entries(value).map(
    ([name, item]) => [name.toLowerCase().replace(/[^a-z]/g, ""), item] as const,
  );
  const fields: Fields = Object.fromEntries(named);
  if ("historyentry" in fields || "memoryupdate" in fields) return fields;
  for (const [, item] of named) {
    const found = fieldsIn(item, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const FENCED = /^(?:[^\n]{0,200}\n+)?(`{3,}|~{3,})[a-z]*\n([\s\S]*)\n\1$/i;

/** The text inside a code fence, when that is all there is, but for a line that announces it. */
function unfenced(text: string): string {
  const [, fence = "", inside] = FENCED.exec(text) ?? [];
  // With a fence inside, the two ends are those of two blocks, and what is between them counts.
  return inside === undefined || inside.split("\n").some((line) => line.startsWith(fence)) ? text : inside;
}

/** Some models say what they should have called with, and others sum up in plain words: both is an answer. */
export function spokenAnswer(reply: ChatAnswer | undefined): Given | undefined {
  if (reply === undefined || reply.toolCalls.length > 0) return undefined;
  const text = unfenced(plainText(head(reply.content, LONGEST)));
  const written = v.safeParse(schema, text.startsWith("{") ? readableArguments(text) : undefined);
  if (written.success) return written.output;
  return text === "" || text.startsWith("{") ? undefined : { history_entry: text };
}
