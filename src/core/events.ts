/** What happens while a turn runs, as one union. */

import type { InboundId } from "./messages.ts";
import type {
  AssistantMessage,
  ChatDelta,
  ModelError,
  ModelNotice,
  ToolCall,
  ToolMessage,
  Usage,
} from "./model.ts";
import type { ToolResult } from "./tool.ts";

/**
 * What the loop emits, in order. The loop waits for `emit`, so a listener that persists can make sure
 * that a line is on disk before the next step. Every call of an `assistant.calls` gets exactly one
 * `tool.ended`, also when the run is aborted.
 */
export type RunEvent =
  | { readonly type: "model.started"; readonly round: number }
  | { readonly type: "model.delta"; readonly delta: ChatDelta }
  | { readonly type: "model.notice"; readonly notice: ModelNotice }
  | { readonly type: "model.ended"; readonly round: number; readonly usage: Usage | undefined }
  | {
      readonly type: "assistant.calls";
      readonly message: AssistantMessage & { readonly toolCalls: readonly ToolCall[] };
      /** None of the calls can change anything. */
      readonly readOnly: boolean;
    }
  | { readonly type: "tool.started"; readonly call: ToolCall }
  | {
      readonly type: "tool.ended";
      readonly call: ToolCall;
      readonly result: ToolResult;
      readonly message: ToolMessage;
    };

export type Emit = (event: RunEvent) => void | Promise<void>;

/** How a run ended. The text of a run that failed was shown as far as it came, and is not stored. */
export type RunResult =
  | { readonly status: "answered"; readonly message: AssistantMessage }
  | { readonly status: "failed"; readonly error: ModelError }
  | { readonly status: "aborted"; readonly reason: unknown };

/** Emitted by dispatch after a turn's last record. `durationMs` is wall time. */
export interface TurnEnded {
  readonly type: "turn.ended";
  readonly inboundId: InboundId;
  readonly status: "answered" | "failed" | "stopped" | "command" | "noted";
  readonly durationMs: number;
}
