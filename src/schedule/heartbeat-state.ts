/** What the heartbeat knows of the process before: `.nanobot/heartbeat.json`. */

import type { InboundId } from "../core/messages.ts";
import type { Clock, FileSystem, Log } from "../core/platform.ts";
import { isObject } from "../lib/is-object.ts";
import { createJsonFile, refuseNewer } from "../lib/json-file.ts";
import { lazy } from "../lib/lazy.ts";
import { join } from "../lib/path.ts";

const VERSION = 1;
const LONGEST_FILE = 64 * 1024;
/** Of a name in the file. */
const LONGEST_NAME = 500;

/** News that somebody was told, and where. */
interface Alert {
  readonly turn: InboundId;
  /** Of its text, however that is written. */
  readonly digest: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly channel: string;
  readonly chatId: string;
}

interface HeartbeatState {
  /** When it was last asked what is due: milliseconds since the epoch. */
  readonly beatAt?: number;
  /** The last turn that it began. */
  readonly turn?: InboundId;
  readonly alert?: Alert;
}

export interface StateOptions {
  readonly files: FileSystem;
  readonly log: Log;
  readonly clock: Pick<Clock, "now">;
  /** Absolute and real. */
  readonly workspace: string;
}

/** What cannot be read or written is warned of, and holds for this process. Nothing rejects. */
export interface StateFile {
  get(): Promise<HeartbeatState>;
  /** On disk when it resolves, if that is possible. */
  update(change: HeartbeatState): Promise<void>;
}

function timeOf(value: unknown): number | undefined {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function nameOf(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= LONGEST_NAME ? value : undefined;
}

function parseAlert(value: unknown): Alert | undefined {
  if (!isObject(value)) return undefined;
  const turn = nameOf(value["turn"]);
  const digest = nameOf(value["digest"]);
  const at = timeOf(value["at"]);
  const channel = nameOf(value["channel"]);
  const chatId = nameOf(value["chatId"]);
  if (turn === undefined || digest === undefined || at === undefined) return undefined;
  if (channel === undefined || chatId === undefined) return undefined;
  return { turn: turn as InboundId, digest, at, channel, chatId };
}

function parseState(value: unknown, path: string): HeartbeatState | undefined {
  if (!isObject(value)) return undefined;
  refuseNewer(value, { path, version: VERSION });
  const beatAt = timeOf(value["beatAt"]);
  const turn = nameOf(value["turn"]);
  const alert = parseAlert(value["alert"]);
  return {
    ...(beatAt === undefined ? {} : { beatAt }),
    ...(turn === undefined ? {} : { turn: turn as InboundId }),
    ...(alert === undefined ? {} : { alert }),
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function format({ beatAt, turn, alert }: HeartbeatState): object {
  return {
    v: VERSION,
    ...(beatAt === undefined ? {} : { beatAt: isoTime(beatAt) }),
    ...(turn === undefined ? {} : { turn }),
    ...(alert === undefined ? {} : { alert: { ...alert, at: isoTime(alert.at) } }),
  };
}

export function createStateFile({ files, log, clock, workspace }: StateOptions): StateFile {
  const path = join(workspace, ".nanobot", "heartbeat.json");
  const parse = (value: unknown) => parseState(value, path);
  const file = createJsonFile({ files, log, path, parse, longest: LONGEST_FILE });
  /** Since this process began. */
  let own: HeartbeatState = {};
  let writing: Promise<void> = Promise.resolve();

  const earlier = lazy(async (): Promise<HeartbeatState> => (await file.readOrBegin(clock.now())) ?? {});

  async function write(): Promise<void> {
    try {
      // First, because a file that must stay as it is does so.
      const before = await earlier();
      await file.write(format({ ...before, ...own }));
    } catch (error) {
      log.warn("Could not record what the heartbeat did", { path, error });
    }
  }

  return {
    async get() {
      try {
        return { ...(await earlier()), ...own };
      } catch (error) {
        log.warn("Could not read what the heartbeat did before", { path, error });
        return own;
      }
    },
    update(change) {
      own = { ...own, ...change };
      writing = writing.then(write);
      return writing;
    },
  };
}
