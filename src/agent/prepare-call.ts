/** The first phase of a call: find the tool, and make the arguments what its schema says. */

import * as v from "valibot";
import type { JsonObject } from "../core/json.ts";
import type { ToolCall, ToolDefinition } from "../core/model.ts";
import type { AnyTool } from "../core/tool.ts";
import { nearest } from "../lib/nearest.ts";
import { clip, wellFormed } from "../lib/text.ts";
import { castToSchema, parseToolArguments } from "../lib/tool-arguments.ts";

export interface KnownTool {
  readonly tool: AnyTool;
  readonly definition: ToolDefinition;
}

export type PreparedCall =
  | { readonly ok: true; readonly tool: AnyTool; readonly args: never }
  /** `problem` is for the model. */
  | { readonly ok: false; readonly problem: string };

export function prepareCall(call: ToolCall, known: ReadonlyMap<string, KnownTool>): PreparedCall {
  const entry = known.get(call.name);
  if (entry === undefined) return { ok: false, problem: unknownTool(call.name, [...known.keys()]) };
  const parsed = parseToolArguments(call.arguments);
  if (!parsed.ok) return parsed;
  const { tool, definition } = entry;
  const checked = v.safeParse(
    tool.parameters,
    castToSchema(canonical(parsed.value, tool), definition.parameters),
  );
  // The schema has just proved the type that `execute` of this same tool takes.
  if (checked.success) return { ok: true, tool, args: checked.output as never };
  return {
    ok: false,
    problem: `the arguments do not fit: ${checked.issues.map(describeIssue).join("; ")}`,
  };
}

/** Under the tool's own names. A parameter that is there under both is left to the schema to refuse. */
function canonical(given: JsonObject, { aliases = {} }: AnyTool): JsonObject {
  const entries = Object.entries(given).map(([key, value]) => {
    const name = Object.hasOwn(aliases, key) ? (aliases[key] ?? key) : key;
    return [Object.hasOwn(given, name) ? key : name, value] as const;
  });
  return Object.fromEntries(entries);
}

/** A function that says what is wrong with a call, as the model would read it, without making it. */
export function createCallCheck(
  tools: readonly AnyTool[],
  definitions: readonly ToolDefinition[],
  mask: (text: string) => string,
): (call: ToolCall) => string | undefined {
  const known = new Map<string, KnownTool>();
  for (const definition of definitions) {
    const tool = tools.find(({ name }) => name === definition.name);
    if (tool !== undefined) known.set(definition.name, { tool, definition });
  }
  return (call) => {
    const prepared = prepareCall(call, known);
    return prepared.ok ? undefined : mask(wellFormed(prepared.problem));
  };
}

function unknownTool(name: string, names: readonly string[]): string {
  const suggestion = nearest(name, names);
  const hint = suggestion === undefined ? "." : `; did you mean "${suggestion}"?`;
  return `there is no tool "${clip(wellFormed(name), 64)}"${hint} The tools are: ${names.join(", ")}`;
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue) ?? "arguments";
  if (issue.expected === "never") return `"${path}" is not a parameter`;
  return issue.received === "undefined" ? `"${path}" is missing` : `"${path}": ${issue.message}`;
}
