/** One journal: records are written in order and many at once, synced together, and a failing disk is waited for. */

import { Stopped, UserError } from "../../core/errors.ts";
import type { Clock, FileSystem, Log } from "../../core/platform.ts";
import { quote } from "../../lib/file-error.ts";
import { createDisk, type Disk } from "./disk.ts";
import { afterDoubt, countUpTo, type Item, linesOf, refuse } from "./items.ts";
import { type Contents, reportOf, settle } from "./read.ts";
import { createRecovery } from "./recovery.ts";

/** In characters. Longer ones could not be read back. */
const LONGEST_LINE = 8 * 1024 * 1024;
/** Characters written at once; what comes meanwhile waits for the next write. */
const MOST_AT_ONCE = 4 * 1024 * 1024;

export interface JournalFile {
  /**
   * Resolves when the line is on disk; `onDurable` runs then, in the order of the calls. Rejects with a
   * `UserError` when that failed: then it is as if it had never been put. `voided` is the line that says so,
   * for what the disk may have of it.
   */
  put(line: string, voided: string, onDurable: () => void): Promise<void>;
  /** Resolves when the line is written. A failing disk delays it; nothing but `close` gives it up. */
  note(line: string): Promise<void>;
  /** Runs `task` in its turn, behind what was put before; at once when nothing is under way. */
  inTurn(task: () => void): void;
  /** Resolves when everything that came before is on disk. */
  synced(): Promise<void>;
  /** After an error, tries to take up work again. Rejects with a `UserError` as long as that is in vain. */
  ready(): Promise<void>;
  problem(): string | undefined;
  readonly bytes: number;
  /**
   * Makes the file anew from `lines`, asked for when every put is on disk or still to be written. Resolves to
   * whether it was done; `onDone` has run then, before anything else was written.
   */
  rewrite(lines: () => Iterable<string>, onDone: () => void): Promise<boolean>;
  /** Resolves when everything is on disk, and rejects when that cannot be. */
  close(): Promise<void>;
}

export interface JournalFileOptions {
  readonly files: FileSystem;
  readonly clock: Pick<Clock, "after" | "now">;
  readonly log: Log;
  readonly path: string;
  readonly contents: Contents;
  /** The lines that say all that is known: what was put and is on disk, and everything that was noted. */
  readonly live: () => Iterable<string>;
}

interface Rewrite {
  readonly lines: () => Iterable<string>;
  readonly onDone: () => void;
  readonly resolve: (isDone: boolean) => void;
}

export async function openJournalFile(options: JournalFileOptions): Promise<JournalFile> {
  const { files, clock, log, path, contents, live } = options;
  const disk = createDisk({ files, log, path });
  const goesOn = await settle(contents, { files, path, log, now: clock.now() });
  if (goesOn) await disk.open(contents);
  else await disk.replace(live());
  const file = createJournalFile(disk, options);
  const { damaged, reported } = contents;
  if (goesOn && damaged > reported) {
    file.note(reportOf(damaged)).catch((error) => log.debug("Could not record damage", { path, error }));
  }
  return file;
}

function createJournalFile(disk: Disk, { clock, log, path, live }: JournalFileOptions): JournalFile {
  let queue: Item[] = [];
  /** Written and not known to be on disk, by the sync that tells. */
  let unconfirmed: Item[][] = [];
  let lastSync: Promise<void> = Promise.resolve();
  let asked: Rewrite | undefined;
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;
  let problem: UserError | undefined;
  let isClosed = false;
  let closing: Promise<void> | undefined;
  const recovery = createRecovery(clock, restore);

  function add(item: Item): void {
    queue.push(item);
    start();
  }

  function start(): void {
    if (isRunning || problem !== undefined) return;
    isRunning = true;
    running = run();
  }

  async function run(): Promise<void> {
    // What is put in the same moment is written together.
    await Promise.resolve();
    while (problem === undefined && (asked !== undefined || queue.length > 0)) {
      if (asked !== undefined) await rewriteNow(asked);
      else await write(nextBatch());
    }
    isRunning = false;
  }

  function nextBatch(): Item[] {
    const count = countUpTo(queue, MOST_AT_ONCE);
    const batch = queue.slice(0, count);
    queue = queue.slice(count);
    return batch;
  }

  async function write(batch: readonly Item[]): Promise<void> {
    const lines = linesOf(batch);
    try {
      if (lines.length > 0) await disk.append(`${lines.join("\n")}\n`);
    } catch (error) {
      return fail(error, batch);
    }
    for (const item of batch) if (item.kind === "note") item.resolve();
    const others = batch.filter((item) => item.kind !== "note");
    if (others.some((item) => item.kind === "put")) sync(others);
    else if (unconfirmed.length > 0) unconfirmed.at(-1)?.push(...others);
    else confirm([others]);
  }

  function sync(written: Item[]): void {
    unconfirmed.push(written);
    lastSync = disk.sync().then(
      // An error may have come between: then those who wait have been told.
      () => confirm(unconfirmed.splice(0, unconfirmed.indexOf(written) + 1)),
      (error) => {
        if (unconfirmed.includes(written)) fail(error, []);
      },
    );
  }

  function confirm(batches: readonly (readonly Item[])[]): void {
    for (const item of batches.flat()) item.resolve();
  }

  function fail(error: unknown, batch: readonly Item[]): void {
    const isFirst = problem === undefined;
    problem = problemOf(error);
    const doubtful = [...unconfirmed.flat(), ...batch];
    const untouched = queue;
    unconfirmed = [];
    queue = [...afterDoubt(doubtful), ...untouched.filter((item) => item.kind === "note")];
    refuse([...doubtful, ...untouched], problem);
    asked?.resolve(false);
    asked = undefined;
    // A sync and the write behind it fail together.
    if (!isFirst) return;
    log.error("Could not write a journal; trying again until it works", { path, error });
    recovery.begin();
  }

  function problemOf(error: unknown): UserError {
    if (error instanceof UserError) return error;
    return new UserError(`Cannot write ${quote(path)}: ${String(error)}`, { cause: error, exitCode: 1 });
  }

  async function restore(): Promise<void> {
    await running;
    try {
      await disk.restore(live);
    } catch (error) {
      problem = problemOf(error);
      return;
    }
    problem = undefined;
    recovery.end();
    log.info("A journal can be written again", { path });
    start();
  }

  async function rewriteNow({ lines, onDone, resolve }: Rewrite): Promise<void> {
    await lastSync;
    asked = undefined;
    if (problem !== undefined) return resolve(false);
    try {
      await disk.replace(lines());
    } catch (error) {
      if (await disk.isOurs()) log.warn("Could not make a journal smaller", { path, error });
      else fail(error, []);
      return resolve(false);
    }
    onDone();
    resolve(true);
  }

  function requireOpen(): void {
    if (isClosed) throw new Stopped("shutdown");
  }

  function waitFor(line: string, voided: string | undefined, onDurable: () => void): Promise<void> {
    return new Promise((done, reject) => {
      const resolve = () => {
        onDurable();
        done();
      };
      add({ kind: "put", line, voided, resolve, reject });
    });
  }

  async function synced(): Promise<void> {
    if (problem !== undefined) throw problem;
    await waitFor("", undefined, () => {});
  }

  async function close(): Promise<void> {
    if (problem !== undefined) await recovery.attempt();
    isClosed = true;
    try {
      await synced();
    } finally {
      recovery.end();
      await running;
      for (const item of queue) if (item.kind === "note") item.reject(problem);
      queue = [];
      await disk.close();
    }
  }

  return {
    async put(line, voided, onDurable) {
      requireOpen();
      if (problem !== undefined) throw problem;
      if (line.length > LONGEST_LINE) {
        throw new UserError(`Cannot take a message of ${line.length} characters`, {
          hint: "Send it in parts, or as a file",
        });
      }
      return waitFor(line, voided, onDurable);
    },
    async note(line) {
      requireOpen();
      return new Promise((resolve, reject) => add({ kind: "note", line, resolve, reject }));
    },
    inTurn(task) {
      const isIdle = queue.length === 0 && !isRunning && unconfirmed.length === 0;
      if (isIdle || problem !== undefined || isClosed) task();
      else add({ kind: "turn", resolve: task });
    },
    async synced() {
      requireOpen();
      await synced();
    },
    async ready() {
      if (problem !== undefined) await recovery.attempt();
      if (problem !== undefined) throw problem;
    },
    problem: () => problem?.message,
    get bytes() {
      return disk.bytes;
    },
    rewrite: (lines, onDone) =>
      new Promise((resolve) => {
        if (asked !== undefined || problem !== undefined || isClosed) return resolve(false);
        asked = { lines, onDone, resolve };
        start();
      }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
