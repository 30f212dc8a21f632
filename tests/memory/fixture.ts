/** A workspace with real files and locks, a scripted model, and all that makes memory of what is said in it. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Consolidation, MemoryStore } from "../../src/core/memory.ts";
import type { FileSystem } from "../../src/core/platform.ts";
import type { SessionStore, StoredMessage } from "../../src/core/session.ts";
import { createTokenScale } from "../../src/lib/token-scale.ts";
import { type ConsolidationOptions, createConsolidation } from "../../src/memory/consolidation.ts";
import { createMemoryStore } from "../../src/memory/store.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createSessionStore } from "../../src/sessions/store.ts";
import { createFakeClock, type FakeClock } from "../fakes/clock.ts";
import { createFakeLog, type FakeLog } from "../fakes/log.ts";
import { createFakeModel, type FakeModel, type Scripted } from "../fakes/model.ts";
import { tempFolder } from "../fakes/temp.ts";

export const signal = new AbortController().signal;
/** One that the process knows. */
export const SECRET = "hunter2-correct-horse";
export const START = Date.parse("2026-11-30T09:00:00Z");

export interface World {
  readonly workspace: string;
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly model: FakeModel;
  readonly sessions: SessionStore;
  readonly memory: MemoryStore;
  readonly consolidation: Consolidation;
  readonly pauses: { leftMs: number };
}

export interface WorldOptions extends Partial<ConsolidationOptions> {
  readonly script?: readonly Scripted[];
  readonly promptTokens?: number;
  readonly offline?: boolean;
  readonly files?: FileSystem;
  readonly wrapSessions?: (sessions: SessionStore) => SessionStore;
}

/** With the same `workspace` it is another process that comes later. */
export function createWorld({
  workspace = tempFolder(),
  clock = createFakeClock(START),
  script = [],
  promptTokens = 20_000,
  offline = false,
  files = createFileSystem(),
  wrapSessions = (sessions) => sessions,
  ...options
}: WorldOptions & { readonly clock?: FakeClock } = {}): World {
  const log = createFakeLog();
  const model = createFakeModel(...script);
  const locks = createLocks({ os: process.platform, folder: workspace });
  const legacy = { homeSessions: join(workspace, "..", "none") };
  const sessions = createSessionStore({ files, locks, clock, log, workspace, legacy, tokens: promptTokens });
  const timeZone = () => "Europe/Vienna";
  const memory = createMemoryStore({ files, locks, clock, log, workspace, timeZone });
  const pauses = { leftMs: 0 };
  const choice = {
    model,
    name: "fake-1",
    offline,
    maxTokens: 1_000,
    temperature: 0.1,
    promptTokens,
    scale: createTokenScale(),
    reasoningEffort: undefined,
  };
  const consolidation = createConsolidation({
    memory,
    sessions: wrapSessions(sessions),
    model: async () => choice,
    files,
    clock,
    locks,
    log,
    workspace,
    ratio: 0.5,
    idleMinutes: 15,
    idleCheckMs: 60_000,
    pause: { leftMs: () => pauses.leftMs, observe() {} },
    mask: (text) => text.replaceAll(SECRET, "[masked]"),
    isPatient: true,
    ...options,
  });
  return { workspace, clock, log, model, sessions, memory, consolidation, pauses };
}

/** A reply that calls `save_memory`. */
export function saves(entry: unknown, update?: unknown): Scripted {
  const given = update === undefined ? {} : { memory_update: update };
  return { calls: [{ name: "save_memory", arguments: { history_entry: entry, ...given } }] };
}

export function turnOf(user: string, assistant = "Yes.", timestamp = "2026-11-30T08:00:00.000Z") {
  return [
    { role: "user", content: user, timestamp },
    { role: "assistant", content: assistant, timestamp },
  ] satisfies StoredMessage[];
}

/** Appends the lines as one turn would, and says what the conversation takes. */
export async function say(
  { sessions }: Pick<World, "sessions">,
  key: string,
  ...lines: readonly StoredMessage[]
): Promise<number> {
  const session = await sessions.open(key, { signal });
  try {
    await session.append(lines, { sync: false });
    return session.tokens;
  } finally {
    await session.close();
  }
}

export async function shown({ sessions }: Pick<World, "sessions">, key: string) {
  const session = await sessions.open(key, { signal });
  try {
    const { messages, summary } = session;
    return { contents: messages.map(({ content }) => content), summary };
  } finally {
    await session.close();
  }
}

/** Asks that all of the session goes into memory, as when it fell silent. */
export async function rememberAll(world: World, key: string): Promise<void> {
  world.consolidation.turnEnded({ key, tokens: 1, budget: 1 });
  await world.consolidation.settled(signal);
}

export function fileOf({ workspace }: Pick<World, "workspace">, name: "MEMORY.md" | "HISTORY.md"): string {
  const path = join(workspace, "memory", name);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
