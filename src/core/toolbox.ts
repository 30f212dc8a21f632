/** The tools of one agent behind one wrapper, as the loop and `nanobot tools call` use them. */

import type { InboundId, Origin, Source } from "./messages.ts";
import type { ToolCall, ToolDefinition } from "./model.ts";
import type { ToolResult } from "./tool.ts";

/** On whose behalf calls run: one object for all calls of a turn, whose `signal` is that of the turn. */
export interface ToolRun {
  readonly sessionKey: string;
  readonly turn: InboundId;
  readonly sender: string;
  readonly origin: Origin;
  /** The chat that is being answered. */
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string;
  /** What the turn goes back to, where nobody waits for it. */
  readonly source?: Source;
  readonly signal: AbortSignal;
}

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
