/** The built-in skills, read out of the executable. */

import type { Assets } from "../core/platform.ts";
import { lazy } from "../lib/lazy.ts";
import type { OpenTree } from "./built-in-tree.ts";
import { readEntry, type SkillEntry } from "./entry.ts";

export const FILE = "SKILL.md";

/** By name. Reads them once. */
export function createBuiltInSkills(
  assets: Pick<Assets, "bytes">,
  tree: OpenTree,
): () => Promise<readonly SkillEntry[]> {
  return lazy(async () => {
    const { files } = await tree();
    const names = files.flatMap(({ path }) => {
      const [name = "", ...rest] = path.split("/");
      return rest.length === 1 && rest[0] === FILE ? [name] : [];
    });
    return Promise.all(
      names.map(async (name) => {
        const read = () => assets.bytes("skills", `${name}/${FILE}`);
        return readEntry({ name, source: "built-in", file: FILE, problems: [], read, bytes: await read() });
      }),
    );
  });
}
