/** The pause of what nobody waits for, after a provider refused the key or the account was exhausted. */

import type { BackgroundPause } from "../core/background.ts";
import type { ModelErrorKind } from "../core/model.ts";
import type { Clock, Log } from "../core/platform.ts";
import { backgroundPauseBegan } from "../lib/phrases.ts";

const FIRST_MS = 5 * 60_000;
const LONGEST_MS = 6 * 60 * 60_000;

export interface BackgroundPauseOptions {
  readonly clock: Pick<Clock, "now" | "elapsed">;
  readonly log: Log;
  /** Once for each `id`. */
  readonly tellOwner: (text: string, id: string) => Promise<void>;
}

function isForOwner(error: ModelErrorKind | undefined): error is "auth" | "quota" {
  return error === "auth" || error === "quota";
}

export function createBackgroundPause({ clock, log, tellOwner }: BackgroundPauseOptions): BackgroundPause {
  /** How long the last pause of the series was, and when it ends; of no series, 0. */
  let lastMs = 0;
  let endsAt = 0;

  function leftMs(): number {
    return lastMs === 0 ? 0 : Math.max(0, endsAt - clock.elapsed());
  }

  async function tell(error: "auth" | "quota"): Promise<void> {
    try {
      // The time is in it so that a program that is restarted again and again does not tell each time.
      const id = `background-paused:${error}:${Math.floor(clock.now() / LONGEST_MS)}`;
      await tellOwner(backgroundPauseBegan(error, FIRST_MS), id);
    } catch (problem) {
      log.warn("The owner was not told that work in the background is paused", { error: problem });
    }
  }

  return {
    leftMs,
    observe({ origin, error }) {
      // Whoever waits for an answer is told by it.
      if (origin === "chat" || origin === "api") {
        // The provider works again, so that it is tried now; as long as that fails, it is the same series.
        if (error === undefined) endsAt = Math.min(endsAt, clock.elapsed());
        return;
      }
      if (error === undefined) {
        lastMs = 0;
        return;
      }
      // Calls that were under way say nothing new.
      if (!isForOwner(error) || leftMs() > 0) return;
      const isFirst = lastMs === 0;
      lastMs = isFirst ? FIRST_MS : Math.min(lastMs * 2, LONGEST_MS);
      endsAt = clock.elapsed() + lastMs;
      log.warn("Work in the background is paused", { error, minutes: lastMs / 60_000 });
      if (isFirst) void tell(error);
    },
  };
}
