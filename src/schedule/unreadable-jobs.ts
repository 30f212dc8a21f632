/** Elements of the file that cannot be understood: what people are shown of them, and what the log says, once. */

import type { Log } from "../core/platform.ts";
import type { UnreadableJob } from "../core/schedule.ts";
import { quote } from "../lib/file-error.ts";
import { isObject } from "../lib/is-object.ts";
import { oneLine, wellFormed } from "../lib/text.ts";
import { type JobsFile, LONGEST_NAME } from "./jobs-file.ts";
import { textOf } from "./raw-fields.ts";

export function unreadableOf({ entries }: JobsFile): readonly UnreadableJob[] {
  return entries.flatMap(({ raw, problem }, index) => {
    if (problem === undefined) return [];
    const [id, name] = ["id", "name"].map((field) => {
      const text = isObject(raw) ? textOf(raw, field) : undefined;
      return text === undefined ? undefined : oneLine(wellFormed(text), LONGEST_NAME);
    });
    return [{ place: index + 1, id, name, problem }];
  });
}

export function createComplaints({ log, path }: { log: Log; path: string }): (file: JobsFile) => void {
  let made: ReadonlySet<string> = new Set();

  return (file) => {
    const found = new Set<string>();
    for (const { place, id, problem } of unreadableOf(file)) {
      const job = `${id === undefined ? `number ${place}` : quote(id)}: ${problem}`;
      found.add(job);
      if (!made.has(job)) log.warn("A job cannot be understood, and does not run", { path, job });
    }
    made = found;
  };
}
