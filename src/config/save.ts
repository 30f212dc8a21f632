/** Changing the user's configuration file: only what was asked for, and never without a way back. */

import { UserError } from "../core/errors.ts";
import type { FileSystem } from "../core/platform.ts";
import { explained, quote } from "../lib/file-error.ts";
import { fileStamp } from "../lib/file-stamp.ts";
import { isObject } from "../lib/is-object.ts";
import { BACKUP } from "../lib/own-places.ts";
import { dirname } from "../lib/path.ts";
import { readConfigText } from "./json-text.ts";
import { isForbidden, toCamel } from "./keys.ts";
import { parseConfig, type RawConfig } from "./load.ts";

export interface SaveOptions {
  readonly files: FileSystem;
  readonly path: string;
  /** In camelCase; objects are merged, everything else replaces. `null` means absent, as in the file. */
  readonly changes: RawConfig;
  /** Milliseconds since the epoch, for the name of the backup. */
  readonly now: number;
}

export interface Saved {
  /** The old file, where it was changed. */
  readonly backup: string | undefined;
  readonly changed: boolean;
}

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Throws a `UserError`, and changes nothing, when the file that is there is broken. */
export async function saveConfig({ files, path, changes, now }: SaveOptions): Promise<Saved> {
  const old = await readConfigText(files, path);
  const text = await changedText(old, changes, path);
  if (text === old) return { backup: undefined, changed: false };
  await parseConfig(text, path);
  return explained("write config", path, async () => {
    await files.makeFolder(dirname(path), { mode: FOLDER_MODE });
    const backup = old === undefined ? undefined : await keepOld(files, path, now);
    await files.replace(path, new TextEncoder().encode(text), { mode: FILE_MODE });
    return { backup, changed: true };
  });
}

/** The old bytes beside the file, under a name that is not taken. */
async function keepOld(files: FileSystem, path: string, now: number): Promise<string> {
  const time = fileStamp(now);
  let backup = path + BACKUP + time;
  for (let copy = 2; (await files.linkStat(backup)) !== undefined; copy++)
    backup = `${path}${BACKUP}${time}-${copy}`;
  await files.replace(backup, await files.read(path), { mode: FILE_MODE });
  return backup;
}

async function changedText(old: string | undefined, changes: RawConfig, path: string): Promise<string> {
  if (old === undefined) return `${JSON.stringify(changes, undefined, 2)}\n`;
  const { raw } = await parseConfig(old, path);
  const { applyEdits, modify } = await import("jsonc-parser");
  const formattingOptions = { tabSize: 2, insertSpaces: true, eol: old.includes("\r\n") ? "\r\n" : "\n" };
  let text = old;
  // Edits of the text, and not of the parsed value: order, spacing and long numbers stay as they were.
  for (const { at, value } of editsFor(raw, changes, [])) {
    text = applyEdits(text, modify(text, [...at], value, { formattingOptions }));
  }
  return text;
}

interface Edit {
  readonly at: readonly string[];
  /** `undefined` takes the key away. */
  readonly value: unknown;
}

function editsFor(there: RawConfig, changes: RawConfig, at: readonly string[]): Edit[] {
  return Object.entries(changes).flatMap(([name, change]): Edit[] => {
    if (isForbidden(name)) throw new UserError(`Write config: ${quote(name)} cannot be a name`);
    const key = spelledIn(there, name);
    const value = key === undefined ? undefined : there[key];
    const path = [...at, key ?? name];
    if (isObject(value) && isObject(change)) return editsFor(value, change, path);
    if (change === null) return key === undefined ? [] : [{ at: path, value: undefined }];
    return JSON.stringify(value) === JSON.stringify(change) ? [] : [{ at: path, value: change }];
  });
}

/** The key as the user wrote it, in either spelling. */
function spelledIn(there: RawConfig, name: string): string | undefined {
  if (Object.hasOwn(there, name)) return name;
  return Object.keys(there).find((key) => toCamel(key) === name);
}
