/** What keeps the work of a process that nobody waits for within bounds, and whom it tells. */

import type { BackgroundPause, HourlyLimits } from "../core/background.ts";
import type { Caller, ChatReply } from "../core/model.ts";
import type { Log, Platform } from "../core/platform.ts";
import { lazy } from "../lib/lazy.ts";
import { tooMuchInAnHour } from "../lib/phrases.ts";
import type { Settings } from "./settings.ts";

const HOUR_MS = 3_600_000;

/** Tells the owner something, once for each `id`. */
export type TellOwner = (text: string, id: string) => Promise<void>;

export interface BackgroundOptions {
  readonly platform: Pick<Platform, "clock">;
  readonly settings: Settings;
  readonly log: Log;
}

export function createBackground({ platform: { clock }, settings, log }: BackgroundOptions) {
  /** Whoever runs no gateway is at the terminal, where warnings are seen. */
  let tell: TellOwner = async (text) => log.warn(text);
  const tellOwner: TellOwner = (text, id) => tell(text, id);

  let opened: BackgroundPause | undefined;
  const openPause = lazy(async (): Promise<BackgroundPause> => {
    const { createBackgroundPause } = await import("../schedule/background-pause.ts");
    opened = createBackgroundPause({ clock, log, tellOwner });
    return opened;
  });

  /** Of what goes on and on, once an hour. Never throws and never waits. */
  function tellHourly(text: string, key: string): void {
    const hour = Math.floor(clock.now() / HOUR_MS);
    tellOwner(text, `${key}:${hour}`).catch((error: unknown) =>
      log.warn("The owner was not told of a loop that was stopped", { error }),
    );
  }

  const limits = lazy(async (): Promise<HourlyLimits> => {
    const { createHourlyLimits } = await import("../lib/hourly-limits.ts");
    const { toolCallsPerHour, tasksPerHour } = await settings.limits();
    return createHourlyLimits({
      clock,
      toolCalls: toolCallsPerHour,
      tasks: tasksPerHour,
      onExceeded: (what, sessionKey) =>
        tellHourly(tooMuchInAnHour(what, sessionKey), `limit:${what}:${sessionKey}`),
    });
  });

  const pause: BackgroundPause = {
    leftMs: () => opened?.leftMs() ?? 0,
    observe: (call) => {
      // The first call that fails is the first that can begin a pause.
      if (opened === undefined && call.error === undefined) return;
      openPause().then(
        (open) => open.observe(call),
        (error: unknown) => log.warn("A failed call did not pause the background", { error }),
      );
    },
  };

  return {
    pause,
    limits,
    tellOwner,
    tellHourly,
    observe: (caller: Caller | undefined, reply: ChatReply): void =>
      pause.observe({ origin: caller?.origin, error: reply.ok ? undefined : reply.error.kind }),
    /** From now on the owner is told by `wanted`. */
    use(wanted: TellOwner): void {
      tell = wanted;
    },
  };
}

export type Background = ReturnType<typeof createBackground>;
