/** What a store of lines in a workspace takes, over real files, and a look at what it leaves there. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FileSystem } from "../../src/core/platform.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createFakeClock } from "./clock.ts";
import { createFakeLog } from "./log.ts";
import { tempFolder } from "./temp.ts";

export interface LineStoreOptions {
  readonly workspace?: string;
  readonly files?: FileSystem;
  readonly maxBytes?: number;
}

/** `name` is that of its file, `now` where the clock begins. */
export function createLineStoreDeps(
  { name, now }: { name: string; now: number },
  { workspace = tempFolder(), files = createFileSystem(), ...limits }: LineStoreOptions,
) {
  const log = createFakeLog();
  const clock = createFakeClock(now);
  const locks = createLocks({ os: process.platform, folder: workspace });
  const folder = join(workspace, ".nanobot");
  return {
    deps: { files, clock, locks, log, workspace, ...limits },
    seen: {
      workspace,
      log,
      clock,
      locks,
      folder,
      path: join(folder, name),
      lines: (file = name) => linesOf(join(folder, file)),
    },
  };
}

/** Of a file whose last line ends too. */
export function linesOf(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}
