/** Stores over real files, and calls to record in them. */

import { readdirSync } from "node:fs";
import type { UsageRecord, UsageStore } from "../../src/core/usage.ts";
import { createUsageStore } from "../../src/usage/store.ts";
import { createLineStoreDeps, type LineStoreOptions } from "../fakes/line-store.ts";

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

export function setUp(options: LineStoreOptions = {}) {
  const { deps, seen } = createLineStoreDeps({ name: "usage.jsonl", now: 1_700_000_000_000 }, options);
  return {
    ...seen,
    store: createUsageStore({ ...deps, timeZone: "UTC" }),
    names: () => readdirSync(seen.folder).sort(),
  };
}

export async function readAll(store: UsageStore, since?: number): Promise<UsageRecord[]> {
  return Array.fromAsync(store.read({ signal, ...(since === undefined ? {} : { since }) }));
}

export async function* streamOf<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}
