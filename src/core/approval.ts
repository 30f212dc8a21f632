/** What is put to the owner before it is done. */

import type { ToolRun } from "./tool-run.ts";

export interface ApprovalQuestion {
  /** The call's own id. An answer holds for this call and no other. */
  readonly id: string;
  readonly tool: string;
  /** Exactly what will be done, such as the command. Not trusted: the model wrote it. */
  readonly what: string;
  readonly reason: string;
  readonly run: ToolRun;
}

export type ApprovalAnswer =
  | { readonly granted: true; readonly by: string }
  | { readonly granted: false; readonly why: "denied" | "expired" | "nobody"; readonly by?: string };

/** Denied is what is not answered. Rejects only with the signal's reason. */
export type AskOwner = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;

/** Who answers a question, and from where. */
export interface Answerer {
  readonly channel: string;
  readonly chatId: string;
  readonly senderId: string;
}

/** Questions that survive the process and are answered by a code, from a chat. */
export interface Approvals {
  readonly ask: AskOwner;
  /** Whether this call was put to the owner and has not got the answer yet, so that it has surely not begun. */
  isWaiting(id: string): boolean;
  /**
   * Answers a question that waits, by a code in any case. `notAllowed` is said of whoever is not the owner, and changes
   * nothing; `unknown` of a code that was never given, was answered before, or is too old.
   */
  answer(
    code: string,
    granted: boolean,
    by: Answerer,
  ): Promise<
    { readonly status: "answered"; readonly what: string } | { readonly status: "unknown" | "notAllowed" }
  >;
}
