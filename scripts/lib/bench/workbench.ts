/** Where the measurements are made: the binary, the floors built as it is, and folders that are gone afterwards. */

import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { lazy } from "../../../src/lib/lazy.ts";
import { median } from "./statistics.ts";

export interface Workbench {
  /** The path of the repository. */
  readonly root: string;
  /** The path of a binary of the source as it is now. */
  nanobot(): Promise<string>;
  /** The path of a compiled program that prints one line. */
  empty(): Promise<string>;
  /**
   * The path of a compiled program that asks the model at a base URL by a bare `fetch`: once, or as often as
   * its second argument says, not counting the third for a warm-up. Prints the milliseconds of CPU each took.
   */
  ask(): Promise<string>;
  /** The path of a compiled `Bun.serve` with one route and no package; its argument is the port. */
  serve(): Promise<string>;
  /** The same, with the library of the Telegram channel loaded. */
  grammy(): Promise<string>;
  /** Nothing is scaled down. */
  readonly isFull: boolean;
  /** A new folder, absolute. */
  folder(name: string): string;
}

const EMPTY = 'console.log("empty");\n';

const ASK = `
const [url, questions = 1, warmUp = 0] = process.argv.slice(2);
let before = process.cpuUsage();
for (let asked = 0; asked < Number(questions) + Number(warmUp); asked++) {
  if (asked === Number(warmUp)) before = process.cpuUsage();
  const response = await fetch(url + "/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: "Hi" }] }),
  });
  await response.text();
  if (!response.ok) process.exit(1);
}
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1_000 / Number(questions));
process.exit(0);
`;

const SERVE = `
Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  async fetch(request) {
    if (request.method === "POST") await request.arrayBuffer();
    return new Response("ok");
  },
});
`;

const GRAMMY = `${SERVE}
const { Bot } = await import("grammy");
globalThis.bot = new Bot("1:token");
`;

/** `root` is the repository, `scratch` an empty folder, absolute and real. */
export function createWorkbench(
  root: string,
  scratch: string,
  { isFull = false }: { isFull?: boolean } = {},
): Workbench {
  // What floors import is found from where they are built.
  symlinkSync(join(root, "node_modules"), join(scratch, "node_modules"));

  function buildFloor(name: string, source: string): string {
    const entry = join(scratch, `${name}.ts`);
    const program = join(scratch, name);
    writeFileSync(entry, source);
    run([
      process.execPath,
      "build",
      ...compilerFlags(readFileSync(join(root, "scripts/build"), "utf8")),
      entry,
      "--outfile",
      program,
    ]);
    settleDisk();
    return program;
  }

  return {
    root,
    nanobot: lazy(async () => {
      const program = join(scratch, "nanobot");
      run([join(root, "scripts/build"), "--outfile", program]);
      settleDisk();
      return program;
    }),
    empty: lazy(async () => buildFloor("empty", EMPTY)),
    ask: lazy(async () => buildFloor("ask", ASK)),
    serve: lazy(async () => buildFloor("serve", SERVE)),
    grammy: lazy(async () => buildFloor("grammy", GRAMMY)),
    isFull,
    folder(name) {
      const path = join(scratch, name);
      mkdirSync(path);
      return path;
    },
  };
}

/** What `scripts/build` tells the compiler, but for what goes in and where it comes out. */
export function compilerFlags(script: string): readonly string[] {
  const commands = script.replace(/^\s*#.*$/gm, "");
  const flags = [...commands.matchAll(/\s(--[a-z-]+(?:=\S+)?)/g)].map(([, flag = ""]) => flag);
  return flags.filter((flag) => !/^--(asset|outfile)\b/.test(flag));
}

function run(command: string[]): void {
  const { success, stderr } = Bun.spawnSync(command, { stdio: ["ignore", "ignore", "pipe"] });
  if (!success) throw new Error(`${command.join(" ")} failed: ${stderr.toString()}`);
}

/** Pages that wait to be written count as memory of whoever maps them, and writing them disturbs what runs. */
export function settleDisk(): void {
  run(["sync"]);
}

/** How long the disk under `folder` takes to make one small write durable, in milliseconds. */
export function syncTime(folder: string): number {
  const file = openSync(join(folder, "sync"), "a", 0o600);
  try {
    const times = Array.from({ length: 21 }, () => {
      writeSync(file, "x".repeat(200));
      const began = performance.now();
      fdatasyncSync(file);
      return performance.now() - began;
    });
    return median(times);
  } finally {
    closeSync(file);
  }
}
