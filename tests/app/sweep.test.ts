import { expect, test } from "bun:test";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sweepTemporaries } from "../../src/app/gateway/sweep.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

const uuid = "0b2f1c52-9a1e-4c8e-8a39-2f6f4f1f2a11";

test("sweepTemporaries() removes what is older than an hour and has the name of a temporary file", async () => {
  const folder = tempFolder();
  const clock = createFakeClock();
  const old = clock.now() / 1_000 - 3_601;
  const ages = {
    [`.nanobot-12-${uuid}.tmp`]: old,
    [`.nanobot-13-${uuid}.tmp`]: clock.now() / 1_000 - 3_599,
    "inbox.jsonl": old,
    "notes.tmp": old,
  };
  for (const [name, at] of Object.entries(ages)) {
    writeFileSync(join(folder, name), "x");
    utimesSync(join(folder, name), at, at);
  }
  const log = createFakeLog();
  await sweepTemporaries({ files: createFileSystem(), clock, log }, folder);
  expect(readdirSync(folder).sort()).toEqual([`.nanobot-13-${uuid}.tmp`, "inbox.jsonl", "notes.tmp"]);
  await sweepTemporaries({ files: createFileSystem(), clock, log }, join(folder, "nothing"));
  await sweepTemporaries({ files: createFileSystem(), clock, log }, join(folder, "inbox.jsonl"));
  expect(log.lines.every((line) => line.startsWith("debug"))).toBe(true);
});
