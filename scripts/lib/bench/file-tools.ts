/** What the file tools take on trees and files as large as they come. */

import { closeSync, mkdirSync, openSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { agentEnvironment } from "./chat.ts";
import { compareWall, outputOf, type Program, peakMemory } from "./programs.ts";
import type { Row } from "./table.ts";
import { settleDisk, type Workbench } from "./workbench.ts";

const FILES = 50_000;
const FILES_A_FOLDER = 250;
const FILE_BYTES = 20_000;
const SMALL_FILE_BYTES = 1_000;
/** One file in so many holds what is searched for. */
const HOLDING = 500;
const NEEDLE = "needle_in_the_hay";
const ROUNDS = 3;

/** With files of 20 kB a tree of 1 GB: more than the tools keep in memory, and as much as a workspace comes to. */
function makeTree(folder: string, fileBytes: number): void {
  const line = "const value = compute(input, { depth: 3, width: 14 }); // as it was before the change\n";
  const filler = line.repeat(Math.ceil(fileBytes / line.length)).slice(0, fileBytes);
  for (let file = 0; file < FILES; file++) {
    const below = join(folder, `part-${Math.floor(file / FILES_A_FOLDER)}`);
    if (file % FILES_A_FOLDER === 0) mkdirSync(below, { recursive: true });
    const text = file % HOLDING === 0 ? `${filler.slice(0, -40)}\n${NEEDLE}\n` : filler;
    writeFileSync(join(below, `source-${file}.ts`), text);
  }
}

export async function searchTree(bench: Workbench): Promise<readonly Row[]> {
  if (Bun.which("rg") === null) throw new Error("There is no ripgrep to compare with; install it");
  const home = bench.folder("grep-home");
  const nanobot = await bench.nanobot();
  // Without commands there is no ripgrep either, so that the tool goes its own way.
  writeFileSync(join(home, "config.json"), '{ "tools": { "exec": { "enable": false } } }', { mode: 0o600 });
  const env = agentEnvironment(home);
  const call = (name: string, args: object): Program => ({
    command: [nanobot, "tools", "call", name, JSON.stringify(args)],
    env,
  });
  // Makes the workspace.
  outputOf(call("list_dir", { path: "." }));
  makeTree(join(home, "workspace", "tree"), FILE_BYTES);
  makeTree(join(home, "workspace", "small"), SMALL_FILE_BYTES);
  settleDisk();
  const search = { pattern: NEEDLE, path: "tree", output_mode: "count", head_limit: 0 };
  const own = call("grep", search);
  const ripgrep: Program = {
    command: [
      Bun.which("rg") ?? "rg",
      "--no-config",
      "--no-ignore",
      "--hidden",
      "--count",
      NEEDLE,
      join(home, "workspace", "tree"),
    ],
    env: agentEnvironment(home),
  };
  const [value = NaN, floor = NaN] = compareWall([own, ripgrep], { rounds: ROUNDS });
  const small = call("grep", { ...search, path: "small" });
  return [
    {
      name: "grep without ripgrep, 50,000 files of 1 GB, to ripgrep",
      value,
      floor,
      unit: "ms",
      bound: { of: "ratio", atMost: 10 },
    },
    {
      name: "its peak memory, to that of as many files with a 20th of the bytes, with which it must not grow",
      value: await peakMemory(own),
      floor: await peakMemory(small),
      unit: "MB",
      bound: { of: "ratio", atMost: 1.5 },
    },
  ];
}

const LARGE_BYTES = 3 * 1024 ** 3;

/** Text at both ends and a hole between them, so that it is no work to make and as much to seek in. */
function makeLargeFile(path: string): void {
  const text = "2026-11-30T09:00:00Z INFO request served in 14 ms\n".repeat(20_000);
  const file = openSync(path, "w");
  writeSync(file, text, 0);
  closeSync(file);
  truncateSync(path, LARGE_BYTES - text.length);
  writeFileSync(path, text, { flag: "a" });
}

export async function readEnd(bench: Workbench): Promise<readonly Row[]> {
  const home = bench.folder("tail-home");
  const nanobot = await bench.nanobot();
  const env = agentEnvironment(home);
  const read = (path: string): Program => ({
    command: [nanobot, "tools", "call", "read_file", JSON.stringify({ path, offset: -20 })],
    env,
  });
  const list = { command: [nanobot, "tools", "call", "list_dir", '{"path":"."}'], env };
  outputOf(list);
  const workspace = join(home, "workspace");
  makeLargeFile(join(workspace, "large.log"));
  writeFileSync(join(workspace, "small.log"), "one line\n");
  const [value = NaN, floor = NaN] = compareWall([read("large.log"), read("small.log")]);
  return [
    {
      name: "read_file, the last 20 lines of 3 GB, beyond those of one line",
      value: value - floor,
      unit: "ms",
      bound: { of: "time", atMost: 50 },
    },
  ];
}
