/** The files the tools may touch: every path is followed to its real place and judged there. */

import { UserError } from "../core/errors.ts";
import type { FileSystem } from "../core/platform.ts";
import type { PinnedFiles, RealPath, ToolFiles } from "../core/tool.ts";
import { explained, quote } from "./file-error.ts";
import { isInside } from "./inside.ts";
import { BACKUP, foldPath, openPlace } from "./own-places.ts";
import { basename, isAbsolute, relative, SEPARATOR } from "./path.ts";
import { followLinks } from "./real-path.ts";
import { isTemporaryName } from "./temporary-name.ts";

export interface WorkspaceFilesOptions {
  /** Where paths are resolved. */
  readonly system: Pick<FileSystem, "linkStat" | "readLink" | "realPath">;
  /** What is done at a path that was resolved, and nowhere else. */
  readonly pinned: PinnedFiles;
  /** Absolute and real. */
  readonly workspace: string;
  /** What `~` stands for. `undefined` when nobody knows. */
  readonly home: string | undefined;
  /** Whether everything outside the workspace and `allowedPaths` is refused. */
  readonly restrict: boolean;
  /** More folders to read and write in. Like all paths here: absolute, with `~/`, or relative to the workspace. */
  readonly allowedPaths?: readonly string[];
  /** Neither read nor written, with all that is below and the backups beside it. */
  readonly hidden?: readonly string[];
  /** Read, but not written, with all that is below. */
  readonly protectedPaths?: readonly string[];
  /** The places below `hidden` that may be read: one for everybody, and what this session's own tools put aside. */
  readonly readable?: string | undefined;
  readonly ownResults?: string | undefined;
  /**
   * Where to read what is not there: by the path below the workspace, with `/`, the absolute path of what stands
   * in for it, if anything does. It is judged as if it had been named itself.
   */
  readonly standIn?: ((path: string) => Promise<string | undefined>) | undefined;
}

type Access = "read" | "write";

/** As long as Linux takes a path. Bounds the walk before it begins. */
const LONGEST_PATH = 4096;

/** Environment, memory and open files of running programs, this one with its keys among them. */
const PROCESS_INTERNALS = /^\/proc\/\d+(\/|$)/;

/** Cheap to make: one per session, because `ownResults` differs. */
export function createWorkspaceFiles({
  system,
  pinned,
  workspace,
  home,
  restrict,
  allowedPaths = [],
  hidden = [],
  protectedPaths = [],
  readable,
  ownResults,
  standIn,
}: WorkspaceFilesOptions): ToolFiles {
  const isHomeKnown = home !== undefined && isAbsolute(home);
  const open = [readable, ownResults].flatMap((place) =>
    place === undefined ? [] : (absolute(place) ?? []),
  );

  function absolute(path: string): string | undefined {
    // Put together as text: join() would shorten `link/..`, which the walk must see.
    if (path === "~" || path.startsWith("~/")) return isHomeKnown ? home + path.slice(1) : undefined;
    return isAbsolute(path) ? path : workspace + SEPARATOR + path;
  }

  async function follow(path: string, doing: string): Promise<string> {
    const found = absolute(path);
    if (found === undefined) {
      throw new UserError(
        `Cannot ${doing} ${quote(path)}: the home folder is not known; use a path relative to the workspace`,
      );
    }
    return explained(doing, path, () => followLinks(system, found));
  }

  /**
   * Asked anew each time: somebody may have moved `sessions/` to another disk meanwhile. A place that cannot
   * be found refuses every path, because what it should keep closed is unknown.
   */
  async function places(paths: readonly string[]): Promise<readonly string[]> {
    return Promise.all(paths.map((path) => follow(path, "find")));
  }

  async function isHidden(real: string, access: Access): Promise<boolean> {
    if (PROCESS_INTERNALS.test(real)) return true;
    const folded = foldPath(real);
    // It may become a hidden one.
    if (isTemporaryName(basename(folded))) return true;
    const closed = (place: string) => isInside(place, folded) || folded.startsWith(`${place}${BACKUP}`);
    if (!(await places(hidden)).some((place) => closed(foldPath(place)))) return false;
    if (access === "write") return true;
    const opened = await Promise.all(
      open.map((place) => explained("find", place, () => openPlace(system, place))),
    );
    return !opened.some((place) => place !== undefined && isInside(place, real));
  }

  /** A file in the place of a folder above one of ours would block it just as well. */
  async function isProtected(real: string): Promise<boolean> {
    const folded = foldPath(real);
    const inWorkspace = isInside(workspace, real) && real !== workspace;
    return (await places(protectedPaths)).some(
      (place) => isInside(foldPath(place), folded) || (inWorkspace && isInside(folded, foldPath(place))),
    );
  }

  async function isAllowed(real: string): Promise<boolean> {
    if (!restrict) return true;
    return (await places([workspace, ...allowedPaths])).some((root) => isInside(root, real));
  }

  /** `real`, or where what stands in for it really is. */
  async function present(path: string, real: string, doing: string): Promise<string> {
    if (standIn === undefined || real === workspace || !isInside(workspace, real)) return real;
    if ((await explained(doing, path, () => system.linkStat(real))) !== undefined) return real;
    const found = await standIn(relative(workspace, real).replaceAll(SEPARATOR, "/"));
    return found === undefined ? real : follow(found, doing);
  }

  async function judge(path: string, real: string, access: Access, doing: string): Promise<void> {
    const refused = `Cannot ${doing} ${quote(path)}`;
    if (!(await isAllowed(real))) {
      throw new UserError(
        `${refused}: it leads outside the workspace; use a path inside it, relative to it, such as "notes.md"`,
        {
          hint: "The owner can allow more folders with tools.allowedPaths in the configuration",
          isRefusal: true,
        },
      );
    }
    if (await isHidden(real, access)) {
      throw new UserError(
        `${refused}: it belongs to nanobot itself and is closed to tools; use another path`,
        { isRefusal: true },
      );
    }
    if (access === "write" && (await isProtected(real))) {
      throw new UserError(
        `${refused}: only nanobot itself writes there; use another path inside the workspace, such as "notes.md"`,
        { isRefusal: true },
      );
    }
  }

  return {
    system: pinned,

    async resolve(path, access, doing = access) {
      refuseUnusable(path, doing);
      const named = await follow(path, doing);
      const real = access === "read" ? await present(path, named, doing) : named;
      await judge(path, real, access, doing);
      // The one place where a path becomes a RealPath.
      return real as RealPath;
    },

    display(path) {
      return isInside(workspace, path) ? relative(workspace, path) || "." : path;
    },
  };
}

function refuseUnusable(path: string, doing: string): void {
  const refused = `Cannot ${doing} ${quote(path)}`;
  if (path === "") throw new UserError(`${refused}: name a path; "." is the workspace`);
  if (path.includes("\0") || !path.isWellFormed()) {
    throw new UserError(`${refused}: no path can contain that character`);
  }
  if (path.length > LONGEST_PATH) {
    throw new UserError(`${refused}: the path is longer than ${LONGEST_PATH} characters`);
  }
}
