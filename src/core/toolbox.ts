/** The tools of one agent behind one wrapper, as the loop and `nanobot tools call` use them. */

import type { Origin } from "./messages.ts";
import type { ToolCall, ToolDefinition } from "./model.ts";
import type { ToolResult } from "./tool.ts";

/** On whose behalf a call runs. `signal` is that of the turn. */
export interface ToolRun {
  readonly sessionKey: string;
  readonly origin: Origin;
  readonly signal: AbortSignal;
}

/**
 * Finds, casts, validates, executes and caps. `run` never throws: a missing tool, bad arguments, a
 * throw inside the tool and an abort are all results with `ok: false` whose text begins `Error: `.
 */
export interface Toolbox {
  /** In a stable order. */
  readonly definitions: readonly ToolDefinition[];
  isReadOnly(name: string): boolean;
  run(call: ToolCall, behalf: ToolRun): Promise<ToolResult>;
}
