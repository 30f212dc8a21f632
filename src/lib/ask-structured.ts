/** The virtual tool: a question that is answered by the arguments of a call which nobody executes. */

import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import type { JsonObject } from "../core/json.ts";
import type {
  ChatMessage,
  ChatOptions,
  ChatRequest,
  Model,
  ModelError,
  ToolDefinition,
} from "../core/model.ts";
import { castToSchema, parseToolArguments } from "./tool-arguments.ts";

export interface Question<Schema extends v.GenericSchema> {
  /** The tool's name, and what it tells the model about it. */
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  readonly messages: readonly ChatMessage[];
  readonly request: Omit<ChatRequest, "messages" | "tools" | "toolChoice">;
}

export type Structured<Output> =
  | { readonly ok: true; readonly value: Output }
  /** The model answered, but not by a call that fits; `text` is what it said instead. */
  | { readonly ok: false; readonly problem: string; readonly text: string; readonly error?: ModelError };

/**
 * Offers one tool, forces it, and resolves to its validated arguments. A server that cannot be forced is
 * asked to choose by itself: whoever speaks its protocol finds that out and remembers it. Never rejects.
 */
export async function askStructured<Schema extends v.GenericSchema>(
  model: Model,
  { name, description, schema, messages, request }: Question<Schema>,
  options: Omit<ChatOptions, "onDelta">,
): Promise<Structured<v.InferOutput<Schema>>> {
  const tools = offerOf(schema, name, description);
  const reply = await model.chat(
    { ...request, messages, tools, toolChoice: { name } },
    { ...options, onDelta() {} },
  );
  if (!reply.ok) return { ok: false, problem: reply.error.message, text: "", error: reply.error };
  const call = reply.toolCalls.find((candidate) => candidate.name === name);
  if (call === undefined) return { ok: false, problem: `no call of ${name} came`, text: reply.content };
  const parsed = parseToolArguments(call.arguments);
  if (!parsed.ok) return { ok: false, problem: parsed.problem, text: reply.content };
  const checked = v.safeParse(schema, castToSchema(parsed.value, tools[0].parameters));
  if (checked.success) return { ok: true, value: checked.output };
  const problems = checked.issues.map(({ message }) => message).join("; ");
  return { ok: false, problem: `the arguments do not fit: ${problems}`, text: reply.content };
}

/** The one tool, as models are offered it. */
type Offer = readonly [ToolDefinition];

/** A question that is asked again offers the same list, by which providers know the bytes it became. */
const offers = new WeakMap<v.GenericSchema, Offer>();

function offerOf(schema: v.GenericSchema, name: string, description: string): Offer {
  const known = offers.get(schema);
  if (known?.[0].name === name && known[0].description === description) return known;
  const { $schema: _, ...parameters } = toJsonSchema(schema) as Record<string, unknown>;
  const offer: Offer = [{ name, description, parameters: parameters as JsonObject }];
  offers.set(schema, offer);
  return offer;
}
