/** Makes the workspace when there is none. */

import type { App } from "../core/app.ts";

/** One that was named on the command line is announced: a mistyped folder must not go unnoticed. */
export async function ensureWorkspace(app: App): Promise<void> {
  const added = await app.prepareWorkspace({ onlyWhenMissing: true });
  if (added.length === 0 || app.flags.workspace === undefined) return;
  app.platform.terminal.err(`Made a new workspace at ${(await app.paths()).workspace}\n`);
}
