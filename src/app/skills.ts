/** The skills of a process. */

import type { Log, Platform } from "../core/platform.ts";
import { lazy } from "../lib/lazy.ts";
import type { WorkspaceSkills } from "../skills/skills.ts";
import type { Settings } from "./settings.ts";

export interface SkillsParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
}

export function createSkillsPort({ platform, settings, log }: SkillsParts): () => Promise<WorkspaceSkills> {
  return lazy(async () => {
    const [{ createSkills }, { createProgramFinder }, { createPinnedFiles }] = await Promise.all([
      import("../skills/skills.ts"),
      import("../shell/find-program.ts"),
      import("../platform/pinned-files.ts"),
    ]);
    const { files, assets, env, os, clock, homeFolder: home } = platform;
    const { workspace } = await settings.paths();
    const { disabledSkills: disabled } = await settings.agent();
    const { pathPrepend, pathAppend } = (await settings.tools()).exec;
    return createSkills({
      files,
      pinned: createPinnedFiles({ os }),
      assets,
      env,
      findProgram: createProgramFinder({ files, env, home, pathPrepend, pathAppend }),
      os,
      log,
      clock,
      workspace,
      disabled,
    });
  });
}
