/** One program that runs: its end by whatever comes first, its pipes, and its group gone after it. */

import type { ChildProcess, spawn as Spawn } from "node:child_process";
import type { Clock, ProcessExit, ProcessSpec, RunningProcess } from "../core/platform.ts";
import { decodeUtf8 } from "./captured-output.ts";
import { createGroup, endLeftovers, type Group } from "./process-group.ts";
import { createInput, drain, follow } from "./process-pipes.ts";

/** From the polite signal to the one that cannot be refused. */
const GRACE_MS = 300;
/** After that we go on without it: it runs as another user, or hangs in the kernel. */
const ABANDON_MS = 1000;
/** A program that writes more than this before anybody asks says nothing to anybody. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export interface LaunchOptions {
  readonly spawn: typeof Spawn;
  readonly clock: Clock;
  /** Holds the group from its first moment to its last, so that no exit leaves it behind. */
  readonly running: Set<Group>;
  readonly input: "ignore" | "pipe";
}

/** Rejects when the program cannot be started. */
export async function launch(
  spec: ProcessSpec,
  { spawn, clock, running, input: inputKind }: LaunchOptions,
): Promise<RunningProcess> {
  const { child, started, exited } = start(spec, spawn, inputKind);
  const group = createGroup(child);
  running.add(group);
  // Before anything is waited for: a pipe may fail at once, and nobody listening would end this process.
  const input = createInput(child.stdin, clock);
  try {
    await started;
  } catch (error) {
    running.delete(group);
    throw error;
  }

  let ended: ProcessExit["ended"];
  let cancelKill: (() => void) | undefined;
  const unkillable = Promise.withResolvers<Exit>();
  function end(reason: NonNullable<ProcessExit["ended"]>): void {
    if (ended !== undefined) return;
    ended = reason;
    group.kill("SIGTERM");
    cancelKill = clock.after(GRACE_MS, () => {
      group.kill("SIGKILL");
      cancelKill = clock.after(ABANDON_MS, () => unkillable.resolve({ code: null, signal: null }));
    });
  }

  const listeners = new Set<Parameters<RunningProcess["onOutput"]>[0]>();
  let untakenBytes = 0;
  const onChunk = (stream: "stdout" | "stderr") => (bytes: number, whole: Uint8Array) => {
    untakenBytes += bytes;
    if (untakenBytes > MAX_OUTPUT_BYTES) end("flood");
    if (listeners.size === 0) return;
    const text = decodeUtf8(whole);
    for (const listener of listeners) listener(stream, text);
  };
  const stdout = follow(child.stdout, spec.keepBytes, onChunk("stdout"));
  const stderr = follow(child.stderr, spec.keepBytes, onChunk("stderr"));
  const cancelTimeout = spec.timeoutMs > 0 ? clock.after(spec.timeoutMs, () => end("timeout")) : undefined;

  async function finish(): Promise<ProcessExit> {
    try {
      const { code, signal } = await Promise.race([exited, unkillable.promise]);
      cancelTimeout?.();
      await Promise.all([endLeftovers(group, clock), drain([stdout, stderr], clock)]);
      return { exitCode: code, signal, ended };
    } finally {
      input.destroy();
      cancelKill?.();
      running.delete(group);
    }
  }

  return {
    write: input.write,
    closeInput: input.close,
    end,
    take() {
      untakenBytes = 0;
      return { stdout: stdout.take(), stderr: stderr.take() };
    },
    peek: () => ({ stdout: stdout.peek(), stderr: stderr.peek() }),
    onOutput(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    exited: finish(),
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

function start(spec: ProcessSpec, spawn: typeof Spawn, input: "ignore" | "pipe"): Started {
  const child = spawn(spec.file, [...spec.args], {
    cwd: spec.cwd,
    env: { ...spec.env },
    // A session and a group of its own, so that one signal reaches all its descendants.
    detached: process.platform !== "win32",
    stdio: [input, "pipe", "pipe"],
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
