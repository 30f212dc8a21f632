/** Stores over real files, and calls to record in them. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FileSystem } from "../../src/core/platform.ts";
import type { UsageRecord, UsageStore } from "../../src/core/usage.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createUsageStore } from "../../src/usage/store.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

export const signal = new AbortController().signal;

export function call(changes: Partial<UsageRecord> = {}): UsageRecord {
  return {
    time: "2026-11-30T09:00:00.000Z",
    session: "cli:direct",
    origin: "chat",
    model: "large",
    provider: "acme",
    input: 100,
    output: 10,
    cached: 40,
    reasoning: 5,
    latency_ms: 1200,
    ...changes,
  };
}

export function setUp({
  workspace = tempFolder(),
  files = createFileSystem(),
  ...options
}: {
  workspace?: string;
  files?: FileSystem;
  maxBytes?: number;
} = {}) {
  const log = createFakeLog();
  const clock = createFakeClock();
  const locks = createLocks({ os: process.platform, folder: workspace });
  const store = createUsageStore({
    files,
    clock,
    locks,
    log,
    workspace,
    timeZone: "UTC",
    ...options,
  });
  const folder = join(workspace, ".nanobot");
  return {
    store,
    clock,
    workspace,
    log,
    locks,
    folder,
    path: join(folder, "usage.jsonl"),
    names: () => readdirSync(folder).sort(),
    lines: (name = "usage.jsonl") => readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1),
  };
}

export async function readAll(store: UsageStore, since?: number): Promise<UsageRecord[]> {
  return Array.fromAsync(store.read({ signal, ...(since === undefined ? {} : { since }) }));
}

export async function* streamOf<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}
