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
  /** Of a gateway. Whoever runs none is at the terminal, where warnings are seen. */
  let tell: TellOwner | undefined;
  const tellOwner: TellOwner = async (text, id) => (tell === undefined ? log.warn(text) : tell(text, id));

  let opened: BackgroundPause | undefined;
  const openPause = lazy(async (): Promise<BackgroundPause> => {
    const { createBackgroundPause } = await import("../schedule/background-pause.ts");
    // Without a gateway nobody is away, and what could not be done says so at the terminal itself.
    const warn: Log["warn"] = (...line) => (tell === undefined ? log.info(...line) : log.warn(...line));
    opened = createBackgroundPause({
      clock,
      log: { ...log, warn },
      tellOwner: async (text, id) => tell?.(text, id),
    });
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

  /** Resolves when a pause that the call begins has begun: what waits for its turn must not begin before. Never rejects. */
  async function observe(call: Parameters<BackgroundPause["observe"]>[0]): Promise<void> {
    // The first call that fails is the first that can begin a pause.
    if (opened === undefined && call.error === undefined) return;
    try {
      (await openPause()).observe(call);
    } catch (error) {
      log.warn("A failed call did not pause the background", { error });
    }
  }

  const pause: BackgroundPause = {
    leftMs: () => opened?.leftMs() ?? 0,
    observe: (call) => void observe(call),
  };

  return {
    pause,
    limits,
    tellOwner,
    tellHourly,
    observe: (caller: Caller | undefined, reply: ChatReply): Promise<void> =>
      observe({ origin: caller?.origin, error: reply.ok ? undefined : reply.error.kind }),
    /** From now on the owner is told by `wanted`. */
    use(wanted: TellOwner): void {
      tell = wanted;
    },
  };
}

export type Background = ReturnType<typeof createBackground>;
