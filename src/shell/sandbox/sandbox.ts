/** The wall around commands: bubblewrap, where it works, around the workspace and what the owner added. */

import type { SandboxState } from "../../core/commands.ts";
import { UserError } from "../../core/errors.ts";
import type { FileSystem, Processes } from "../../core/platform.ts";
import { explained, quote } from "../../lib/file-error.ts";
import { isInside } from "../../lib/inside.ts";
import { lazy } from "../../lib/lazy.ts";
import { ownerPath, ownPlaces } from "../../lib/own-places.ts";
import { dirname, join } from "../../lib/path.ts";
import { followLinks } from "../../lib/real-path.ts";
import { arrange, covering, type Mount, mountArguments, pins } from "./mounts.ts";
import { configMounts, ownMounts } from "./own-mounts.ts";
import { type Bubblewrap, PROC, probeBubblewrap } from "./probe.ts";
import { systemMounts } from "./system-mounts.ts";

/** Inside, a folder of the command's own that is gone when it ends. */
export const TEMPORARY = "/tmp";

export interface SandboxOptions {
  readonly files: FileSystem;
  readonly processes: Pick<Processes, "run">;
  readonly os: string;
  /** `auto`: where bubblewrap works and commands are restricted to the workspace. `bwrap`: no command without it. */
  readonly mode: "auto" | "bwrap" | "none";
  readonly restrictToWorkspace: boolean;
  /** Absolute and real. */
  readonly workspace: string;
  readonly home: string | undefined;
  readonly configFile: string;
  /** As the owner wrote them: folders that tools may use, and what only commands may read or change. */
  readonly allowedPaths?: readonly string[];
  readonly roBinds?: readonly string[];
  readonly rwBinds?: readonly string[];
  /** Where the results of an owner's tools lie, relative to the workspace. */
  readonly ownResults: (owner: string) => string;
}

interface SandboxedProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** What differs from the environment outside. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Sandbox {
  /** What is in force. Finds it out once, at the first call. */
  state(): Promise<SandboxState>;
  /** What commands may use beside the workspace, real: more with a sandbox, which keeps them to it. */
  allowedPaths(): Promise<readonly string[]>;
  /**
   * `program` in the sandbox; `undefined` where it runs without one. `owner` is the session whose results
   * it may read. Throws a `UserError` when it must not run at all.
   */
  wrap(
    program: { readonly file: string; readonly args: readonly string[] },
    place: { readonly cwd: string; readonly owner: string },
  ): Promise<SandboxedProgram | undefined>;
}

/** Throws a `UserError` for settings that would open what must stay closed. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { files, processes, os, mode, restrictToWorkspace, workspace, configFile, ownResults } = options;

  // Followed once: a link that a command puts there later must not lead anywhere else.
  const real = (paths: readonly string[] = []) => realPaths(paths, options);
  const allowed = await real(options.allowedPaths);
  const roBinds = await real(options.roBinds);
  const rwBinds = await real(options.rwBinds);
  await refuseWideBinds("sandboxRoBinds", options.roBinds ?? [], options);
  await refuseWideBinds("sandboxRwBinds", options.rwBinds ?? [], options);

  const system = lazy(async (): Promise<readonly Mount[]> => {
    const base: readonly Mount[] = [
      { kind: "dev", path: "/dev" },
      { kind: "temporary", path: TEMPORARY },
    ];
    return [...(await systemMounts(files)), ...base];
  });

  const bubblewrap = lazy(
    async (): Promise<Bubblewrap> =>
      probeBubblewrap({ files, processes, os, mounts: await system(), workspace }),
  );

  async function state(): Promise<SandboxState> {
    if (mode === "none") return { kind: "none", why: "tools.exec.sandbox is none" };
    if (mode === "auto" && !restrictToWorkspace) {
      return { kind: "none", why: "tools.restrictToWorkspace is false" };
    }
    const found = await bubblewrap();
    if (found.works) return { kind: "bwrap", hasProc: found.hasProc };
    return { kind: mode === "bwrap" ? "refused" : "none", why: `bwrap: ${found.why}` };
  }

  /** Ancestors first wherever two overlap; what is nanobot's own last, so that nothing opens it again. */
  async function plan(owner: string): Promise<readonly Mount[]> {
    const shown: readonly Mount[] = [
      ...(await system()),
      ...(await existing(files, "ro", roBinds)),
      ...(await existing(files, "rw", [...allowed, ...rwBinds])),
      { kind: "rw", path: workspace },
    ];
    const own = await ownMounts(files, ownPlaces(options), join(workspace, ownResults(owner)));
    const open = shown.filter(
      ({ path }) => path === workspace || !own.some((mount) => isInside(mount.path, path)),
    );
    const config = await configMounts(files, configFile, workspace, open);
    const mounts = [...open, ...config, ...own];
    const guarded = [workspace, ...[...own, ...config].map(({ path }) => path)];
    return [...mounts, ...pins(mounts, guarded)];
  }

  return {
    state,

    async allowedPaths() {
      const inForce = await state();
      return inForce.kind === "bwrap" ? [...allowed, ...roBinds, ...rwBinds] : allowed;
    },

    async wrap({ file, args }, { cwd, owner }) {
      const inForce = await state();
      if (inForce.kind === "refused") throw new UserError(refusedText(inForce.why));
      const found = inForce.kind === "bwrap" ? await bubblewrap() : undefined;
      if (!found?.works) return undefined;
      const mounts = await plan(owner);
      const visible = covering(arrange(mounts), cwd);
      if (visible?.kind !== "rw" && visible?.kind !== "ro") {
        throw new UserError(
          `Cannot run the command in ${quote(cwd)}: the sandbox does not show that folder; use one of the workspace`,
        );
      }
      return {
        file: found.file,
        args: [
          ...found.first,
          ...mountArguments(found.hasProc ? [...mounts, PROC] : mounts),
          ...["--chdir", cwd, "--", file, ...args],
        ],
        env: { HOME: workspace, TMPDIR: TEMPORARY },
      };
    },
  };
}

/** For the model, and through it for the owner. */
export function refusedText(why: string): string {
  return `Cannot run the command: tools.exec.sandbox is "bwrap", and that is not to be had here (${why}). The owner can install it, or set tools.exec.sandbox to "auto" or "none"`;
}

async function realPaths(
  paths: readonly string[],
  options: Pick<SandboxOptions, "files" | "workspace" | "home">,
): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const absolute = ownerPath(path, options);
      if (absolute === undefined) return [];
      return [await explained("find", path, () => followLinks(options.files, absolute))];
    }),
  );
  // Processes show their environment there, this one its keys.
  return found.flat().filter((path) => !isInside("/proc", path));
}

async function refuseWideBinds(
  key: string,
  paths: readonly string[],
  options: SandboxOptions,
): Promise<void> {
  const { files, workspace, configFile } = options;
  const closed = [
    { place: dirname(workspace), what: "the folder that holds the workspace" },
    { place: await followLinks(files, configFile), what: "the configuration file" },
    { place: configFile, what: "the configuration file" },
  ];
  for (const [index, path] of paths.entries()) {
    for (const one of await realPaths([path], options)) {
      const reached = closed.find(({ place }) => isInside(one, place));
      const inOwn = isInside(ownPlaces(options).hidden, one);
      if (reached === undefined && !inOwn) continue;
      const why = reached === undefined ? "it is nanobot's own" : `it contains ${reached.what}`;
      throw new UserError(`Cannot use tools.exec.${key}[${index}], ${quote(path)}: ${why}`, {
        hint: "Name the folders that commands need one by one",
      });
    }
  }
}

/** What is not there is left out. What became a link since its real place was found is not followed. */
async function existing(
  files: FileSystem,
  kind: "ro" | "rw",
  paths: readonly string[],
): Promise<readonly Mount[]> {
  const found = await Promise.all(
    paths.map(async (path): Promise<Mount[]> => {
      const isThere = (await files.stat(path)) !== undefined && (await followLinks(files, path)) === path;
      return isThere ? [{ kind, path }] : [];
    }),
  );
  return found.flat();
}
