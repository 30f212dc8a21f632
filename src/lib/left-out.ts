/** Results of tools that are left out of a prompt to save room: which, and what stands for them. */

import { leftOutResult } from "./phrases.ts";

/** Shorter ones are not worth it. */
const SHORT_CHARS = 500;

export function isWorthLeavingOut(text: string): boolean {
  return text.length >= SHORT_CHARS;
}

/** The same for a line of a session and for the message that is made of it. */
export function withoutResult<M extends { readonly name?: string; readonly content: string }>(message: M): M {
  return { ...message, content: leftOutResult(message.name || "a tool", message.content.length) };
}
