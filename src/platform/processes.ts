/** Runs programs so that nothing of them is left behind: groups, deadlines, bounded output. */

import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { CapturedOutput, Clock, Processes, ProcessResult, ProcessSpec } from "../core/platform.ts";
import { never } from "../lib/abort.ts";
import { errorCode } from "../lib/error-code.ts";
import { createOutputCapture } from "./captured-output.ts";

type Ended = ProcessResult["ended"];

/** From the polite signal to the one that cannot be refused. */
const GRACE_MS = 300;
/** After that we go on without it: it runs as another user, or hangs in the kernel. */
const ABANDON_MS = 1000;
/** The same for what a program that has ended left running. */
const LEFTOVER_GRACE_MS = 200;
/** How long a killed group may take to disappear: zombies stay for as long as nobody reaps them. */
const VANISH_MS = 100;
const POLL_MS = 10;
/** Whoever left the group still holds our pipe; we stop listening this long after the program's end. */
const DRAIN_MS = 200;
/** A program that writes more than this says nothing to anybody. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const NOTHING: CapturedOutput = { head: "", tail: "", omittedBytes: 0 };

export function createProcesses(clock: Clock): Processes {
  const running = new Set<Group>();

  async function run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult> {
    const { spawn } = await import("node:child_process");
    // Loading takes a moment, in which the end may have come.
    if (signal.aborted) {
      return { exitCode: null, signal: null, ended: "aborted", stdout: NOTHING, stderr: NOTHING };
    }
    const { child, started, exited } = start(spec, spawn);
    // From its first moment, so that no exit leaves it behind.
    const group = createGroup(child);
    running.add(group);
    try {
      await started;
    } catch (error) {
      running.delete(group);
      throw error;
    }

    let ended: Ended;
    let cancelKill: (() => void) | undefined;
    const unkillable = Promise.withResolvers<Exit>();
    function end(reason: NonNullable<Ended>): void {
      if (ended !== undefined) return;
      ended = reason;
      group.kill("SIGTERM");
      cancelKill = clock.after(GRACE_MS, () => {
        group.kill("SIGKILL");
        cancelKill = clock.after(ABANDON_MS, () => unkillable.resolve({ code: null, signal: null }));
      });
    }

    let outputBytes = 0;
    const onBytes = (count: number) => {
      outputBytes += count;
      if (outputBytes > MAX_OUTPUT_BYTES) end("flood");
    };
    const stdout = follow(child.stdout, spec.keepBytes, onBytes);
    const stderr = follow(child.stderr, spec.keepBytes, onBytes);

    const onAbort = () => end("aborted");
    signal.addEventListener("abort", onAbort, { once: true });
    // It may have aborted while the program started.
    if (signal.aborted) onAbort();
    const cancelTimeout = spec.timeoutMs > 0 ? clock.after(spec.timeoutMs, () => end("timeout")) : undefined;
    try {
      const exit = await Promise.race([exited, unkillable.promise]);
      cancelTimeout?.();
      await Promise.all([endLeftovers(group, clock), drain([stdout, stderr], clock)]);
      return {
        exitCode: exit.code,
        signal: exit.signal,
        ended,
        stdout: stdout.result(),
        stderr: stderr.result(),
      };
    } finally {
      signal.removeEventListener("abort", onAbort);
      cancelKill?.();
      running.delete(group);
    }
  }

  return {
    run,
    endAll() {
      for (const group of running) group.kill("SIGKILL");
    },
  };
}

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

interface Started {
  readonly child: ChildProcess;
  /** Resolves when the program runs, rejects when it cannot. */
  readonly started: Promise<void>;
  readonly exited: Promise<Exit>;
}

function start(spec: ProcessSpec, spawn: typeof import("node:child_process").spawn): Started {
  const child = spawn(spec.file, [...spec.args], {
    cwd: spec.cwd,
    env: { ...spec.env },
    // A session and a group of its own, so that one signal reaches all its descendants.
    detached: process.platform !== "win32",
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const started = new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.on("error", reject);
  });
  return { child, started, exited };
}

interface Group {
  /** Signals every member. Nobody being left is fine. */
  kill(name: NodeJS.Signals): void;
  isAlive(): boolean;
}

function createGroup(child: ChildProcess): Group {
  const { pid } = child;
  // Windows has no groups: the program itself is all we can reach.
  if (pid === undefined || process.platform === "win32") {
    return { kill: (name) => void child.kill(name), isAlive: () => false };
  }
  const members = -pid;
  function reach(name: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(members, name);
    } catch (error) {
      // ESRCH: nobody is left. EPERM: who is left belongs to another user, or is a zombie (macOS).
      if (["ESRCH", "EPERM"].includes(errorCode(error) ?? "")) return false;
      throw error;
    }
  }
  return { kill: (name) => void reach(name), isAlive: () => reach(0) };
}

/** The program has ended; what it left in the background must not pile up. */
async function endLeftovers(group: Group, clock: Clock): Promise<void> {
  if (!group.isAlive()) return;
  group.kill("SIGTERM");
  if (await isGoneWithin(LEFTOVER_GRACE_MS, group, clock)) return;
  group.kill("SIGKILL");
  await isGoneWithin(VANISH_MS, group, clock);
}

async function isGoneWithin(ms: number, group: Group, clock: Clock): Promise<boolean> {
  for (let waited = 0; waited < ms; waited += POLL_MS) {
    if (!group.isAlive()) return true;
    await clock.sleep(POLL_MS, never);
  }
  return !group.isAlive();
}

interface FollowedStream {
  readonly closed: Promise<void>;
  destroy(): void;
  result(): CapturedOutput;
}

function follow(
  stream: Readable | null,
  keepBytes: number,
  onBytes: (count: number) => void,
): FollowedStream {
  const capture = createOutputCapture(keepBytes);
  const closed = new Promise<void>((resolve) => {
    if (stream === null) return resolve();
    stream.on("data", (chunk: Uint8Array) => {
      capture.push(chunk);
      onBytes(chunk.length);
    });
    // A pipe that fails has nothing more to say; what it said is kept.
    stream.on("error", () => resolve());
    stream.on("close", () => resolve());
  });
  return { closed, destroy: () => void stream?.destroy(), result: () => capture.result() };
}

async function drain(streams: readonly FollowedStream[], clock: Clock): Promise<void> {
  const closed = Promise.all(streams.map((stream) => stream.closed));
  const late = Promise.withResolvers<void>();
  // One more turn of the event loop, which reads all that a pipe can hold, even if this timer was late itself.
  const cancel = clock.after(DRAIN_MS, () => setImmediate(late.resolve));
  await Promise.race([closed, late.promise]);
  cancel();
  for (const stream of streams) stream.destroy();
}
