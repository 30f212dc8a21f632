/** The jobs of a workspace, as its file has them. */

import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { Log, Platform } from "../core/platform.ts";
import { lazy } from "../lib/lazy.ts";
import { join } from "../lib/path.ts";
import type { JobsStore } from "../schedule/jobs.ts";
import type { Settings } from "./settings.ts";

export interface JobsParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
}

export interface JobsPort {
  open(): Promise<JobsStore>;
  /** Resolves when somebody has asked for them. */
  readonly opened: Promise<void>;
  /** Whether there is a file that jobs may be in. */
  mayExist(): Promise<boolean>;
}

export function createJobsPort({ platform, settings, log }: JobsParts): JobsPort {
  const { files, locks, clock, ids } = platform;
  const opened = Promise.withResolvers<void>();

  async function legacyFile(): Promise<string> {
    const { home } = await settings.paths();
    return join(home, "cron", "jobs.json");
  }

  return {
    opened: opened.promise,

    open: lazy(async () => {
      opened.resolve();
      const { createJobs } = await import("../schedule/jobs.ts");
      const { workspace } = await settings.paths();
      return createJobs({
        files,
        locks,
        clock,
        ids,
        log,
        workspace,
        legacyFile: await legacyFile(),
        timeZone: await settings.timeZone(),
        mostJobs: (await settings.limits()).jobs,
      });
    }),

    async mayExist() {
      const { workspace } = await settings.paths();
      const folder = join(workspace, "cron");
      const places = [join(folder, "jobs.json"), join(folder, "action.jsonl"), await legacyFile()];
      const found = await Promise.all(places.map((path) => files.linkStat(path)));
      return found.some((stat) => stat !== undefined);
    },
  };
}

/** For `ToolPorts.isTimeKept`. A process that is the gateway is asked by its own socket. */
export function timeKeeping(askGateway: App["askGateway"]): (signal: AbortSignal) => Promise<boolean> {
  return async (signal) => {
    try {
      return (await askGateway("status", {}, signal)).running;
    } catch (error) {
      // One that does not answer as it should runs all the same.
      if (error instanceof UserError) return true;
      throw error;
    }
  };
}
