import { expect, test } from "bun:test";
import type { FileStat } from "../../src/core/platform.ts";
import type { RealPath } from "../../src/core/tool.ts";
import { createReadLogs } from "../../src/lib/read-log.ts";

const at = (path: string) => path as RealPath;
const stat: FileStat = { kind: "file", bytes: 3, modifiedMs: 7, mode: 0o644, inode: 9 };

test("createReadLogs() keeps what each session saw apart", () => {
  const logs = createReadLogs();
  logs.of("a").record(at("/x"), stat, "1+10");
  expect(logs.of("a").seen(at("/x"))).toEqual({ bytes: 3, modifiedMs: 7, inode: 9, shown: "1+10" });
  expect(logs.of("a").seen(at("/y"))).toBeUndefined();
  expect(logs.of("b").seen(at("/x"))).toBeUndefined();
});

test("createReadLogs() forgets a session that begins anew", () => {
  const logs = createReadLogs();
  logs.of("a").record(at("/x"), stat);
  logs.of("b").record(at("/x"), stat);
  logs.forget("a");
  expect(logs.of("a").seen(at("/x"))).toBeUndefined();
  expect(logs.of("b").seen(at("/x"))).toBeDefined();
});

test("createReadLogs() keeps the 512 files and the 64 sessions that were used last", () => {
  const logs = createReadLogs();
  const log = logs.of("a");
  for (let i = 0; i < 512; i++) log.record(at(`/${i}`), stat);
  log.seen(at("/0"));
  log.record(at("/512"), stat);
  expect(log.seen(at("/0"))).toBeDefined();
  expect(log.seen(at("/1"))).toBeUndefined();
  for (let i = 0; i < 64; i++) logs.of(`other ${i}`);
  expect(logs.of("a").seen(at("/0"))).toBeUndefined();
});
