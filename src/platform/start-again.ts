/** Starts this program once more, with the same arguments, beside the process that is about to end. */

import { spawn } from "node:child_process";
import type { Runtime } from "./runtime.ts";

export function startAgain({ isExecutable }: Pick<Runtime, "isExecutable">): void {
  const given = process.argv.slice(2);
  const script = isExecutable ? [] : [...process.execArgv, process.argv[1] ?? ""];
  const child = spawn(process.execPath, [...script, ...given], { detached: true, stdio: "inherit" });
  child.unref();
}
