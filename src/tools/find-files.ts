/** The tool that finds files by their names. */

import * as v from "valibot";
import { defineTool, type ToolFiles, toolError, toolOk } from "../core/tool.ts";
import { createBreather } from "../lib/breather.ts";
import { explained, quote } from "../lib/file-error.ts";
import { createGlob } from "../lib/glob.ts";
import { join } from "../lib/path.ts";
import { sortInTurns } from "../lib/sort-in-turns.ts";
import { createTypeFilter } from "./file-types.ts";
import { flag, text, whole } from "./parameters.ts";
import { describeWalk, spellPath } from "./shown-paths.ts";
import { isOpen, newWalkNotes, statEntries, type WalkedEntry, type WalkOptions, walk } from "./walk.ts";

const FIND_IN = "find files in";
const DEFAULT_RESULTS = 200;
const MOST_RESULTS = 1_000;
const UNITS_A_TEST = 300;

export const findFiles = defineTool({
  name: "find_files",
  section: "file",
  description:
    "Find files by name, below a folder. Leaves out folders of versioning, packaging and build tools. " +
    "To search inside files use grep.",
  parameters: v.strictObject({
    path: text("The folder to search (default: the workspace)"),
    query: text("Words that must all be in the path, in any case and order"),
    glob: text('Such as "*.ts" for any folder, or "src/**/*.test.ts"; "!*.md" for all others'),
    type: text("A kind of files, such as py, ts, md or json"),
    include_dirs: flag("Find folders too (default false)"),
    sort: v.optional(
      v.pipe(v.picklist(["path", "modified"]), v.description("By path, or the newest first (default path)")),
    ),
    head_limit: whole(
      `How many to show (default ${DEFAULT_RESULTS}; 0 for as many as possible, which is ${MOST_RESULTS})`,
      0,
    ),
    offset: whole("How many to pass over first", 0),
  }),
  readOnly: true,

  async execute(
    { path = ".", sort = "path", head_limit = DEFAULT_RESULTS, offset = 0, ...wanted },
    { signal, ports: { files, clock } },
  ) {
    const isWanted = createFilter(wanted);
    const root = await files.resolve(path, "read", FIND_IN);
    const kind = (await explained(FIND_IN, path, () => files.system.stat(root)))?.kind;
    if (kind !== "directory") {
      const why = kind === undefined ? "there is no such folder" : "it is not a folder";
      return toolError(`Cannot ${FIND_IN} ${quote(path)}: ${why}`);
    }

    const options = {
      doing: FIND_IN,
      named: path,
      notes: newWalkNotes(),
      breather: createBreather(clock),
      signal,
    };
    const found = await find(files, root, { ...options, isWanted, isSortedByTime: sort === "modified" });
    const most = head_limit === 0 ? MOST_RESULTS : Math.min(head_limit, MOST_RESULTS);
    const shown: string[] = [];
    for (const { below, kind: what } of found.slice(offset, offset + most)) {
      const full = join(root, below);
      if (!(await isOpen(files, full, FIND_IN))) continue;
      shown.push(spellPath(files.display(full)) + (what === "directory" ? "/" : ""));
    }
    const notes = [...describePage(found.length, { offset, most, path }), ...describeWalk(options.notes)];
    return toolOk([...shown, ...(shown.length > 0 && notes.length > 0 ? [""] : []), ...notes].join("\n"));
  },
});

interface Wanted {
  readonly query?: string | undefined;
  readonly glob?: string | undefined;
  readonly type?: string | undefined;
  readonly include_dirs?: boolean | undefined;
}

function createFilter({ query = "", glob, type, include_dirs = false }: Wanted) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const hasType = type === undefined ? undefined : createTypeFilter(type);
  const isInGlob = glob === undefined ? undefined : createGlob(glob);
  return ({ below, kind }: WalkedEntry): boolean => {
    if (kind === "directory" && (!include_dirs || hasType !== undefined)) return false;
    const lower = words.length === 0 ? "" : below.toLowerCase();
    return (
      words.every((word) => lower.includes(word)) && (hasType?.(below) ?? true) && (isInGlob?.(below) ?? true)
    );
  };
}

interface FindOptions extends WalkOptions {
  readonly isWanted: (entry: WalkedEntry) => boolean;
  readonly isSortedByTime: boolean;
}

interface Found extends Pick<WalkedEntry, "below" | "kind"> {
  /** 0 where nobody asks for it. */
  readonly modifiedMs: number;
}

async function find(files: ToolFiles, root: string, { isWanted, isSortedByTime, ...options }: FindOptions) {
  const found: Found[] = [];
  for await (const entries of walk(files, root, options)) {
    await options.breather.take(entries.length * UNITS_A_TEST);
    const wanted = entries.filter(isWanted);
    const stats = isSortedByTime ? await statEntries(files, root, wanted, options) : [];
    for (const [index, { below, kind }] of wanted.entries()) {
      found.push({ below, kind, modifiedMs: stats[index]?.modifiedMs ?? 0 });
    }
  }
  const inOrder = (a: Found, b: Found) => b.modifiedMs - a.modifiedMs || (a.below < b.below ? -1 : 1);
  return sortInTurns(found, inOrder, options.breather);
}

interface Page {
  readonly offset: number;
  readonly most: number;
  readonly path: string;
}

function describePage(total: number, { offset, most, path }: Page): string[] {
  if (total === 0) return [`(Nothing found in ${quote(path)}. Try a shorter query or another glob)`];
  if (offset >= total) return [`(There are only ${total}. Use an offset below that)`];
  const end = offset + most;
  return end < total ? [`(${total - end} more. Go on with offset=${end})`] : [];
}
