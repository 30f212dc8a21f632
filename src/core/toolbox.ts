/** The tools of one agent behind one wrapper, as the loop and `nanobot tools call` use them. */

import type { ToolCall, ToolDefinition } from "./model.ts";
import type { ToolResult } from "./tool.ts";
import type { ToolRun } from "./tool-run.ts";

/**
 * Finds, casts, validates, permits, executes, caps and records. `run` never throws: a missing tool, bad arguments, a
 * throw inside the tool and an abort are all results with `ok: false` whose text begins `Error: `.
 */
export interface Toolbox {
  /** In a stable order. */
  readonly definitions: readonly ToolDefinition[];
  isReadOnly(name: string): boolean;
  /** Omitted where no call is made again after a crash. */
  isRepeatable?(name: string): boolean;
  /** What a call would be told instead of being made, in words for the model; `undefined` when it would be made. */
  problemOf(call: ToolCall): string | undefined;
  run(call: ToolCall, behalf: ToolRun): Promise<ToolResult>;
}
