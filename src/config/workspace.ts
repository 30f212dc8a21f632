/** Making the workspace and filling it with the templates it lacks. */

import { UserError } from "../core/errors.ts";
import type { Assets, FileSystem } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { explained, quote } from "../lib/file-error.ts";
import { dirname, join } from "../lib/path.ts";

const FOLDER_MODE = 0o755;
const FILE_MODE = 0o644;

export interface WorkspaceOptions {
  readonly files: FileSystem;
  readonly assets: Assets;
  /** Absolute. */
  readonly workspace: string;
}

/** Adds what is missing and changes nothing that is there, whatever it is. Resolves to the paths it added, below the workspace. */
export async function prepareWorkspace({ files, assets, workspace }: WorkspaceOptions): Promise<string[]> {
  await explained("make the workspace", workspace, () => makeWorkspace(files, workspace));
  const added: string[] = [];
  for (const template of await assets.list("workspace")) {
    const path = join(workspace, template);
    const isAdded = await explained("add", path, async () => {
      if (!(await isFree(files, workspace, template))) return false;
      await files.makeFolder(dirname(path), { mode: FOLDER_MODE });
      const text = await assets.read("workspace", template);
      await files.replace(path, new TextEncoder().encode(text), { mode: FILE_MODE });
      return true;
    });
    if (isAdded) added.push(template);
  }
  return added;
}

/**
 * Makes a workspace that is not there, all at once: another process that starts at the same moment, or
 * after a kill, finds it whole or not at all. Resolves to the paths it added; none when somebody was faster.
 */
export async function createWorkspace({ files, assets, workspace }: WorkspaceOptions): Promise<string[]> {
  if ((await files.stat(workspace)) !== undefined) return [];
  // A link to nothing is refused there, with a word to the user.
  if ((await files.linkStat(workspace)) !== undefined) return prepareWorkspace({ files, assets, workspace });
  const making = `${workspace}.new-${crypto.randomUUID()}`;
  try {
    const added = await prepareWorkspace({ files, assets, workspace: making });
    await files.rename(making, workspace);
    return added;
  } catch (error) {
    await files.remove(making);
    // The name that nobody asked for would only puzzle.
    if (error instanceof UserError)
      throw new UserError(error.message.replaceAll(making, workspace), { cause: error });
    if (["EEXIST", "ENOTEMPTY"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}

async function makeWorkspace(files: FileSystem, workspace: string): Promise<void> {
  const there = await files.stat(workspace);
  if (there === undefined && (await files.linkStat(workspace))) {
    throw new UserError(`Make the workspace ${quote(workspace)}: it is a link to nothing`);
  }
  if (there !== undefined && there.kind !== "directory") {
    throw new UserError(`Make the workspace ${quote(workspace)}: it is a file`);
  }
  if (there === undefined) await files.makeFolder(workspace, { mode: FOLDER_MODE });
}

/** Whether nothing, not even a link, is at the template's place, nor a file in the place of its folder. */
async function isFree(files: FileSystem, workspace: string, template: string): Promise<boolean> {
  let path = workspace;
  const names = template.split("/");
  for (const [index, name] of names.entries()) {
    path = join(path, name);
    if ((await files.linkStat(path)) === undefined) return true;
    const isFolder = index < names.length - 1 && (await files.stat(path))?.kind === "directory";
    if (!isFolder) return false;
  }
  return false;
}
