/** Runs programs so that nothing of them is left behind: groups, deadlines, bounded output. */

import type { CapturedOutput, Clock, Processes } from "../core/platform.ts";
import type { Group } from "./process-group.ts";
import { launch } from "./running-process.ts";

const NOTHING: CapturedOutput = { head: "", tail: "", omittedBytes: 0 };

export function createProcesses(clock: Clock): Processes {
  const running = new Set<Group>();

  return {
    async run(spec, signal) {
      const { spawn } = await import("node:child_process");
      // Loading takes a moment, in which the end may have come.
      if (signal.aborted) {
        return { exitCode: null, signal: null, ended: "aborted", stdout: NOTHING, stderr: NOTHING };
      }
      const program = await launch(spec, { spawn, clock, running, input: "ignore" });
      const onAbort = () => program.end("aborted");
      signal.addEventListener("abort", onAbort, { once: true });
      // It may have aborted while the program started.
      if (signal.aborted) onAbort();
      try {
        return { ...(await program.exited), ...program.take() };
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    async start(spec) {
      const { spawn } = await import("node:child_process");
      return launch(spec, { spawn, clock, running, input: "pipe" });
    },
    endAll() {
      for (const group of running) group.kill("SIGKILL");
    },
  };
}
