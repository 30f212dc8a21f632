/** Where a path leads when every link in it is followed, also a path whose end does not exist yet. */

import type { FileKind, FileStat, FileSystem } from "../core/platform.ts";
import { dirname, join, parse, SEPARATOR_PATTERN } from "./path.ts";

/** As many as Linux follows before it answers ELOOP. */
const MAX_LINKS = 40;

function refusal(code: string, reason: string): Error {
  return Object.assign(new Error(`${code}: ${reason}`), { code });
}

function split(path: string): { root: string; segments: string[] } {
  const { root } = parse(path);
  return { root, segments: path.slice(root.length).split(SEPARATOR_PATTERN) };
}

/**
 * The real path of `path`, which is absolute: no link, no `.`, no `..`. It goes segment by segment, as the
 * kernel does, because shortening `link/..` beforehand would name another place. What does not exist is
 * taken as written, and a link to nothing resolves to where a write through it would land. Rejects like the
 * system: `ELOOP`, `ENOTDIR`, and `ENOENT` for `..` behind what does not exist.
 */
export async function followLinks(
  system: Pick<FileSystem, "linkStat" | "readLink" | "realPath">,
  path: string,
): Promise<string> {
  const start = split(path);
  const pending = start.segments.reverse();
  let at = start.root;
  // `existing` is the part of `at` that is there.
  let existing = at;
  let kind: FileKind | "nothing" = "directory";
  let links = 0;

  for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
    if (kind === "file" || kind === "other") throw refusal("ENOTDIR", "not a folder");
    if (segment === "" || segment === ".") continue;
    if (segment === "..") {
      if (kind === "nothing") throw refusal("ENOENT", "no such folder to go up from");
      at = existing = dirname(at);
      continue;
    }
    const next = join(at, segment);
    const found: FileStat | undefined = kind === "nothing" ? undefined : await system.linkStat(next);
    if (found?.kind === "link") {
      if (++links > MAX_LINKS) throw refusal("ELOOP", "too many links");
      const target = split(await system.readLink(next));
      pending.push(...target.segments.reverse());
      if (target.root !== "") at = existing = target.root;
      continue;
    }
    at = next;
    kind = found?.kind ?? "nothing";
    if (found !== undefined) existing = at;
  }
  // Where upper and lower case are the same, only the system knows how the name is really spelled.
  const real = await system.realPath(existing);
  return at === existing ? real : join(real, at.slice(existing.length));
}
