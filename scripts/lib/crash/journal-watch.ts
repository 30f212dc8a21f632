/** Sees journals being written anew, while it happens. */

import { existsSync, type FSWatcher, readdirSync, watch } from "node:fs";

export interface JournalWatch {
  /** Begins as soon as there is a folder; afterwards does nothing. */
  begin(): void;
  /** How often a journal took the place of an older one. */
  readonly replaced: number;
  /** Files that a kill left behind half written. */
  leftBehind(): number;
  close(): void;
}

/** `compacting` is called when a new file is begun, and when it takes its place. */
export function watchJournals(folder: string, compacting: () => void): JournalWatch {
  let watcher: FSWatcher | undefined;
  let replaced = 0;
  return {
    begin() {
      if (watcher !== undefined || !existsSync(folder)) return;
      watcher = watch(folder, (event, name) => {
        if (event !== "rename") return;
        if (name?.endsWith(".tmp")) compacting();
        else if (/^(inbox|outbox)\.jsonl$/.test(name ?? "")) replaced += 1;
      });
    },
    get replaced() {
      return replaced;
    },
    leftBehind: () =>
      existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".tmp")).length : 0,
    close: () => watcher?.close(),
  };
}
