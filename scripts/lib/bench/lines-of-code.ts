/** Counts lines of code, so that how long the source takes to read stays a number. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface LineCount {
  /** Lines that are not blank. */
  readonly lines: number;
  /** Those of them that hold nothing but a comment, or a part of one. */
  readonly comments: number;
}

export function countLines(source: string): LineCount {
  let lines = 0;
  let comments = 0;
  let inBlock = false;
  for (const line of source.split("\n").map((raw) => raw.trim())) {
    if (line === "") continue;
    lines++;
    const opens: boolean = !inBlock && line.startsWith("/*");
    const end: number = inBlock || opens ? line.indexOf("*/", opens ? 2 : 0) : -1;
    const isComment = (inBlock || opens) && (end < 0 || end + 2 === line.length);
    if (isComment || line.startsWith("//")) comments++;
    inBlock = (inBlock || opens) && end < 0;
  }
  return { lines, comments };
}

export function addCounts(counts: readonly LineCount[]): LineCount {
  return counts.reduce(
    (sum, { lines, comments }) => ({ lines: sum.lines + lines, comments: sum.comments + comments }),
    {
      lines: 0,
      comments: 0,
    },
  );
}

/** The TypeScript of each folder in `root`, with all below it, by name; `.` are the files beside them. */
export function countFolders(root: string): ReadonlyMap<string, LineCount> {
  const found = new Map<string, LineCount>();
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  for (const file of files.sort()) {
    const folder = dirname(file).split(/[/\\]/)[0] ?? ".";
    const counted = countLines(readFileSync(join(root, file), "utf8"));
    found.set(folder, addCounts([found.get(folder) ?? { lines: 0, comments: 0 }, counted]));
  }
  return found;
}
