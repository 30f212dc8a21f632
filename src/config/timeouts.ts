/** How long a model may take, from the variables that the original reads too. */

import { UserError } from "../core/errors.ts";
import type { Environment } from "../core/platform.ts";

/** A day: more is a slip of the pen. */
const MOST_SECONDS = 86_400;
/** In seconds, by variable. `zero` is what 0 means: no limit to speak of, and, as in the original, the default. */
const LONGEST_CALL = { variable: "NANOBOT_LLM_TIMEOUT_S", fallback: 300, zero: MOST_SECONDS };
const LONGEST_SILENCE = { variable: "NANOBOT_STREAM_IDLE_TIMEOUT_S", fallback: 90, zero: 90 };

export interface Timeouts {
  /** One call to a model as a whole. */
  readonly callTimeoutMs: number;
  /** A silence in the middle of a reply. */
  readonly streamIdleMs: number;
}

/** Throws a `UserError` for a value that is no number of seconds. */
export function timeoutsFrom(env: Environment): Timeouts {
  return { callTimeoutMs: read(env, LONGEST_CALL), streamIdleMs: read(env, LONGEST_SILENCE) };
}

function read(env: Environment, { variable, fallback, zero }: typeof LONGEST_CALL): number {
  const text = env[variable]?.trim() ?? "";
  if (text === "") return fallback * 1_000;
  const seconds = Number(text);
  if (seconds === 0) return zero * 1_000;
  if (seconds > 0 && seconds <= MOST_SECONDS) return seconds * 1_000;
  throw new UserError(`${variable} is not a number of seconds`, {
    hint: `Give a number above 0 and at most ${MOST_SECONDS}, or leave it unset for ${fallback}`,
  });
}
