/** Times as the files of memory have them: `YYYY-MM-DD HH:MM` in the agent's time zone. */

import { createTimeOf } from "../lib/local-time.ts";

/** What such a line begins with, in a history and in a list of messages. */
export const STAMPED = /^\[(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?[^\]\n]{0,16}\][ \t]*/;

export interface Stamps {
  /** Of milliseconds since the epoch. */
  of(ms: number): string;
  /** Of a line of a session. The original's times are local already; `undefined` for what is no time. */
  ofLine(timestamp: string | undefined): string | undefined;
}

const NAIVE = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?$/;

/** `zone` is asked when the first time is written: what a runtime knows of zones costs megabytes. */
export function createStamps(zone: () => string): Stamps {
  let timeOf: ((ms: number) => string) | undefined;
  function shown(ms: number): string {
    timeOf ??= createTimeOf(zone());
    return timeOf(ms);
  }

  return {
    of: shown,
    ofLine(timestamp) {
      if (timestamp === undefined) return undefined;
      const [, day, time] = NAIVE.exec(timestamp) ?? [];
      if (day !== undefined) return `${day} ${time}`;
      const ms = Date.parse(timestamp);
      return Number.isNaN(ms) ? undefined : shown(ms);
    },
  };
}
