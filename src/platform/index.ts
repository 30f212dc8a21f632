/** Puts the platform of this machine together. Cheap: what costs time to load is loaded when it is used. */

import { statSync } from "node:fs";
import { UserError } from "../core/errors.ts";
import type { Platform } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { isAbsolute, join } from "../lib/path.ts";
import { createAssets } from "./assets.ts";
import { systemClock } from "./clock.ts";
import { createFileSystem } from "./files.ts";
import { createHttpServers } from "./http.ts";
import { createIds } from "./ids.ts";
import { createLocks } from "./locks.ts";
import { createProcesses } from "./processes.ts";
import { createTerminal } from "./terminal.ts";

export async function createPlatform(): Promise<Platform> {
  const { runtime } = "Bun" in globalThis ? await import("./bun.ts") : await import("./deno.ts");
  const homeFolder = await findHome(process.env["HOME"]);
  keepLoopbackDirect(process.env);
  return {
    runtime: runtime.name,
    os: process.platform,
    arch: process.arch,
    pid: process.pid,
    env: process.env,
    get cwd() {
      return currentFolder();
    },
    homeFolder,
    get timeZone() {
      return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
    },
    clock: systemClock,
    random: Math.random,
    ids: createIds({ now: systemClock.now, random: Math.random }),
    files: createFileSystem(),
    locks: createLocks({ os: process.platform, folder: join(homeFolder ?? "/tmp", ".nanobot", "locks") }),
    processes: createProcesses(systemClock),
    terminal: createTerminal(runtime),
    assets: createAssets(runtime.assetsRoot),
    fetch: globalThis.fetch,
    http: createHttpServers({ runtime, clock: systemClock }),
    collectGarbage: runtime.collectGarbage,
    async startAgain() {
      const { startAgain } = await import("./start-again.ts");
      await startAgain(runtime);
    },
  };
}

/** What is on this machine is reached without a proxy: the runtime's `fetch` would send even that through one. */
function keepLoopbackDirect(env: Record<string, string | undefined>): void {
  const isSet = Object.keys(env).some((name) => /^(https?|all)_proxy$/i.test(name) && env[name]);
  if (!isSet) return;
  for (const name of ["NO_PROXY", "no_proxy"]) {
    env[name] = [env[name] ?? "", "localhost", "127.0.0.1", "::1"].filter(Boolean).join(",");
  }
}

/** Asked for late, since a program can run in a folder that was removed as long as it needs no folder. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    throw new UserError("Cannot find the current folder: it was removed", {
      hint: "Change to a folder that exists and try again",
      cause: error,
    });
  }
}

async function findHome(fromEnvironment: string | undefined): Promise<string | undefined> {
  if (fromEnvironment !== undefined && isAbsolute(fromEnvironment)) return fromEnvironment;
  const { userInfo } = await import("node:os");
  let home: string;
  try {
    home = userInfo().homedir;
  } catch {
    // A user id without an entry in the user database, as in many containers: there is no home to know.
    return undefined;
  }
  return isAbsolute(home) && isFolder(home) ? home : undefined;
}

/** Services are given homes such as /nonexistent. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
