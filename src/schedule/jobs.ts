/** The jobs of a workspace, whoever else changes their file. */

import { UserError } from "../core/errors.ts";
import type { Ids, Log } from "../core/platform.ts";
import type { Job, NewJob, OwnersJobs } from "../core/schedule.ts";
import { quote } from "../lib/file-error.ts";
import { lazy } from "../lib/lazy.ts";
import { isVisible, oneLine, wellFormed } from "../lib/text.ts";
import { createAdoption } from "./adoption.ts";
import { type JobRecord, recorded, switched } from "./job-changes.ts";
import { type Entry, type JobsFile, LONGEST_MESSAGE, LONGEST_NAME, newRaw, readEntry } from "./jobs-file.ts";
import { checkSchedule, timesInHour } from "./next-run.ts";
import type { RawObject } from "./raw-fields.ts";
import { nextRunOf } from "./slots-of-job.ts";
import { type Changed, createStoredJobs, type Loaded, type StoredJobsOptions } from "./stored-jobs.ts";
import { createComplaints, unreadableOf } from "./unreadable-jobs.ts";

const ID_LENGTH = 8;
/** In an hour. More is seldom meant. */
const OFTEN = 60;
/** Of a name that is made of the message. */
const SHORT_NAME = 40;

export interface JobsOptions extends StoredJobsOptions {
  readonly ids: Ids;
  readonly log: Log;
  /** The agent's. */
  readonly timeZone: string;
  /** Where the first version kept its jobs: they are copied once when the workspace has none. */
  readonly legacyFile: string | undefined;
  /** `limits.jobs`. */
  readonly mostJobs: number;
}

/** The jobs as they were understood last. */
export interface JobsSnapshot {
  readonly jobs: readonly Job[];
  /** When the file was changed last, in milliseconds since the epoch. */
  readonly modifiedMs: number;
  /** Why the file as it is now cannot be read. The same object as long as the file is the same. */
  readonly damage: { readonly problem: string; readonly modifiedMs: number } | undefined;
}

/** What the service needs beside what everybody does. */
export interface JobsStore extends OwnersJobs {
  /** Looks at the file once, and reads it when it changed. Never rejects: a file that is damaged changes nothing. */
  current(): Promise<JobsSnapshot>;
  /** On disk when it resolves. Jobs that are gone are left out. Throws a `UserError` when the file cannot be understood. */
  record(records: readonly JobRecord[]): Promise<void>;
  /** Hears of what is changed through this object by others than the service. The returned function stops that. */
  onChange(listener: () => void): () => void;
}

type OurEntry = Entry & { readonly job: Job; readonly raw: RawObject };

function isOurs(entry: Entry | undefined): entry is OurEntry {
  return entry?.job !== undefined;
}

function jobsOf({ entries }: JobsFile): readonly Job[] {
  return entries.flatMap(({ job }) => (job === undefined ? [] : [job]));
}

export function createJobs(options: JobsOptions): JobsStore {
  const { clock, ids, log, timeZone, mostJobs } = options;
  const stored = createStoredJobs(options);
  const complain = createComplaints({ log, path: stored.path });
  const adopted = lazy(createAdoption({ ...options, stored }));
  const listeners = new Set<() => void>();
  let latest: { readonly loaded: Loaded | undefined; readonly snapshot: JobsSnapshot } = {
    loaded: undefined,
    snapshot: { jobs: [], modifiedMs: 0, damage: undefined },
  };

  function snapshotOf(loaded: Loaded): JobsSnapshot {
    if (loaded.kind === "read") {
      complain(loaded.file);
      const modifiedMs = loaded.stat?.modifiedMs ?? clock.now();
      return { jobs: jobsOf(loaded.file), modifiedMs, damage: undefined };
    }
    const { error, stat } = loaded;
    const isKnown = latest.snapshot.jobs.length > 0;
    log.error(error.message, {
      hint: isKnown ? `${error.hint}, and the jobs that were known before go on` : error.hint,
    });
    return { ...latest.snapshot, damage: { problem: error.message, modifiedMs: stat.modifiedMs } };
  }

  function shown(job: Job): Job {
    return { ...job, nextRunAtMs: nextRunOf(job, { nowMs: clock.now(), timeZone }) };
  }

  function newId({ entries }: JobsFile): string {
    const taken = new Set(entries.map(({ job }) => job?.id));
    let id: string;
    do id = ids.next().slice(-ID_LENGTH);
    while (taken.has(id));
    return id;
  }

  function withNew(file: JobsFile, job: NewJob): Changed<Job> {
    const nowMs = clock.now();
    checkSchedule(job.schedule, { nowMs, timeZone });
    const count = jobsOf(file).length;
    if (count >= mostJobs) {
      throw new UserError(
        `Cannot add a job: there are ${count} already, and limits.jobs allows ${mostJobs}`,
        {
          hint: 'Remove one that is not needed, or raise "limits.jobs"',
          isRefusal: true,
        },
      );
    }
    const entry = readEntry(newRaw(newId(file), job, nowMs));
    if (!isOurs(entry)) throw new UserError(`Cannot add a job: ${entry.problem}`);
    const raw = switched(entry.raw, true, { timeZone, nowMs });
    return {
      file: { ...file, entries: [...file.entries, readEntry(raw)] },
      result: shown(entry.job),
    };
  }

  /** With another object, or none, in the place of this one. */
  function replaced(file: JobsFile, entry: Entry, raw: RawObject | undefined): JobsFile {
    const entries = file.entries.flatMap((other) => {
      if (other !== entry) return [other];
      return raw === undefined ? [] : [readEntry(raw)];
    });
    return { ...file, entries };
  }

  async function change<T>(work: (file: JobsFile) => Changed<T>): Promise<T> {
    await adopted();
    const result = await stored.change(work);
    for (const listener of listeners) listener();
    return result;
  }

  function changeOne(
    id: string,
    work: (entry: OurEntry) => { readonly raw: RawObject | undefined; readonly result: Job },
  ): Promise<Job | undefined> {
    return change((file) => {
      const entry = file.entries.find(({ job }) => job?.id === id);
      if (!isOurs(entry)) return { file: undefined, result: undefined };
      const { raw, result } = work(entry);
      return { file: replaced(file, entry, raw), result };
    });
  }

  return {
    timeZone,

    async list() {
      await adopted();
      return jobsOf((await stored.read()).file).map(shown);
    },

    async unreadable() {
      await adopted();
      return unreadableOf((await stored.read()).file);
    },

    async add(job) {
      const message = wellFormed(job.message);
      if (!isVisible(message)) throw new UserError("Cannot add a job: its message says nothing");
      if (message.length > LONGEST_MESSAGE)
        throw new UserError(`Cannot add a job: its message is longer than ${LONGEST_MESSAGE} characters`);
      const name = oneLine(wellFormed(job.name), LONGEST_NAME);
      const named = isVisible(name) ? name : oneLine(message, SHORT_NAME);
      const added = await change((file) => withNew(file, { ...job, name: named, message }));
      const times = timesInHour(job.schedule, { nowMs: clock.now(), timeZone });
      if (times > OFTEN)
        log.warn("The job comes more often than once a minute, and is left out beyond limits.tasksPerHour", {
          job: added.id,
          timesInHour: times,
        });
      return added;
    },

    remove: (id) => changeOne(id, ({ job }) => ({ raw: undefined, result: shown(job) })),

    setEnabled: (id, enabled) =>
      changeOne(id, ({ raw, job }) => {
        const nowMs = clock.now();
        if (enabled && nextRunOf({ ...job, enabled }, { nowMs, timeZone }) === undefined) {
          throw new UserError(`Cannot enable the job ${quote(job.id)}: its time has passed`, {
            hint: "Add a new one",
          });
        }
        return {
          raw: switched(raw, enabled, { timeZone, nowMs }),
          result: shown({ ...job, enabled, updatedAtMs: nowMs }),
        };
      }),

    async current() {
      try {
        await adopted();
        const loaded = await stored.load();
        if (loaded !== latest.loaded) latest = { loaded, snapshot: snapshotOf(loaded) };
      } catch (error) {
        log.error("Could not look at the jobs; those that are known go on", { path: stored.path, error });
      }
      return latest.snapshot;
    },

    async record(records) {
      await adopted();
      await stored.change((file) => {
        const nowMs = clock.now();
        let after = file;
        for (const record of records) {
          const entry = after.entries.find(({ job }) => job?.id === record.jobId);
          if (isOurs(entry)) after = replaced(after, entry, recorded(entry, record, { timeZone, nowMs }));
        }
        return { file: after === file ? undefined : after, result: undefined };
      });
    },

    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
