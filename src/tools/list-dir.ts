/** The tool that lists a folder, or the tree below it. */

import * as v from "valibot";
import type { FileKind } from "../core/platform.ts";
import { defineTool, type ToolFiles, toolError, toolOk } from "../core/tool.ts";
import { createBreather } from "../lib/breather.ts";
import { explained, quote } from "../lib/file-error.ts";
import { join } from "../lib/path.ts";
import { flag, text, whole } from "./parameters.ts";
import { describeWalk, spellPath } from "./shown-paths.ts";
import { isOpen, newWalkNotes, type WalkNotes, type WalkOptions, walk } from "./walk.ts";

const LIST = "list";
const DEFAULT_ENTRIES = 200;
const MOST_ENTRIES = 1_000;
/** So many that are not shown are counted before the rest is given up. */
const MOST_COUNTED = 20_000;
const MARKS: Partial<Record<FileKind, string>> = { directory: "/", link: "@" };

export const listDir = defineTool({
  name: "list_dir",
  section: "file",
  description:
    "List a folder. Folders end with /, links with @. Leaves out folders of versioning, packaging and build tools.",
  parameters: v.strictObject({
    path: text("The folder, relative to the workspace or absolute (default: the workspace)"),
    recursive: flag("Show what is in its folders too (default false)"),
    max_entries: whole(`How many entries to show (default ${DEFAULT_ENTRIES}, most ${MOST_ENTRIES})`, 1),
  }),
  readOnly: true,

  async execute(
    { path = ".", recursive = false, max_entries = DEFAULT_ENTRIES },
    { signal, ports: { files, clock } },
  ) {
    const root = await files.resolve(path, "read", LIST);
    const kind = (await explained(LIST, path, () => files.system.stat(root)))?.kind;
    if (kind === undefined) return toolError(`Cannot list ${quote(path)}: there is no such folder`);
    if (kind !== "directory")
      return toolError(`Cannot list ${quote(path)}: it is not a folder; use read_file`);

    const options = {
      doing: LIST,
      named: path,
      notes: newWalkNotes(),
      breather: createBreather(clock),
      signal,
    };
    const most = Math.min(max_entries, MOST_ENTRIES);
    const { shown, more } = await collect(files, root, { ...options, most, isDeep: recursive });
    const notes = [...describeRest(shown, more, options.notes), ...describeWalk(options.notes)];
    return toolOk([...shown, ...(shown.length > 0 && notes.length > 0 ? [""] : []), ...notes].join("\n"));
  },
});

/** Level by level, so that a limit cuts the depths first. */
async function collect(files: ToolFiles, root: string, { most, ...options }: WalkOptions & { most: number }) {
  const shown: string[] = [];
  let more = 0;
  for await (const entries of walk(files, root, { ...options, everyKind: true })) {
    for (const { below, kind } of entries) {
      if (shown.length === most) more++;
      // A link has no place but the folder that holds it, which is open.
      else if (kind === "link" || (await isOpen(files, join(root, below), LIST))) {
        shown.push(spellPath(below) + (MARKS[kind] ?? ""));
      }
    }
    if (more < MOST_COUNTED) continue;
    options.notes.isPartial = true;
    break;
  }
  return { shown: shown.sort(), more };
}

function describeRest(shown: readonly string[], more: number, { leftOut, isPartial }: WalkNotes): string[] {
  if (shown.length === 0) {
    return [leftOut.size === 0 ? "(The folder is empty)" : "(Nothing else is in the folder)"];
  }
  if (more === 0) return [];
  const rest = isPartial ? `At least ${more}` : more;
  return [`(${rest} more. List a folder below, or raise max_entries up to ${MOST_ENTRIES})`];
}
