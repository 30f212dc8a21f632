/** What each session knows of the files it has read, so that an edit of something unread can be told. */

import type { ReadLog, SeenFile } from "../core/tool.ts";
import { createRecent } from "./recent.ts";

const MOST_SESSIONS = 64;
const MOST_FILES = 512;

export interface ReadLogs {
  of(sessionKey: string): ReadLog;
  /** The session began anew: it has seen nothing. */
  forget(sessionKey: string): void;
}

export function createReadLogs(): ReadLogs {
  const logs = createRecent<ReadLog>({ most: MOST_SESSIONS });
  const of = (sessionKey: string) => logs.of(sessionKey, createReadLog);
  return {
    of,
    forget(sessionKey) {
      logs.drop(sessionKey, of(sessionKey));
    },
  };
}

function createReadLog(): ReadLog {
  /** In the order of last use. */
  const files = new Map<string, SeenFile>();

  function keep(path: string, file: SeenFile): void {
    files.delete(path);
    files.set(path, file);
    const [oldest] = files.keys();
    if (files.size > MOST_FILES && oldest !== undefined) files.delete(oldest);
  }

  return {
    seen(path) {
      const file = files.get(path);
      if (file !== undefined) keep(path, file);
      return file;
    },
    record(path, { modifiedMs, bytes, inode }, shown) {
      keep(path, { modifiedMs, bytes, inode, shown });
    },
  };
}
