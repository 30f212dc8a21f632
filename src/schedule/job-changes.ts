/** What becomes of a job's object in the file when it ran, or when somebody switches it. */

import type { Job, JobRun } from "../core/schedule.ts";
import { type Entry, MOST_RUNS, readEntry } from "./jobs-file.ts";
import { fieldOf, objectOf, type RawObject, withFields } from "./raw-fields.ts";
import { nextRunOf } from "./slots-of-job.ts";

/** Of one slot of one job. */
export type JobRecord = {
  readonly jobId: string;
  readonly slotMs: number;
} & (
  | { readonly kind: "put" }
  /** Without `run` nobody knows how it ended. */
  | { readonly kind: "ended"; readonly run?: JobRun }
  | { readonly kind: "skipped"; readonly run: JobRun }
);

interface ChangeContext {
  /** The agent's. */
  readonly timeZone: string;
  readonly nowMs: number;
}

function withState(raw: RawObject, fields: RawObject): RawObject {
  return withFields(raw, { state: withFields(objectOf(raw, "state"), fields) });
}

/** The original's programs show it, and trust it. */
function withNextRun(raw: RawObject, context: ChangeContext): RawObject {
  const { job } = readEntry(raw);
  return job === undefined ? raw : withState(raw, { nextRunAtMs: nextRunOf(job, context) ?? null });
}

/** Runs that we cannot read stay where they are, until there are too many. */
function withRun(raw: RawObject, run: JobRun): RawObject {
  const { status, error, runAtMs, durationMs } = run;
  const history = fieldOf(objectOf(raw, "state"), "runHistory");
  const before: readonly unknown[] = Array.isArray(history) ? history : [];
  const added = { runAtMs, status, durationMs, error: error ?? null };
  return withState(raw, {
    runHistory: [...before, added].slice(-MOST_RUNS),
    lastStatus: status,
    lastError: error ?? null,
  });
}

/** Whether this slot was the only one it has. A job that was given another time meanwhile goes on. */
function isOver({ schedule }: Job, slotMs: number): boolean {
  return schedule.kind === "at" && schedule.atMs <= slotMs;
}

/** `undefined` when the job is done with and goes. */
export function recorded(
  { raw, job }: Entry & { readonly raw: RawObject; readonly job: Job },
  record: JobRecord,
  context: ChangeContext,
): RawObject | undefined {
  const { slotMs } = record;
  if (record.kind === "put") return withNextRun(withState(raw, { lastRunAtMs: slotMs }), context);
  const { run } = record;
  // How it ended is recorded already.
  if (run === undefined && !job.enabled) return raw;
  const kept = run === undefined ? raw : withRun(raw, run);
  const isFirstNews = record.kind === "ended" && (job.lastRunAtMs ?? Number.NEGATIVE_INFINITY) < slotMs;
  const after = isFirstNews ? withState(kept, { lastRunAtMs: slotMs }) : kept;
  if (!isOver(job, slotMs)) return withNextRun(after, context);
  // What went wrong stays to be looked at.
  const isDone = record.kind === "ended" && (run === undefined || run.status === "ok");
  if (isDone && job.deleteAfterRun) return undefined;
  return withNextRun(withFields(after, { enabled: false }), context);
}

export function switched(raw: RawObject, enabled: boolean, context: ChangeContext): RawObject {
  return withNextRun(withFields(raw, { enabled, updatedAtMs: context.nowMs }), context);
}
