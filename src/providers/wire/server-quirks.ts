/** What may be known of a server before it was asked anything, as the rows of vendors say it. */

/**
 * How a reasoning effort is said: the protocol's own `reasoning_effort`; OpenRouter's `reasoning.effort`;
 * `thinking.type`; `enable_thinking`; MiniMax's `reasoning_split`; or not at all.
 */
export type ThinkingStyle = "effort" | "reasoning" | "thinkingType" | "enableThinking" | "split" | "none";

/** Each protocol takes those that mean something in it. */
export interface ServerQuirks {
  /** It refuses `stream_options`; its streams tell the usage unasked. */
  readonly noStreamOptions: boolean;
  /** It wants `max_completion_tokens` in the place of `max_tokens`: always, never, or from models that reason. */
  readonly completionTokens: boolean | "byModel";
  /** It takes no `temperature`. */
  readonly noTemperature: boolean;
  /** A reply that only calls tools goes back with `content: null`, and not with `""`. */
  readonly nullContent: boolean;
  /** It cannot be made to call a tool; it is asked to choose by itself. */
  readonly noForcedTool: boolean;
  /** Ids of calls are 9 letters and digits, as Mistral wants them. */
  readonly shortCallIds: boolean;
  /** Results of tools are followed by a reply before the user speaks again, as Mistral wants it. */
  readonly noUserAfterTool: boolean;
  /** Marks up to where the prompt should be cached, as Anthropic's models behind OpenRouter want it. */
  readonly cacheMarkers: boolean;
  /** Replies go back with the `reasoning_content` they came with. */
  readonly replayReasoning: boolean;
  /** Calls go back with the signature of the thought behind them, as Gemini wants it. */
  readonly thoughtSignatures: boolean;
  /** What it calls reasoning is the answer, when there is no other. */
  readonly reasoningIsAnswer: boolean;
  readonly thinking: ThinkingStyle;
}
