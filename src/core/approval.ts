/** What is put to the owner before it is done. */

import type { ToolRun } from "./toolbox.ts";

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
