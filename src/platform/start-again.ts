/** Starts this program once more, with the same arguments, beside the process that is about to end. */

import { spawn } from "node:child_process";
import { UserError } from "../core/errors.ts";
import { problemOf } from "../lib/phrases.ts";
import type { Runtime } from "./runtime.ts";

/** Resolves when it runs. Rejects with a `UserError` when it cannot be started. */
export async function startAgain({ isExecutable }: Pick<Runtime, "isExecutable">): Promise<void> {
  const given = process.argv.slice(2);
  const script = isExecutable ? [] : [...process.execArgv, process.argv[1] ?? ""];
  const child = spawn(process.execPath, [...script, ...given], { detached: true, stdio: "inherit" });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => {
      reject(
        new UserError(`Cannot start again: ${problemOf(error)}`, {
          hint: "Start it by hand",
          cause: error,
          exitCode: 1,
        }),
      );
    });
  });
  child.unref();
}
