import { expect, test } from "bun:test";
import { existsSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { createSpill } from "../../src/agent/spill.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { tempFolder } from "../fakes/temp.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

test("createSpill() keeps a result below the session's own folder, for its owner only", async () => {
  const workspace = tempFolder();
  const spill = createSpill({ files: createFileSystem(), clock: createFakeClock(Date.now()), workspace });
  const path = await spill("cli:direct", "call_1", "all of it");
  expect(path).toBe(".nanobot/tool-results/cli=3adirect/call_1.txt");
  expect(readFileSync(join(workspace, path), "utf8")).toBe("all of it");
});

test("createSpill() removes results after 7 days, also of a session in daily use", async () => {
  const workspace = tempFolder();
  const now = Date.now();
  const clock = createFakeClock(now);
  const spill = createSpill({ files: createFileSystem(), clock, workspace });
  const old = join(workspace, await spill("a", "old", "x"));
  const young = join(workspace, await spill("a", "young", "x"));
  const idle = join(workspace, await spill("b", "idle", "x"));
  for (const path of [old, idle]) utimesSync(path, new Date(now - 8 * DAY_MS), new Date(now - 8 * DAY_MS));
  await clock.advance(2 * DAY_MS);
  await spill("a", "new", "x");
  expect([old, young, idle, join(idle, "..")].map((path) => existsSync(path))).toEqual([
    false,
    true,
    false,
    false,
  ]);
});
