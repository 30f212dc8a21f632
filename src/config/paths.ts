/** Where the configuration and the workspace are. */

import type { GlobalFlags, Paths } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { Platform } from "../core/platform.ts";
import { quote } from "../lib/file-error.ts";
import { dirname, isAbsolute, join, resolve } from "../lib/path.ts";
import { expandVariables } from "./expand.ts";
import type { Config } from "./schema.ts";

/** The machine, as far as places go. `cwd` is read only for a relative path: its folder may be gone. */
export type Surroundings = Pick<Platform, "env" | "homeFolder" | "cwd">;

/** `NANOBOT_HOME`, else `~/.nanobot`; else the folder of the config that was named. */
export function configPaths(
  around: Surroundings,
  flags: Pick<GlobalFlags, "config">,
): Pick<Paths, "home" | "configFile"> {
  const named = flags.config === undefined ? undefined : fromCwd(flags.config, around);
  const home = findHome(around) ?? (named && dirname(named));
  if (home === undefined) {
    throw new UserError("Find the home folder: neither HOME nor the user database names one", {
      hint: "Set NANOBOT_HOME to the folder nanobot should keep its configuration in",
    });
  }
  return { home, configFile: named ?? join(home, "config.json") };
}

function findHome(around: Surroundings): string | undefined {
  const chosen = around.env["NANOBOT_HOME"];
  if (chosen) return fromCwd(chosen, around);
  return around.homeFolder ? join(around.homeFolder, ".nanobot") : undefined;
}

/** `--workspace`, else what the configuration says, from `home` where it is relative; else `<home>/workspace`. */
export function workspacePath(
  config: Config,
  home: string,
  around: Surroundings,
  flags: Pick<GlobalFlags, "workspace">,
): string {
  if (flags.workspace !== undefined) return fromCwd(flags.workspace, around);
  const { workspace } = config.agents.defaults;
  if (!workspace) return join(home, "workspace");
  const expanded = expandVariables(workspace, around.env, ["agents", "defaults", "workspace"]);
  return resolve(home, withHome(expanded, around.homeFolder));
}

/** A path that somebody typed. */
export function fromCwd(path: string, around: Surroundings): string {
  const whole = withHome(path, around.homeFolder);
  return isAbsolute(whole) ? resolve(whole) : resolve(around.cwd, whole);
}

function withHome(path: string, homeFolder: string | undefined): string {
  if (path === "") throw new UserError("Find a file: its path is empty");
  if (path !== "~" && !path.startsWith("~/")) return path;
  if (homeFolder) return join(homeFolder, path.slice(1));
  throw new UserError(`Find ${quote(path)}: the home folder is not known`, { hint: "Write the whole path" });
}
