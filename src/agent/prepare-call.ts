/** The first phase of a call: find the tool, and make the arguments what its schema says. */

import * as v from "valibot";
import type { JsonObject } from "../core/json.ts";
import type { ToolCall, ToolDefinition } from "../core/model.ts";
import type { AnyTool } from "../core/tool.ts";
import { nearest } from "../lib/nearest.ts";
import { clip, wellFormed } from "../lib/text.ts";
import { castToSchema, issueText, parseToolArguments } from "../lib/tool-arguments.ts";
import { unfitArguments, unknownTool } from "../lib/tool-failure.ts";

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
  if (entry === undefined) {
    const names = [...known.keys()];
    const name = clip(wellFormed(call.name), 64);
    return { ok: false, problem: unknownTool(name, nearest(call.name, names), names) };
  }
  const parsed = parseToolArguments(call.arguments);
  if (!parsed.ok) return parsed;
  const { tool, definition } = entry;
  const checked = v.safeParse(
    tool.parameters,
    castToSchema(canonical(parsed.value, tool), definition.parameters),
  );
  // The schema has just proved the type that `execute` of this same tool takes.
  if (checked.success) return { ok: true, tool, args: checked.output as never };
  const why = checked.issues.map(describeIssue).join("; ");
  return { ok: false, problem: unfitArguments(`do not fit: ${why}`) };
}

/** Under the tool's own names. A parameter that is there under both is left to the schema to refuse. */
function canonical(given: JsonObject, { aliases = {} }: AnyTool): JsonObject {
  const entries = Object.entries(given).map(([key, value]) => {
    const name = Object.hasOwn(aliases, key) ? (aliases[key] ?? key) : key;
    return [Object.hasOwn(given, name) ? key : name, value] as const;
  });
  return Object.fromEntries(entries);
}

function describeIssue(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue) ?? "arguments";
  if (issue.expected === "never") return `"${path}" is not a parameter`;
  return issue.received === "undefined" ? `"${path}" is missing` : `"${path}": ${issueText(issue)}`;
}
