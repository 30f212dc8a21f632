/** The one wrapper around every tool: prepare the call, execute it, finalise its result. */

import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import type { JsonObject } from "../core/json.ts";
import type { ToolCall, ToolDefinition } from "../core/model.ts";
import type { Log } from "../core/platform.ts";
import type { AnyTool, ToolContext, ToolPorts, ToolResult } from "../core/tool.ts";
import { toolError } from "../core/tool.ts";
import type { Toolbox, ToolRun } from "../core/toolbox.ts";
import { abortable } from "../lib/abort.ts";
import { nearest } from "../lib/nearest.ts";
import { NOT_RUN, STOPPED_MIDWAY, TRY_ANOTHER_WAY } from "../lib/phrases.ts";
import { clip, headTail, wellFormed } from "../lib/text.ts";
import { castToSchema, parseToolArguments } from "../lib/tool-arguments.ts";

export interface ToolboxOptions {
  readonly tools: readonly AnyTool[];
  readonly workspace: string;
  /** Ports for one run: what a tool may read can depend on the session. */
  readonly ports: (run: ToolRun) => ToolPorts;
  /** Characters of a result that go to the model, unless the tool bounds itself. */
  readonly maxResultChars: number;
  /** Keeps a result that is too long and resolves to the path by which the model can read it. */
  readonly spill: (run: ToolRun, call: ToolCall, text: string) => Promise<string>;
  /** Takes secrets out of what goes to the model: a command can read more than it was given. */
  readonly mask: (text: string) => string;
  readonly log: Log;
}

interface KnownTool {
  readonly tool: AnyTool;
  readonly definition: ToolDefinition;
}

function define(tool: AnyTool): KnownTool {
  const { $schema: _, ...parameters } = toJsonSchema(tool.parameters) as Record<string, unknown>;
  const { name, description } = tool;
  return { tool, definition: { name, description, parameters: parameters as JsonObject } };
}

export function createToolbox({
  tools,
  workspace,
  ports,
  maxResultChars,
  spill,
  mask,
  log,
}: ToolboxOptions): Toolbox {
  const known = new Map(tools.map((tool) => [tool.name, define(tool)]));

  /** Finds the tool and makes its arguments what its schema says, or says why that cannot be. */
  function prepare(
    call: ToolCall,
  ): { ok: true; tool: AnyTool; args: never } | { ok: false; problem: string } {
    const entry = known.get(call.name);
    if (entry === undefined) return { ok: false, problem: unknownTool(call.name, [...known.keys()]) };
    const parsed = parseToolArguments(call.arguments);
    if (!parsed.ok) return parsed;
    const { tool, definition } = entry;
    const checked = v.safeParse(tool.parameters, castToSchema(parsed.value, definition.parameters));
    // The schema has just proved the type that `execute` of this same tool takes.
    if (checked.success) return { ok: true, tool, args: checked.output as never };
    return {
      ok: false,
      problem: `the arguments do not fit: ${checked.issues.map(describeIssue).join("; ")}`,
    };
  }

  async function execute(tool: AnyTool, args: never, run: ToolRun): Promise<ToolResult> {
    if (run.signal.aborted) return toolError(NOT_RUN);
    const context: ToolContext = { ...run, workspace, ports: ports(run) };
    try {
      return await abortable(tool.execute(args, context), run.signal);
    } catch (error) {
      if (run.signal.aborted) return toolError(STOPPED_MIDWAY);
      log.debug("Tool threw", { tool: tool.name, error });
      return toolError(describeThrow(error));
    }
  }

  /** Well-formed, not blank, not too long; an error begins `Error: ` and ends with advice. */
  async function finalise(
    result: ToolResult,
    call: ToolCall,
    run: ToolRun,
    limit: number,
  ): Promise<ToolResult> {
    const given = mask(wellFormed(result.text));
    const text = given.trim() === "" ? `(${call.name} completed with no output)` : given;
    const shown = text.length > limit ? await shorten(text, call, run, limit) : text;
    return result.ok ? { ok: true, text: shown } : { ok: false, text: `Error: ${shown}\n${TRY_ANOTHER_WAY}` };
  }

  async function shorten(text: string, call: ToolCall, run: ToolRun, limit: number): Promise<string> {
    let rest = "";
    try {
      rest = `; all of it is in "${await spill(run, call, text)}"`;
    } catch (error) {
      log.warn("Could not keep the rest of a tool result", { tool: call.name, error });
    }
    return headTail(text, limit, (cut) => `\n[… ${cut} characters left out${rest} …]\n`);
  }

  return {
    definitions: [...known.values()]
      .map(({ definition }) => definition)
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    isReadOnly: (name) => known.get(name)?.tool.readOnly ?? false,
    async run(call, run) {
      const prepared = prepare(call);
      if (!prepared.ok) return finalise(toolError(prepared.problem), call, run, maxResultChars);
      const { tool, args } = prepared;
      return finalise(await execute(tool, args, run), call, run, tool.resultLimit ?? maxResultChars);
    },
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

function describeThrow(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = "hint" in error && typeof error.hint === "string" ? `. ${error.hint}` : "";
  return `${error.message}${hint}`;
}
