/** The built-in skills as files: what the executable holds of them, known by a digest of all. */

import { createHash } from "node:crypto";
import type { Assets } from "../core/platform.ts";
import { asBuffer } from "../lib/bytes.ts";
import { lazy } from "../lib/lazy.ts";

const DIGEST_LENGTH = 16;

interface BuiltInFile {
  /** Below the folder of all skills, with `/`. */
  readonly path: string;
  readonly isScript: boolean;
}

export interface BuiltInTree {
  /** Hexadecimal. Another one where anything else is in it. */
  readonly digest: string;
  readonly files: readonly BuiltInFile[];
  /** All that hold something, above those that they hold. */
  readonly folders: readonly string[];
}

export type OpenTree = () => Promise<BuiltInTree>;

/** Reads it once. */
export function createBuiltInTree(assets: Pick<Assets, "list" | "bytes">): OpenTree {
  return lazy(async () => {
    const hash = createHash("sha256");
    const files: BuiltInFile[] = [];
    const folders = new Set<string>();
    for (const path of await assets.list("skills")) {
      // A skill is a folder.
      if (!path.includes("/")) continue;
      const bytes = await assets.bytes("skills", path);
      hash.update(`${path}\0${bytes.length}\0`).update(bytes);
      files.push({ path, isScript: isScript(path, bytes) });
      for (const folder of foldersOf(path)) folders.add(folder);
    }
    return { digest: hash.digest("hex").slice(0, DIGEST_LENGTH), files, folders: [...folders].sort() };
  });
}

function isScript(path: string, bytes: Uint8Array): boolean {
  return path.split("/").slice(1, -1).includes("scripts") || asBuffer(bytes.subarray(0, 2)).equals(SHEBANG);
}

const SHEBANG = asBuffer(new TextEncoder().encode("#!"));

function foldersOf(path: string): readonly string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}
