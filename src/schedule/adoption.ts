/** Takes over what the original left: the jobs of its first version, and the changes that its other programs asked for. */

import type { Clock, FileSystem, Log } from "../core/platform.ts";
import { fileStamp } from "../lib/file-stamp.ts";
import { isObject } from "../lib/is-object.ts";
import { parseJson } from "../lib/parse-json.ts";
import { dirname, join } from "../lib/path.ts";
import { problemOf } from "../lib/phrases.ts";
import { type JobsFile, readEntry } from "./jobs-file.ts";
import { objectOf, type RawObject, textOf, withFields } from "./raw-fields.ts";
import { LONGEST_FILE, type StoredJobs } from "./stored-jobs.ts";

export interface AdoptionOptions {
  readonly stored: StoredJobs;
  readonly files: FileSystem;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly legacyFile: string | undefined;
}

/** The returned function is called once a process, since whoever uses the original too must not run it meanwhile. */
export function createAdoption({
  stored,
  files,
  clock,
  log,
  legacyFile,
}: AdoptionOptions): () => Promise<void> {
  const { path } = stored;
  const actionsPath = join(dirname(path), "action.jsonl");

  /** Left where they are: the workspace has its own from now on. */
  async function copyLegacy(): Promise<void> {
    if (legacyFile === undefined || (await files.stat(path)) !== undefined) return;
    if ((await files.stat(legacyFile)) === undefined) return;
    const legacy = await stored.readOther(legacyFile);
    const isCopied = await stored.change((file) => {
      const isEmpty = file.entries.length === 0;
      return { file: isEmpty ? legacy : undefined, result: isEmpty };
    });
    if (isCopied) log.info("Copied the jobs of an older place", { from: legacyFile, to: path });
  }

  function withAction(file: JobsFile, action: string, params: RawObject): JobsFile {
    const id = textOf(params, "jobId") ?? textOf(params, "id");
    const isMeant = (raw: unknown) => isObject(raw) && id !== undefined && textOf(raw, "id") === id;
    const before = file.entries.find(({ raw }) => isMeant(raw));
    const others = file.entries.filter((entry) => entry !== before);
    if (action === "del") return { ...file, entries: others };
    // What we recorded since is newer than what was known when the change was asked for.
    const raw = isObject(before?.raw) ? withFields(params, { state: objectOf(before.raw, "state") }) : params;
    return { ...file, entries: [...others, readEntry(raw)] };
  }

  function withActions(file: JobsFile, text: string): JobsFile {
    let after = file;
    for (const [index, line] of text.split("\n").entries()) {
      if (line.trim() === "") continue;
      const value = parseJson(line);
      const action = isObject(value) ? value["action"] : undefined;
      if (
        isObject(value) &&
        isObject(value["params"]) &&
        (action === "add" || action === "update" || action === "del")
      )
        after = withAction(after, action, value["params"]);
      else
        log.warn("A change of jobs that was asked for cannot be understood", {
          path: actionsPath,
          line: index + 1,
        });
    }
    return after;
  }

  /** Kept under another name, so that nothing of it is lost and nothing is done twice. */
  async function mergeActions(): Promise<void> {
    const stat = await files.stat(actionsPath);
    if (stat === undefined || stat.kind !== "file" || stat.bytes === 0) return;
    if (stat.bytes > LONGEST_FILE) {
      log.warn("The changes of jobs that were asked for are too many, and are left", { path: actionsPath });
      return;
    }
    const text = new TextDecoder().decode(await files.read(actionsPath, { end: LONGEST_FILE }));
    await stored.change((file) => ({ file: withActions(file, text), result: undefined }));
    const kept = `${actionsPath}.merged-${fileStamp(clock.now())}`;
    await files.rename(actionsPath, kept);
    log.info("Took over changes of jobs that another program asked for", { path: actionsPath, kept });
  }

  return async () => {
    for (const step of [copyLegacy, mergeActions]) {
      try {
        // Whoever asks for the jobs is told that their file cannot be understood.
        if ((await stored.load()).kind === "read") await step();
      } catch (error) {
        // The jobs there are must run all the same.
        log.error("Could not take over what an older nanobot left", { path, problem: problemOf(error) });
      }
    }
  };
}
