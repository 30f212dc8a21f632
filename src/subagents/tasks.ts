/** Tasks: subagents behind a queue, what became of each, and the way of their results back to whoever asked. */

import type { BackgroundPause, HourlyLimits } from "../core/background.ts";
import { Stopped } from "../core/errors.ts";
import type { Clock, FileSystem } from "../core/platform.ts";
import type { Spawner, TaskInfo, TaskRequest, TaskResult, Tasks } from "../core/tasks.ts";
import type { ToolRun } from "../core/tool-run.ts";
import { abortable, aborted } from "../lib/abort.ts";
import { lazy } from "../lib/lazy.ts";
import { noTaskFor, SUBAGENT_INTERRUPTED, SUBAGENT_RESULT_GONE, SUBAGENT_STOPPED } from "../lib/phrases.ts";
import { openTaskBook, type TaskBook } from "./book.ts";
import { newRecord, toInfo } from "./new-record.ts";
import { createTaskQueue } from "./queue.ts";
import { isOpen, type TaskRecord, taskId } from "./record.ts";
import { whyNot } from "./refusal.ts";
import { createRepeats } from "./repeats.ts";
import { type PublishInbound, shownResult } from "./report.ts";
import { createReporting, joinReports } from "./reporting.ts";
import { type RunTaskDeps, runTask } from "./run-task.ts";

export interface TasksOptions extends Omit<RunTaskDeps, "endLeft"> {
  readonly publish: PublishInbound;
  /** Subagents at once. */
  readonly limit: number;
  readonly limits: HourlyLimits;
  readonly pause: Pick<BackgroundPause, "leftMs">;
  readonly clock: Pick<Clock, "now" | "sleep" | "after">;
  readonly files: FileSystem;
  readonly mask: (text: string) => string;
  /** Ends what the tools of a task have left running. Left out where they can leave nothing. */
  readonly endLeft?: RunTaskDeps["endLeft"];
  /** Whether the next process is to know of them. */
  readonly record?: boolean;
  /** What came of a task begins the same task again and again, and may not any more. Must not throw. */
  readonly onLoop?: (task: TaskInfo) => void;
}

/** A task of this process, until it is over. */
interface Entry {
  readonly record: TaskRecord;
  readonly temperature: number | undefined;
  readonly abort: AbortController;
  /** Resolves, and never rejects, when nothing of it is left. */
  readonly over: PromiseWithResolvers<TaskResult>;
}

const interrupted: TaskResult = { state: "interrupted", text: SUBAGENT_INTERRUPTED };
const stopped: TaskResult = { state: "stopped", text: SUBAGENT_STOPPED };

export function createTasks(options: TasksOptions): Tasks {
  const { clock, log, files, workspace, mask, pause, limit, limits, publish, record = true } = options;
  const { endLeft = async () => {}, onLoop = () => {} } = options;
  const repeats = createRepeats(clock);
  const closing = new AbortController();
  const entries = new Map<string, Entry>();
  const reporting = createReporting({ publish, clock, log, signal: closing.signal, save });
  let opened: TaskBook | undefined;

  const queue = createTaskQueue<Entry>({
    limit,
    pause,
    clock,
    run,
    isPatient: (entry) => !entry.record.wait,
    onPaused: (entry, leftMs) => void end(entry, { state: "failed", text: noTaskFor(leftMs) }),
  });

  const open = lazy(async (): Promise<TaskBook> => {
    const book = await openTaskBook({ files, clock, log, workspace, isKept: record });
    opened = book;
    book.all().forEach(repeats.began);
    const left = book.all().filter(isOpen);
    for (const { id, wait } of left) markEnded(book, id, interrupted, wait);
    joinReports(
      book,
      left.filter(({ wait }) => !wait),
    );
    if (left.length > 0) await save(book);
    reporting.reportAll(book);
    return book;
  });

  function isoNow(): string {
    return new Date(clock.now()).toISOString();
  }

  function markEnded(book: TaskBook, id: string, { state, text }: TaskResult, reported: boolean): void {
    book.change(id, { state, endedAt: isoNow(), result: text, reported });
  }

  /** What cannot be written is known in memory still: its result is brought where it belongs all the same. */
  async function save(book: TaskBook): Promise<void> {
    await book.save().catch((error: unknown) => log.error("Tasks could not be recorded", { error }));
  }

  async function run(entry: Entry, onAnswered: () => void): Promise<void> {
    const { id } = entry.record;
    const { signal } = entry.abort;
    opened?.change(id, { state: "running" });
    const onToolCall = () => opened?.change(id, { toolCalls: (opened.get(id)?.toolCalls ?? 0) + 1 });
    const { temperature } = entry;
    const deps = { ...options, endLeft };
    try {
      const output = await runTask(entry.record, deps, { temperature, signal, onToolCall, onAnswered });
      await end(
        entry,
        output === "ending" ? "left" : { state: output.status, text: shownResult(output.text, mask) },
      );
    } catch {
      // It was aborted, and by whom `end` finds out.
      await end(entry, "left");
    }
  }

  /** What is `left` stays on record as it was, for the next process to report. */
  async function end(entry: Entry, outcome: TaskResult | "left"): Promise<void> {
    const { id, wait } = entry.record;
    const { signal } = entry.abort;
    const isStopped = () => signal.aborted && !isShutdown(signal.reason);
    const result = isStopped() ? stopped : outcome;
    if (result !== "left" && opened !== undefined) {
      markEnded(opened, id, result, wait || isStopped());
      await save(opened);
      if (!wait && !isStopped()) reporting.report(opened, id);
      else if (opened.get(id)?.reported === false) {
        // It was stopped while it was written.
        opened.change(id, { reported: true });
        await save(opened);
      }
    }
    entries.delete(id);
    entry.over.resolve(result === "left" ? interrupted : result);
  }

  /** Ends one, whether it runs or waits. */
  function callOff(entry: Entry, reason: unknown): Promise<unknown> {
    entry.abort.abort(reason);
    if (queue.remove(entry)) void end(entry, "left");
    return entry.over.promise;
  }

  async function spawn(request: TaskRequest, asker: ToolRun): ReturnType<Spawner["spawn"]> {
    const book = await open();
    asker.signal.throwIfAborted();
    const id = taskId(asker.turn, request.key);
    const begun = book.get(id) ?? (await begin(id, request, asker, book));
    const result = request.wait ? { result: await resultOf(id, asker, book) } : {};
    return { task: toInfo(book.get(id) ?? begun), ...result };
  }

  async function begin(
    id: string,
    request: TaskRequest,
    asker: ToolRun,
    book: TaskBook,
  ): Promise<TaskRecord> {
    const made = newRecord(id, request, asker, { mask, now: clock.now() });
    const isEnding = closing.signal.aborted;
    const against = whyNot(made, { book, pause, repeats, limits, isEnding, onLoop });
    if (against !== undefined) throw against;
    const entry = newEntry(made, request.temperature);
    entries.set(id, entry);
    book.set(made);
    try {
      await book.save();
    } catch (error) {
      book.remove(id);
      entries.delete(id);
      entry.over.resolve(interrupted);
      throw error;
    }
    repeats.began(made);
    // It may have been called off while it was written.
    if (entry.abort.signal.aborted) await end(entry, "left");
    else queue.add(entry);
    return made;
  }

  /** The turn that waits ends its task with itself, except that a turn that will be resumed finds it interrupted. */
  async function resultOf(id: string, asker: ToolRun, book: TaskBook): Promise<TaskResult> {
    const entry = entries.get(id);
    if (entry === undefined) return storedResult(book.get(id));
    const onAbort = () => void callOff(entry, asker.signal.reason);
    if (asker.signal.aborted) onAbort();
    else asker.signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await abortable(entry.over.promise, asker.signal);
    } finally {
      asker.signal.removeEventListener("abort", onAbort);
    }
  }

  return {
    spawnerFor: (asker) => ({ spawn: (request) => spawn(request, asker) }),
    list: () => (opened?.all() ?? []).map(toInfo),
    count: (sessionKey) => ofSession(sessionKey).length,
    async stop(sessionKey) {
      const found = ofSession(sessionKey);
      await Promise.all(found.map((entry) => callOff(entry, new Stopped("user"))));
      return found.length;
    },
    recover: async () => void (await open()),
    async settled(signal) {
      while (!signal.aborted && entries.size + reporting.pending().length > 0) {
        const left = [...[...entries.values()].map(({ over }) => over.promise), ...reporting.pending()];
        await Promise.race([aborted(signal), Promise.all(left)]);
      }
    },
    async close() {
      const reason = new Stopped("shutdown");
      closing.abort(reason);
      queue.close();
      await Promise.all([...entries.values()].map((entry) => callOff(entry, reason)));
      await Promise.all(reporting.pending());
    },
  };

  /** Those that are called off are as good as gone. */
  function ofSession(sessionKey: string): readonly Entry[] {
    return [...entries.values()].filter(
      (entry) => entry.record.sessionKey === sessionKey && !entry.abort.signal.aborted,
    );
  }
}

function newEntry(record: TaskRecord, temperature: number | undefined): Entry {
  return { record, temperature, abort: new AbortController(), over: Promise.withResolvers() };
}

function isShutdown(reason: unknown): boolean {
  return reason instanceof Stopped && reason.by === "shutdown";
}

/** Of a task that is over: a turn that was cut off asks once more for what it waited for. */
function storedResult(record: TaskRecord | undefined): TaskResult {
  if (record === undefined || record.state === "queued" || record.state === "running") return interrupted;
  return { state: record.state, text: record.result ?? SUBAGENT_RESULT_GONE };
}
