/** Finds the skills in the workspace. Whatever is wrong with one of them costs that one. */

import type { FileStat, FileSystem, Log } from "../core/platform.ts";
import type { PinnedFiles } from "../core/tool.ts";
import { exactText } from "../lib/exact-text.ts";
import { explained } from "../lib/file-error.ts";
import { folderEntries } from "../lib/folder-entries.ts";
import { isInside } from "../lib/inside.ts";
import { HIDDEN } from "../lib/own-places.ts";
import { basename, join } from "../lib/path.ts";
import { problemOf } from "../lib/phrases.ts";
import { followLinks } from "../lib/real-path.ts";
import { isSameFile } from "../lib/same-file.ts";
import { brokenEntry, readEntry, type SkillEntry } from "./entry.ts";
import { LONGEST_FILE } from "./skill-text.ts";

/** Below the workspace. */
export const FOLDER = "skills";

/** As the format has it, and as some write it. */
const FILES = ["SKILL.md", "skill.md"];

const MOST_SKILLS = 200;
const MOST_LISTED = 1_000;
const LONGEST_NAME = 200;

export interface WorkspaceSkillsOptions {
  readonly files: FileSystem;
  /** Reads the files at their real places: a command could put a link there meanwhile, to what it may not read. */
  readonly pinned: Pick<PinnedFiles, "read">;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
}

interface Known {
  readonly stat: FileStat;
  readonly real: string;
  readonly entry: SkillEntry;
}

export interface FoundSkills {
  /** By name. */
  readonly skills: readonly SkillEntry[];
  /** Names of folders that are none, for want of a SKILL.md. */
  readonly without: readonly string[];
}

/** Reads a file again only when it has changed. */
export type FindSkills = () => Promise<FoundSkills>;

export function createWorkspaceSkills({ files, pinned, log, workspace }: WorkspaceSkillsOptions): FindSkills {
  const root = join(workspace, FOLDER);
  const known = new Map<string, Known>();
  const reported = new Set<string>();

  function report(message: string, properties: Readonly<Record<string, unknown>>): void {
    if (!reported.has(message)) log.warn(message, properties);
    reported.add(message);
  }

  /** `undefined` for a folder that is no skill. */
  async function look(name: string): Promise<SkillEntry | undefined> {
    for (const file of FILES) {
      const place = { name, source: "workspace", file } as const;
      try {
        const stat = await lookAt(name, file);
        if (stat === undefined) continue;
        return await entryOf(place, stat);
      } catch (error) {
        known.delete(name);
        return brokenEntry(place, `its ${file} cannot be used: ${problemOf(error)}`);
      }
    }
    known.delete(name);
    return undefined;
  }

  /** Of what a link leads to, if it leads anywhere. */
  async function lookAt(name: string, file: string): Promise<FileStat | undefined> {
    const path = join(root, name, file);
    return explained("read", shown(name, file), async () =>
      (await files.linkStat(path)) === undefined ? undefined : ((await files.stat(path)) ?? NOTHING),
    );
  }

  async function entryOf(
    place: Pick<SkillEntry, "name" | "file"> & { readonly source: "workspace" },
    stat: FileStat,
  ): Promise<SkillEntry> {
    const { name, file } = place;
    const real = await explained("read", shown(name, file), () => followLinks(files, join(root, name, file)));
    if (!isInside(workspace, real) || isInside(join(workspace, HIDDEN), real)) {
      throw new Error("it leads out of the workspace");
    }
    // A link could lead to any file that commands may not read, and this one goes to the model.
    if (!FILES.includes(basename(real))) throw new Error("it leads to something else");
    if (stat.kind !== "file") throw new Error("it is no file");
    const last = known.get(name);
    if (last !== undefined && last.real === real && isSameFile(last.stat, stat)) return last.entry;
    const read = () => explained("read", shown(name, file), () => pinned.read(real, { end: LONGEST_FILE }));
    const problems =
      stat.bytes > LONGEST_FILE
        ? [`its ${file} is longer than ${LONGEST_FILE / 1024} KiB, and the rest is not read`]
        : [];
    const entry = await readEntry({ ...place, problems, read, bytes: await read() });
    known.set(name, { stat, real, entry });
    return entry;
  }

  async function folders(): Promise<readonly string[]> {
    try {
      const { entries, more } = await folderEntries(files, root, MOST_LISTED);
      if (more) report("The skills folder holds too much, and not all of it was looked at", { path: root });
      return entries
        .filter(({ name, kind }) => (kind === "directory" || kind === "link") && !name.startsWith("."))
        .map(({ name }) => name);
    } catch (error) {
      report("Could not look into the skills folder", { path: root, error });
      return [];
    }
  }

  return async () => {
    const found: SkillEntry[] = [];
    const without: string[] = [];
    for (const name of await folders()) {
      if (found.length === MOST_SKILLS) {
        report("There are more skills than are used", { used: MOST_SKILLS });
        break;
      }
      if (!canBeShown(name)) {
        report("A skill was left out, because of the characters in its folder's name", { name });
        continue;
      }
      const entry = await look(name);
      if (entry === undefined) without.push(name);
      else found.push(entry);
    }
    const names = new Set(found.map(({ name }) => name));
    for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    return { skills: found, without };
  };
}

const shown = (name: string, file: string) => `${FOLDER}/${name}/${file}`;

/** What a link to nothing leads to. */
const NOTHING: FileStat = { kind: "other", bytes: 0, modifiedMs: 0, mode: 0, inode: 0 };

/** Others would break the line of a prompt that they stand in. */
function canBeShown(name: string): boolean {
  return (
    name.length <= LONGEST_NAME && !/[`*\n]/.test(name) && name.isWellFormed() && exactText(name) === name
  );
}
