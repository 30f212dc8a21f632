/** ripgrep, where this machine has it: started as it is, without a shell and with an empty environment. */

import type { FileSystem, Processes } from "../core/platform.ts";
import type { Ripgrep } from "../core/tool.ts";
import { firstProgram } from "../lib/first-program.ts";
import { lazy } from "../lib/lazy.ts";

/** Of its beginning and of its end. Who finds more than that has gained little. */
const KEEP_BYTES = 128 * 1024;

export interface RipgrepOptions {
  readonly files: Pick<FileSystem, "stat">;
  readonly processes: Pick<Processes, "run">;
}

export function createRipgrep({ files, processes }: RipgrepOptions): Ripgrep {
  const find = lazy(() => firstProgram(files, "rg"));

  return async (args, { cwd, timeoutSeconds, signal }) => {
    const file = await find();
    if (file === undefined) return undefined;
    const timeoutMs = timeoutSeconds * 1000;
    return processes.run({ file, args, cwd, env: {}, timeoutMs, keepBytes: KEEP_BYTES }, signal);
  };
}
