/** What a process remembers beyond its conversations: the files, the search over them, and what writes them. */

import type { ModelChoice } from "../core/app.ts";
import type { BackgroundPause } from "../core/background.ts";
import type { Consolidation, MemorySearch, MemoryStore } from "../core/memory.ts";
import type { Log, Platform } from "../core/platform.ts";
import type { SessionStore } from "../core/session.ts";
import { lazy } from "../lib/lazy.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { Settings } from "./settings.ts";

export interface MemoryOptions {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly pause: BackgroundPause;
  sessions(): Promise<SessionStore>;
}

export function createMemory({ platform, settings, log, secrets, pause, sessions }: MemoryOptions) {
  const { files, locks, clock } = platform;

  const store = lazy(async (): Promise<MemoryStore> => {
    const { createMemoryStore } = await import("../memory/store.ts");
    const { workspace } = await settings.paths();
    const timeZone = await settings.lateTimeZone();
    return createMemoryStore({ files, locks, clock, log, workspace, timeZone });
  });

  const search = lazy(async (): Promise<MemorySearch> => {
    const { createMemorySearch } = await import("../memory/search/search.ts");
    const { workspace } = await settings.paths();
    const { mask } = secrets;
    return createMemorySearch({
      files,
      sessions: await sessions(),
      log,
      clock,
      workspace,
      timeZone: await settings.timeZone(),
      mask,
    });
  });

  return {
    store,
    search,

    /** `isPatient` where the process goes on for long. */
    async consolidation(model: ModelChoice, { isPatient }: { isPatient: boolean }): Promise<Consolidation> {
      const { createConsolidation } = await import("../memory/consolidation.ts");
      const { workspace } = await settings.paths();
      const agent = await settings.agent();
      return createConsolidation({
        memory: await store(),
        sessions: await sessions(),
        model: async () => model,
        files,
        clock,
        locks,
        log,
        workspace,
        ratio: agent.consolidationRatio,
        idleMinutes: agent.idleCompactAfterMinutes,
        idleCheckMs: agent.idleCompactCheckIntervalSeconds * 1_000,
        pause,
        mask: secrets.mask,
        isPatient,
      });
    },
  };
}
