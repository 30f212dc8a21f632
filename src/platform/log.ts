/** The log: LogTape to stderr with every known secret masked, loaded at the first record that is wanted. */

import type { LogRecord } from "@logtape/logtape";
import type { Log, LogLevel } from "../core/platform.ts";
import { LOOKALIKES, MASKED } from "../lib/mask.ts";
import { stripControls } from "../lib/text.ts";

const secretFields = [/token/i, /api[_-]?key/i, /authorization/i, /secret/i, /password/i];

const ranks: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 };

interface Entry {
  readonly level: LogLevel;
  readonly message: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface ProcessLog extends Log {
  /** Records below are dropped at no cost. */
  setLevel(level: LogLevel): void;
  /** Resolves when every record so far is written. */
  flush(): Promise<void>;
}

function show(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(`${value.name}: ${value.message}`);
  if (typeof value === "string") return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? String(value);
}

/** One line a record: time, level, message, then the properties. A stack follows at level `debug`. */
function format({ timestamp, level, message, properties }: LogRecord): string {
  const pairs = Object.entries(properties).map(([key, value]) => ` ${key}=${show(value)}`);
  const { error } = properties;
  const stack = level === "debug" && error instanceof Error && error.stack ? `\n${error.stack}` : "";
  const line = `${new Date(timestamp).toISOString()} ${level.toUpperCase()} ${message.join("")}${pairs.join("")}${stack}`;
  return `${stripControls(line)}\n`;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Takes every known secret out of a text. */
  readonly mask: (text: string) => string;
  /** Takes whole lines. */
  readonly write: (line: string) => void;
}

export function createLog({ level, mask, write }: LogOptions): ProcessLog {
  let lowest = ranks[level];
  let emit: ((entry: Entry) => void) | undefined;
  let loading: Promise<void> | undefined;
  const waiting: Entry[] = [];

  async function load(): Promise<void> {
    const [{ configureSync, getLogger }, { redactByField, redactByPattern }] = await Promise.all([
      import("@logtape/logtape"),
      import("@logtape/redaction"),
    ]);
    const masked = redactByPattern(format, [...LOOKALIKES]);
    const sink = redactByField(
      (record) => {
        write(mask(masked(record)));
      },
      { fieldPatterns: secretFields, action: () => MASKED },
    );
    configureSync({
      reset: true,
      sinks: { stderr: sink },
      loggers: [
        { category: "nanobot", sinks: ["stderr"], lowestLevel: "debug" },
        { category: ["logtape", "meta"], sinks: [] },
      ],
    });
    const logger = getLogger("nanobot");
    emit = ({ level: at, message, properties }) =>
      // LogTape reads braces in a message as places for properties.
      logger[at](message.replace(/[{}]/g, "$&$&"), { ...properties });
    for (const entry of waiting.splice(0)) emit(entry);
  }

  function record(at: LogLevel, message: string, properties: Readonly<Record<string, unknown>> = {}): void {
    if (ranks[at] < lowest) return;
    const entry = { level: at, message, properties };
    if (emit) {
      emit(entry);
    } else {
      waiting.push(entry);
      loading ??= load();
    }
  }

  return {
    debug: (message, properties) => record("debug", message, properties),
    info: (message, properties) => record("info", message, properties),
    warn: (message, properties) => record("warn", message, properties),
    error: (message, properties) => record("error", message, properties),
    setLevel(next) {
      lowest = ranks[next];
    },
    async flush() {
      await loading;
    },
  };
}
