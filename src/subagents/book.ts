/** All tasks of a process, and those that earlier ones left; on disk where another process is to know of them. */

import type { Clock, FileSystem, Log } from "../core/platform.ts";
import { explained } from "../lib/file-error.ts";
import { createJsonFile } from "../lib/json-file.ts";
import { createLanes } from "../lib/lanes.ts";
import { join } from "../lib/path.ts";
import { clip } from "../lib/text.ts";
import { isOpen, parseTasks, type TaskRecord, VERSION } from "./record.ts";

/** More than all that can wait, with room for text in any script. */
const LONGEST_FILE = 32 * 1024 * 1024;
/** Tasks that are over and of which somebody may still want to see that they were. */
const MOST_ENDED = 50;
/** Of those the latest keep their result: a turn that was cut off asks once more for what it waited for. */
const WITH_RESULT = 16;
/** Of the text of a task that is over. */
const ENDED_TASK_CHARS = 1_000;

export interface TaskBook {
  /** Oldest first. */
  all(): readonly TaskRecord[];
  get(id: string): TaskRecord | undefined;
  /** In memory at once, and on disk with the next `save`. */
  set(record: TaskRecord): void;
  change(id: string, change: Partial<TaskRecord>): void;
  remove(id: string): void;
  /** Resolves when all that was set before is on disk. Calls share what one write covers. Throws a `UserError`. */
  save(): Promise<void>;
}

export interface BookOptions {
  readonly files: FileSystem;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly workspace: string;
  /** Otherwise all of it is in memory only. */
  readonly isKept: boolean;
}

/** Throws a `UserError` when the file cannot be read, or is of a newer version. A damaged one is put aside. */
export async function openTaskBook({ files, clock, log, workspace, isKept }: BookOptions): Promise<TaskBook> {
  const path = join(workspace, ".nanobot", "tasks.json");
  const file = createJsonFile({ files, log, path, parse: parseTasks(path), longest: LONGEST_FILE });
  const lanes = createLanes({ limit: 1 });
  const found = isKept ? await explained("read", path, load) : [];
  const records = new Map(found.map((record) => [record.id, record]));
  let next: Promise<void> | undefined;

  async function load(): Promise<readonly TaskRecord[]> {
    return (await file.readOrBegin(clock.now())) ?? [];
  }

  function set(record: TaskRecord): void {
    records.set(record.id, record);
    if (!isOpen(record)) tidy();
  }

  /** What is not reported yet stays whole, however old it is. */
  function tidy(): void {
    const over = [...records.values()].filter((record) => !isOpen(record) && record.reported).reverse();
    for (const { id } of over.slice(MOST_ENDED)) records.delete(id);
    for (const [index, record] of over.slice(0, MOST_ENDED).entries()) {
      const result = index < WITH_RESULT ? record.result : undefined;
      records.set(record.id, { ...record, task: clip(record.task, ENDED_TASK_CHARS), result });
    }
  }

  return {
    all: () => [...records.values()],
    get: (id) => records.get(id),
    set,
    change(id, change) {
      const record = records.get(id);
      if (record !== undefined) set({ ...record, ...change });
    },
    remove: (id) => void records.delete(id),
    save() {
      if (!isKept) return Promise.resolve();
      next ??= lanes.run(path, async () => {
        // What comes from here on is in the next.
        next = undefined;
        await explained("write", path, () => file.write({ v: VERSION, tasks: [...records.values()] }));
      });
      return next;
    },
  };
}
