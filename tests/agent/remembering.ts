/** The agent of the fixture with the real memory behind it, and the prompt that it is in. */

import { createPromptSource } from "../../src/agent/prompt-source.ts";
import { createWorkspaceFiles } from "../../src/lib/workspace-files.ts";
import { createConsolidation } from "../../src/memory/consolidation.ts";
import { createMemoryStore } from "../../src/memory/store.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createPinnedFiles } from "../../src/platform/pinned-files.ts";
import type { createFixture } from "./fixture.ts";

export function remembering({ deps, clock, log, workspace, sessions }: ReturnType<typeof createFixture>) {
  const files = createFileSystem();
  const locks = createLocks({ os: process.platform, folder: workspace });
  const consolidation = createConsolidation({
    memory: createMemoryStore({ files, locks, clock, log, workspace, timeZone: () => "UTC" }),
    sessions,
    model: async () => deps.models.standard,
    files,
    clock,
    locks,
    log,
    workspace,
    ratio: 0.5,
    idleMinutes: 15,
    idleCheckMs: 60_000,
    pause: { leftMs: () => 0, observe() {} },
    mask: (text) => text,
    isPatient: true,
  });
  const systemPrompt = createPromptSource({
    files: createWorkspaceFiles({
      system: files,
      pinned: createPinnedFiles({ os: process.platform }),
      workspace,
      home: undefined,
      restrict: true,
    }),
    assets: { list: async () => [], read: async () => "", bytes: async () => new Uint8Array() },
    log,
    facts: { os: "linux", arch: "x64", runtime: "Test", workspace },
    today: () => "2026-11-30",
  });
  return { consolidation, systemPrompt, deps: { ...deps, systemPrompt, consolidation } };
}
