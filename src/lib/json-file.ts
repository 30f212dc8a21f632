/** A small JSON file of the workspace: read again when it changed, replaced whole, and kept when it is damaged. */

import { UserError } from "../core/errors.ts";
import type { FileStat, FileSystem, Log } from "../core/platform.ts";
import { errorCode } from "./error-code.ts";
import { quote } from "./file-error.ts";
import { fileStamp } from "./file-stamp.ts";
import { parseJson } from "./parse-json.ts";
import { dirname } from "./path.ts";
import { isSameFile } from "./same-file.ts";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export interface JsonFileOptions<State extends object> {
  readonly files: FileSystem;
  readonly log: Log;
  readonly path: string;
  /** `undefined` for what is none of ours. Throws a `UserError` for a file that must not be touched. */
  readonly parse: (value: unknown) => State | undefined;
  /** In bytes. A longer file is none of ours. */
  readonly longest: number;
}

export interface JsonFile<State extends object> {
  readonly path: string;
  /** Damage is reported once. Rejects when the system does not let the file be read. */
  read(): Promise<State | "missing" | "damaged">;
  /** On disk when it resolves; a crash leaves the old file or the new one. */
  write(value: object): Promise<void>;
  /**
   * The same for who goes on without what cannot be understood: such a file is put aside under a name in which it is
   * kept, and `undefined` comes in its place, as where there is none. `now` in milliseconds since the epoch.
   */
  readOrBegin(now: number): Promise<State | undefined>;
}

/** Throws a `UserError` for a file of a version that has yet to come, which must stay as it is. */
export function refuseNewer(
  { v }: { readonly v?: unknown },
  { path, version }: { path: string; version: number },
): void {
  if (typeof v !== "number" || v <= version) return;
  throw new UserError(`Cannot read ${quote(path)}: a newer nanobot wrote it`, {
    hint: "Use that one, or give the file another name",
  });
}

export function createJsonFile<State extends object>({
  files,
  log,
  path,
  parse,
  longest,
}: JsonFileOptions<State>): JsonFile<State> {
  let seen: { readonly stat: FileStat; readonly state: State | "damaged" } | undefined;

  async function load(stat: FileStat): Promise<State | "missing" | "damaged"> {
    // A pipe or a device would never be at its end.
    if (stat.kind !== "file" || stat.bytes > longest) return "damaged";
    try {
      const bytes = await files.read(path, { end: longest + 1 });
      if (bytes.length > longest) return "damaged";
      return parse(parseJson(new TextDecoder().decode(bytes))) ?? "damaged";
    } catch (error) {
      if (errorCode(error) === "ENOENT") return "missing";
      throw error;
    }
  }

  async function read(): Promise<State | "missing" | "damaged"> {
    // Before it is read: what comes in between shows as another change.
    const stat = await files.stat(path);
    if (stat === undefined) return "missing";
    if (seen !== undefined && isSameFile(seen.stat, stat)) return seen.state;
    const state = await load(stat);
    if (state === "missing") return state;
    if (state === "damaged") log.error("Could not understand a file, which is kept as it is", { path });
    seen = { stat, state };
    return state;
  }

  return {
    path,
    read,
    async write(value) {
      seen = undefined;
      await files.makeFolder(dirname(path), { mode: FOLDER_MODE });
      const text = `${JSON.stringify(value, undefined, 2)}\n`;
      await files.replace(path, new TextEncoder().encode(text), { mode: FILE_MODE });
    },
    async readOrBegin(now) {
      const state = await read();
      if (state === "missing") return undefined;
      if (state !== "damaged") return state;
      seen = undefined;
      const kept = `${path}.corrupt-${fileStamp(now)}`;
      await files.rename(path, kept);
      log.error("A damaged file was put aside, and a new one is begun", { path, kept });
      return undefined;
    },
  };
}
