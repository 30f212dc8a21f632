/** Decides when which conversation goes into memory: when it grew too long, when it fell silent, when it began anew. */

import type { BackgroundPause } from "../core/background.ts";
import type { Consolidation, MemoryStore } from "../core/memory.ts";
import type { Clock, FileSystem, Locks, Log } from "../core/platform.ts";
import type { SessionFile, SessionStore } from "../core/session.ts";
import { aborted } from "../lib/abort.ts";
import { maskLookalikes } from "../lib/mask.ts";
import type { ConsolidationModel } from "./ask.ts";
import { createQueue } from "./queue.ts";
import { createRemember } from "./remember.ts";
import { createStamps } from "./stamp.ts";
import { createStep, createStepJob } from "./step.ts";
import { createWrittenNotes } from "./written.ts";

/** The part of the budget that a conversation may take before it is shortened: below what the window cuts by itself. */
const SOFT_LIMIT = 0.85;

/** Sessions that are watched for silence at once. */
const MOST_WATCHED = 10_000;

/** How far back the first look goes, and how many files of a kind it takes. */
const LOOK_BACK_MS = 7 * 24 * 60 * 60_000;
const LOOK_BACK_FILES = 100;

const SHORTEST_CHECK_MS = 1_000;

/** What nobody said to anybody. */
const NOT_REMEMBERED = /^(?:heartbeat$|cron:|subagent:|dream:)/;

export interface ConsolidationOptions {
  readonly memory: MemoryStore;
  readonly sessions: Pick<SessionStore, "files" | "unconsolidated" | "consolidated">;
  readonly model: () => Promise<ConsolidationModel>;
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly locks: Locks;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
  /** The part of the budget that a conversation is brought down to. */
  readonly ratio: number;
  /** Minutes of silence after which all of a conversation goes into memory; 0 never. */
  readonly idleMinutes: number;
  /** Between two looks for silent conversations. */
  readonly idleCheckMs: number;
  /** About so many messages stay in the prompt all the same. */
  readonly keepMessages?: number;
  readonly pause: BackgroundPause;
  /** Takes the secrets that are known out of a text. What only looks like one goes too: memory is kept for ever. */
  readonly mask: (text: string) => string;
  /** The process goes on for long: what fails is tried again later. Otherwise at once, and what must wait is left to the next. */
  readonly isPatient: boolean;
}

interface Silence {
  /** By the clock, and by the time that the process has run. */
  readonly at: number;
  readonly elapsed: number;
  /** An earlier process left it. */
  readonly isFound: boolean;
}

export function createConsolidation({ keepMessages = 8, ...options }: ConsolidationOptions): Consolidation {
  const { memory, sessions, files, clock, log, workspace, ratio, idleMinutes } = options;
  const mask = (text: string) => maskLookalikes(options.mask(text));
  const telling = { stamps: createStamps(() => memory.timeZone), mask };
  const remember = createRemember({ ...telling, memory, clock, log });
  const notes = createWrittenNotes({ files, log, workspace });
  const step = createStep({ ...options, keepMessages, telling, remember, notes });
  const queue = createQueue({ clock, log, create: createStepJob, step });
  const idleMs = idleMinutes * 60_000;
  /** Since when which session has been silent, the one that was watched for longest first. */
  const watched = new Map<string, Silence>();

  function watch(key: string, silence: Silence): void {
    if (idleMs === 0) return;
    watched.delete(key);
    watched.set(key, silence);
    const [oldest] = watched.keys();
    if (watched.size > MOST_WATCHED && oldest !== undefined) watched.delete(oldest);
  }

  function isLong({ at, elapsed }: Silence): boolean {
    // The clock may be set back, and a machine that sleeps does not count.
    return Math.max(clock.now() - at, clock.elapsed() - elapsed) >= idleMs;
  }

  function takeSilent(): void {
    for (const [key, silence] of watched) {
      if (!isLong(silence)) continue;
      if (!queue.add({ place: { key }, keepTokens: 0, isFound: silence.isFound })) return;
      watched.delete(key);
    }
  }

  function recent(files: readonly SessionFile[], isArchived: boolean): readonly SessionFile[] {
    const since = clock.now() - LOOK_BACK_MS;
    return files
      .filter((file) => file.isArchived === isArchived && file.modifiedMs >= since)
      .filter(({ key }) => !NOT_REMEMBERED.test(key))
      .sort((one, other) => other.modifiedMs - one.modifiedMs)
      .slice(0, LOOK_BACK_FILES)
      .reverse();
  }

  /** For what earlier processes left. */
  async function lookBack(): Promise<void> {
    const files = await sessions.files();
    for (const { path } of recent(files, true))
      queue.add({ place: { archive: path }, keepTokens: 0, isFound: true });
    for (const { key, modifiedMs } of recent(files, false)) {
      if (!watched.has(key)) watch(key, { at: modifiedMs, elapsed: clock.elapsed(), isFound: true });
    }
    takeSilent();
  }

  return {
    turnEnded({ key, tokens, budget }) {
      if (NOT_REMEMBERED.test(key)) return;
      watch(key, { at: clock.now(), elapsed: clock.elapsed(), isFound: false });
      if (tokens <= SOFT_LIMIT * budget) return;
      queue.add({ place: { key }, keepTokens: Math.floor(ratio * budget), isFound: false });
    },
    archived({ key, path }) {
      watched.delete(key);
      if (NOT_REMEMBERED.test(key)) return;
      queue.add({ place: { archive: path }, keepTokens: 0, isFound: false });
    },
    async run(signal) {
      try {
        await lookBack();
      } catch (error) {
        log.error("Could not look for conversations that are not in memory yet", { error });
      }
      if (idleMs === 0) await aborted(signal);
      const everyMs = Math.max(SHORTEST_CHECK_MS, options.idleCheckMs);
      while (!signal.aborted) {
        // It only rejects when the signal aborts.
        await clock.sleep(everyMs, signal).catch(() => {});
        if (!signal.aborted) takeSilent();
      }
      await queue.stop();
    },
    async settled(signal) {
      await queue.settled(signal);
      if (signal.aborted) await queue.stop();
    },
  };
}
