/** A turn shown again: what went in and out of the model and the tools, as the session recorded it. */

import type { StoredMessage } from "./session.ts";

export interface ReplayOptions {
  readonly key: string;
  /** Its id; the last one without. */
  readonly turn?: string;
  /** Runs the loop again on what is recorded, with no model called and no tool executed. */
  readonly dry: boolean;
}

/** Something that the loop would do otherwise now. */
export interface ReplayDifference {
  /** Which of the model's answers it is about, from 1; absent when it is about the end. */
  readonly round?: number;
  /** One sentence for a person. */
  readonly detail: string;
  readonly recorded?: string;
  readonly now?: string;
}

export interface TurnReplay {
  /** Absent in sessions of programs that gave turns no ids. */
  readonly turn?: string;
  /** Not recorded: what it would be now. */
  readonly systemPromptNow: string;
  /** Of this turn alone, oldest first. */
  readonly messages: readonly StoredMessage[];
  /** Of a dry run. */
  readonly differences?: readonly ReplayDifference[];
}
