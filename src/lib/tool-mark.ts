/** How this program tells that it was started by a command of the agent, and not by its owner. */

import type { Environment } from "../core/platform.ts";

/** In the environment of every command, whatever its value. No setting: those have `__` in their names. */
export const TOOL_MARK = "NANOBOT_TOOL";

/** A command that takes the mark away is not told from the owner. */
export function isBelowTool(env: Environment): boolean {
  return env[TOOL_MARK] !== undefined;
}
