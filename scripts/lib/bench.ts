/** `scripts/bench`: measures by name, judges against the bounds, prints a table or JSON. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { measurements } from "./bench/measurements.ts";
import { formatTable, type JudgedRow, judge, type Row } from "./bench/table.ts";
import { createWorkbench, syncTime, type Workbench } from "./bench/workbench.ts";

/** What absolute bounds were set for: x64 with a disk that makes a write durable in under a millisecond. */
const FAST_SYNC_MS = 1;
/** Above it other programs work on this machine, and the numbers are theirs too. */
const QUIET_LOAD = 0.5;

const say = (text: string) => process.stderr.write(`${text}\n`);

function wrong(message: string): never {
  say(`scripts/bench: ${message}`);
  process.exit(2);
}

function parseOptions() {
  try {
    const options = {
      only: { type: "string", multiple: true },
      json: { type: "boolean", default: false },
      full: { type: "boolean", default: false },
    } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}

async function measure(bench: Workbench, names: readonly string[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const name of names) {
    say(`measuring ${name} …`);
    rows.push(...((await measurements[name]?.(bench)) ?? []));
  }
  return rows;
}

function print(rows: readonly JudgedRow[], machine: { syncMs: number; timesHold: boolean }): void {
  if (options.json) {
    console.log(
      JSON.stringify({ machine: { os: process.platform, arch: process.arch, ...machine }, rows }, null, 2),
    );
    return;
  }
  const judged = machine.timesHold ? "times are judged" : "times are printed and not judged";
  console.log(formatTable(rows));
  console.log(
    `\n${process.platform} ${process.arch}, one fdatasync takes ${machine.syncMs.toFixed(2)} ms: ${judged}`,
  );
}

const options = parseOptions();
const known = Object.keys(measurements);
const names = options.only ?? known;
const unknown = names.find((name) => !known.includes(name));
if (unknown !== undefined) wrong(`There is no "${unknown}"; --only takes one of ${known.join(", ")}`);
if (process.platform !== "linux") wrong("Needs Linux, whose kernel tells what a process took");
if ((loadavg()[0] ?? 0) > QUIET_LOAD)
  say("Other programs are busy here, so take the numbers for upper limits");

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "nanobot-bench-")));
try {
  const root = dirname(dirname(import.meta.dir));
  const rows = await measure(createWorkbench(root, scratch, { isFull: options.full }), names);
  const syncMs = syncTime(scratch);
  const timesHold = process.arch === "x64" && syncMs < FAST_SYNC_MS;
  const judged = rows.map((row) => judge(row, { timesHold }));
  print(judged, { syncMs, timesHold });
  if (judged.some(({ verdict }) => verdict === "over")) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
