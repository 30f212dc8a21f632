/** Which results are told together, and that each is told once, however often the program ends meanwhile. */

import type { Clock, Log } from "../core/platform.ts";
import type { TaskBook } from "./book.ts";
import type { TaskRecord } from "./record.ts";
import { type PublishInbound, publishPersistently, reportOf } from "./report.ts";

export interface ReportingOptions {
  readonly publish: PublishInbound;
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly log: Log;
  /** Ends what is not with the bus by then, for the next process. */
  readonly signal: AbortSignal;
  readonly save: (book: TaskBook) => Promise<void>;
}

export interface Reporting {
  /** Begins to bring a result where it was asked for. */
  report(book: TaskBook, id: string): void;
  /** The same for all that have not been told of yet. */
  reportAll(book: TaskBook): void;
  /** Results on their way to the bus. None rejects. */
  pending(): readonly Promise<void>[];
}

/** Told in one message they cost a chat one turn. Whoever asked must be the same, since the turn acts for them. */
function addressOf({ sessionKey, asker }: TaskRecord): string {
  const { sender, channel, chatId, thread, source } = asker;
  return JSON.stringify([sessionKey, channel, chatId, thread, sender, source]);
}

/**
 * Settles which of `tasks`, all cut off by the same end of the program, are told of together. It has to be on record
 * before any is told: a process that comes later may find more that were cut off, and must tell of the same ones under
 * the same id.
 */
export function joinReports(book: TaskBook, tasks: readonly TaskRecord[]): void {
  for (const group of groupsBy(tasks, addressOf)) {
    const [first] = group;
    if (group.length === 1) continue;
    for (const { id } of group) book.change(id, { toldWith: first.id });
  }
}

type Group = readonly [TaskRecord, ...TaskRecord[]];

function groupsBy(tasks: readonly TaskRecord[], keyOf: (task: TaskRecord) => string): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const task of tasks) {
    const key = keyOf(task);
    const before = groups.get(key);
    groups.set(key, before === undefined ? [task] : [...before, task]);
  }
  return [...groups.values()];
}

export function createReporting({ publish, clock, log, signal, save }: ReportingOptions): Reporting {
  const underWay = new Set<Promise<void>>();

  async function bring(book: TaskBook, ended: Group): Promise<void> {
    const message = reportOf(ended, clock.now());
    if (!(await publishPersistently(message, { publish, clock, log, signal }))) return;
    for (const { id } of ended) book.change(id, { reported: true });
    await save(book);
  }

  function begin(book: TaskBook, ended: Group): void {
    const told = bring(book, ended)
      .catch((error: unknown) => log.error("A task could not be reported", { task: ended[0].id, error }))
      .finally(() => underWay.delete(told));
    underWay.add(told);
  }

  return {
    report(book, id) {
      const ended = book.get(id);
      if (ended !== undefined) begin(book, [ended]);
    },
    reportAll(book) {
      const untold = book.all().filter(({ reported }) => !reported);
      for (const group of groupsBy(untold, ({ id, toldWith = id }) => toldWith)) begin(book, group);
    },
    pending: () => [...underWay],
  };
}
