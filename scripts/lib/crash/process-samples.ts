/** What a process takes, read from the kernel over and over, and whether it stays as it was. */

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "../bench/statistics.ts";

export interface Sample {
  /** Since the start. */
  readonly seconds: number;
  /** MiB: its share of the memory, and all that it has resident. */
  readonly pss: number;
  readonly rss: number;
  readonly files: number;
  readonly threads: number;
  /** MiB below the folder that was asked for. */
  readonly disk: number;
}

export function takeSample(pid: number, folder: string, seconds: number): Sample {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(rollup)?.[1]) / 1_024;
  return {
    seconds,
    pss: megabytes("Pss"),
    rss: megabytes("Rss"),
    files: readdirSync(`/proc/${pid}/fd`).length,
    threads: readdirSync(`/proc/${pid}/task`).length,
    disk: sizeOf(folder) / 1_048_576,
  };
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).reduce((sum, name) => {
    // Files can go between the listing and the look.
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return sum + (stats?.isFile() ? stats.size : 0);
  }, 0);
}

/** Open files beyond what there were, for connections that come and go. */
const SPARE_FILES = 8;

/**
 * Compares the last quarter of the time with the second; in the first the program warms up. `mostGrowth` is how many
 * times what it was memory may be.
 */
export function judgeSamples(samples: readonly Sample[], mostGrowth: number): readonly string[] {
  const quarter = Math.floor(samples.length / 4);
  if (quarter === 0) return [`${samples.length} samples are too few to judge by`];
  const medians = (key: "pss" | "files") => ({
    before: median(samples.slice(quarter, 2 * quarter).map((sample) => sample[key])),
    after: median(samples.slice(-quarter).map((sample) => sample[key])),
  });
  const memory = medians("pss");
  const files = medians("files");
  return [
    ...(memory.after <= memory.before * mostGrowth
      ? []
      : [`memory grew from ${memory.before.toFixed(1)} to ${memory.after.toFixed(1)} MB`]),
    ...(files.after <= files.before + SPARE_FILES
      ? []
      : [`open files grew from ${files.before} to ${files.after}`]),
  ];
}

const HEADER = ["seconds", "PSS MB", "RSS MB", "files", "threads", "disk MB"];

export function formatHeader(): string {
  return HEADER.map((name) => name.padStart(8)).join("");
}

export function formatSample({ seconds, pss, rss, files, threads, disk }: Sample): string {
  return [seconds.toFixed(0), pss.toFixed(1), rss.toFixed(1), `${files}`, `${threads}`, disk.toFixed(1)]
    .map((cell) => cell.padStart(8))
    .join("");
}
