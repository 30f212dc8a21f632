/** The jobs of a workspace, as its file has them. */

import type { Log, Platform } from "../core/platform.ts";
import { lazy } from "../lib/lazy.ts";
import { join } from "../lib/path.ts";
import type { Settings } from "./settings.ts";

export interface JobsParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
}

export function createJobsPort({ platform, settings, log }: JobsParts) {
  return lazy(async () => {
    const { createJobs } = await import("../schedule/jobs.ts");
    const { files, locks, clock, ids } = platform;
    const { workspace, home } = await settings.paths();
    return createJobs({
      files,
      locks,
      clock,
      ids,
      log,
      workspace,
      legacyFile: join(home, "cron", "jobs.json"),
      timeZone: await settings.timeZone(),
      mostJobs: (await settings.limits()).jobs,
    });
  });
}
