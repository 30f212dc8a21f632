/** Runs programs and reads from the kernel what they took. Linux only: `/proc` is where the numbers are. */

import { readdirSync, readFileSync } from "node:fs";
import { median } from "./statistics.ts";

export interface Program {
  readonly command: readonly string[];
  /** All of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

const ROUNDS = 11;

/**
 * The median wall time of each program in milliseconds, from start to exit. They take turns, so that what
 * disturbs the machine disturbs all of them; the first round only warms the caches.
 */
export function compareWall(programs: readonly Program[], { rounds = ROUNDS } = {}): readonly number[] {
  const times = programs.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, program] of programs.entries()) {
      const wall = wallOf(program);
      if (round > 0) times[index]?.push(wall);
    }
  }
  return times.map(median);
}

function wallOf(program: Program): number {
  const began = performance.now();
  outputOf(program);
  return performance.now() - began;
}

/** Runs it to its end, which must be a good one. */
export function outputOf({ command, env = {} }: Program): string {
  const { success, stdout, stderr } = Bun.spawnSync([...command], {
    env: { ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (!success) throw new Error(`${command.join(" ")} failed: ${stderr.toString()}`);
  return stdout.toString();
}

/**
 * The most memory a program had resident, in MiB. Read over and over until its exit, because what the kernel
 * keeps for the parent after it (`ru_maxrss`) counts the parent's own memory too. A reading can come too
 * early and never say too much, so the largest of five runs counts.
 */
export async function peakMemory(program: Program): Promise<number> {
  let peak = 0;
  for (let run = 0; run < 5; run++) peak = Math.max(peak, await peakOnce(program));
  return peak;
}

async function peakOnce({ command, env = {} }: Program): Promise<number> {
  const child = Bun.spawn([...command], { env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let peak = 0;
  for (let now: number | undefined = 0; now !== undefined; now = residentPeak(child.pid)) peak = now;
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
  return peak;
}

/** `undefined` once it has ended: a process that is not waited for yet has a status and no memory. */
function residentPeak(pid: number): number | undefined {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

export interface CpuMeter {
  /** Milliseconds on a processor since the program started, over all its threads. */
  read(): number;
  /** The same in the kernel's coarse ticks; counts the last moments of threads that ended, too. */
  readTicks(): number;
}

const MS_PER_TICK = 10;

export function createCpuMeter(pid: number): CpuMeter {
  /** By thread, and kept when it ends. */
  const nanoseconds = new Map<string, number>();
  return {
    read() {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const text = readIfThere(`/proc/${pid}/task/${thread}/schedstat`);
        if (text !== undefined) nanoseconds.set(thread, Number(text.split(" ")[0]));
      }
      return nanoseconds.values().reduce((sum, value) => sum + value, 0) / 1e6;
    },
    readTicks() {
      // The name, in parentheses, may hold blanks itself. Behind it user and system time are 12th and 13th.
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
    },
  };
}

/** A thread can end between the listing and the reading. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH"))
      return undefined;
    throw error;
  }
}
