/** Trees of files below one root: the repository, or the inside of the executable. */

// Synchronous, because the inside of an executable answers to nothing else, and is memory anyway.
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { Assets } from "../core/platform.ts";
import { join } from "../lib/path.ts";

export function createAssets(root: string): Assets {
  function at(tree: string, path: string): string {
    if (path.split(/[/\\]/).includes("..")) throw new Error(`Cannot read "${path}" outside of "${tree}"`);
    return join(root, tree, path);
  }

  return {
    async list(tree) {
      const folder = join(root, tree);
      return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((path) => statSync(join(folder, path)).isFile())
        .map((path) => path.replaceAll("\\", "/"))
        .sort();
    },
    async read(tree, path) {
      return readFileSync(at(tree, path), "utf8");
    },
    async bytes(tree, path) {
      return readFileSync(at(tree, path));
    },
  };
}
