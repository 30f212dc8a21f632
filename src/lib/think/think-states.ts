/** What the think filter may stand in the middle of. */

import type { JsonTracker } from "./json-tracker.ts";
import type { TagToken, Token } from "./reply-scanner.ts";
import type { ThinkName } from "./reply-tags.ts";

export interface Block {
  /** Inside, an opener stood in a fence, so that a closer in a fence answers that one. */
  isExample: boolean;
}

export interface Reasoning extends Block {
  readonly in: "reasoning";
  /** The name of its closer; `marker` for gpt-oss. */
  readonly ends: ThinkName | "any" | "marker";
}

/** Behind an opener in the middle of a line. */
export interface Opened extends Block {
  readonly in: "opened";
  readonly opener: TagToken;
  readonly name: ThinkName;
  readonly tokens: Token[];
  length: number;
  /** As far as the first thing behind it tells. */
  mayBeMention: boolean;
}

/** At the beginning of a reply that may begin inside a block. */
export interface Start extends Block {
  readonly in: "start";
  held: string;
  isBlank: boolean;
}

/** Behind a stray tag in the middle of text. */
export interface Edge {
  readonly in: "edge";
  whole: string;
  /** Without the tags. */
  bare: string;
  hasCloser: boolean;
}

export interface Call {
  readonly in: "call";
  readonly opener: string;
  readonly json: JsonTracker;
  held: string;
  /** Openers inside, whose closers are not this one's. */
  examples: number;
  /** Where the first closer stands that is part of a string, or else the string lacks its end. */
  closer?: { readonly start: number; readonly end: number };
}

export type State = { readonly in: "text" } | Reasoning | Opened | Start | Edge | Call;

export const TEXT: State = { in: "text" };

/** Whether a tag ends a block. The closer of an example that began in a fence does not. */
export function closes(block: Block, { tag, inCode }: TagToken, ends: ThinkName | "any"): boolean {
  if (tag.kind === "open" && inCode) block.isExample = true;
  if (tag.kind !== "close" || (ends !== "any" && tag.name !== ends)) return false;
  const isExample = inCode && block.isExample;
  block.isExample = false;
  return !isExample;
}

export function rawOf({ tokens }: Opened): string {
  return tokens.map(({ raw }) => raw).join("");
}
