/** A log that remembers. */

import type { Log } from "../../src/core/platform.ts";

export interface FakeLog extends Log {
  readonly lines: readonly string[];
}

export function createFakeLog(): FakeLog {
  const lines: string[] = [];
  const add =
    (level: string) =>
    (message: string, properties: Readonly<Record<string, unknown>> = {}): void => {
      lines.push(`${level} ${message} ${Object.values(properties).join(" ")}`.trim());
    };
  return { lines, debug: add("debug"), info: add("info"), warn: add("warn"), error: add("error") };
}
