/** A session store over real files and locks, and short ways to use it. */

import { join } from "node:path";
import type { FileSystem } from "../../src/core/platform.ts";
import type { Session, SessionStore, StoredMessage } from "../../src/core/session.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createSessionStore } from "../../src/sessions/store.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

export const signal = new AbortController().signal;

/** With the same `workspace` it is another process. */
export function setUpStore({
  workspace = tempFolder(),
  tokens = 100_000,
  files = createFileSystem() as FileSystem,
} = {}) {
  const log = createFakeLog();
  const clock = createFakeClock(Date.parse("2026-11-30T09:00:00Z"));
  const locks = createLocks({ os: process.platform, folder: workspace });
  const legacy = { homeSessions: join(workspace, "none") };
  const store = createSessionStore({ files, locks, clock, log, workspace, legacy, tokens });
  return { store, workspace, log, clock };
}

export const user = (content: string): StoredMessage => ({ role: "user", content });
export const assistant = (content: string): StoredMessage => ({ role: "assistant", content });
export const turn = (content: string): StoredMessage[] => [user(content), assistant(`re: ${content}`)];

export async function using<T>(
  store: SessionStore,
  key: string,
  work: (session: Session) => T | Promise<T>,
): Promise<T> {
  const session = await store.open(key, { signal });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

export const add = (store: SessionStore, key: string, ...lines: StoredMessage[]) =>
  using(store, key, (session) => session.append(lines, { sync: false }));

export const contents = (store: SessionStore, key: string) =>
  using(store, key, (session) => session.messages.map(({ content }) => content));
