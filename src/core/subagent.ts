/** What a subagent's thread is given, what it gives back, and what it asks of the main thread meanwhile. */

import type { InboundId } from "./messages.ts";
import type { ChatReply, ChatRequest, ToolCall, ToolDefinition } from "./model.ts";
import type { ToolResult } from "./tool.ts";

/** Plain data: the thread has no key, no file and no process of its own. */
export interface SubagentInput {
  /** Names the run: the ids of its calls come from it. */
  readonly turn: InboundId;
  readonly systemPrompt: string;
  readonly task: string;
  readonly definitions: readonly ToolDefinition[];
  /** The names of those tools that change nothing. */
  readonly readOnly: readonly string[];
  readonly request: Omit<ChatRequest, "messages" | "tools" | "toolChoice">;
  readonly maxRounds: number;
  /** The most tokens of a prompt, tools included, in the model's own count. */
  readonly promptTokens: number;
  /** By our estimate: what `TokenScale.fit` says of `promptTokens` now. */
  readonly fitting: number;
}

export interface SubagentOutput {
  readonly status: "done" | "failed";
  /** The last words, or what went wrong. Never empty. */
  readonly text: string;
}

/** What the thread asks, by kind. `fitting` is what is true after the question. */
export interface SubagentAsks {
  readonly chat: {
    readonly request: Pick<ChatRequest, "messages" | "toolChoice">;
    readonly reply: { readonly reply: ChatReply; readonly fitting: number };
  };
  readonly tool: { readonly request: ToolCall; readonly reply: ToolResult };
  /** A prompt of so many estimated tokens was refused as too long. */
  readonly refused: { readonly request: number; readonly reply: { readonly fitting: number } };
}
