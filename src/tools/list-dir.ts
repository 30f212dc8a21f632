/** The tool that lists a folder, or the tree below it. */

import * as v from "valibot";
import { UserError } from "../core/errors.ts";
import type { FileKind, FileSystem } from "../core/platform.ts";
import { defineTool, toolError, toolOk } from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";
import { join } from "../lib/path.ts";
import { NOISE, OWN } from "./left-behind.ts";

const DEFAULT_ENTRIES = 200;
const MOST_ENTRIES = 1_000;
/** How many entries and folders are looked at, shown or not, before counting stops. */
const MOST_LOOKED_AT = 20_000;
const MOST_FOLDERS = 5_000;

export const listDir = defineTool({
  name: "list_dir",
  section: "file",
  description:
    "List a folder. Folders end with /, links with @. Leaves out folders of versioning, packaging and build tools.",
  parameters: v.strictObject({
    path: v.optional(
      v.pipe(
        v.string(),
        v.description("The folder, relative to the workspace or absolute (default: the workspace)"),
      ),
    ),
    recursive: v.optional(
      v.pipe(v.boolean(), v.description("Show what is in its folders too (default false)")),
    ),
    max_entries: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(1),
        v.description(`How many entries to show (default ${DEFAULT_ENTRIES}, most ${MOST_ENTRIES})`),
      ),
    ),
  }),
  readOnly: true,

  async execute(
    { path = ".", recursive = false, max_entries = DEFAULT_ENTRIES },
    { signal, ports: { files } },
  ) {
    const root = await files.resolve(path, "read", "list");
    const kind = (await explained("list", path, () => files.system.stat(root)))?.kind;
    if (kind === undefined) return toolError(`Cannot list ${quote(path)}: there is no such folder`);
    if (kind !== "directory")
      return toolError(`Cannot list ${quote(path)}: it is not a folder; use read_file`);

    const listing = await explained("list", path, () =>
      walk(files.system, root, { recursive, most: Math.min(max_entries, MOST_ENTRIES), signal }),
    );
    return toolOk(describe(listing));
  },
});

interface Listing {
  readonly shown: string[];
  readonly omitted: Set<string>;
  readonly unreadable: string[];
  found: number;
  /** Whether there is more than was looked at. */
  isPartial: boolean;
}

/** Level by level, so that a limit cuts the depths first. Links are shown and never followed. */
async function walk(
  system: FileSystem,
  root: string,
  { recursive, most, signal }: { recursive: boolean; most: number; signal: AbortSignal },
): Promise<Listing> {
  const listing: Listing = { shown: [], omitted: new Set(), unreadable: [], found: 0, isPartial: false };
  // Paths below the root; the walk appends to the list that it goes through.
  const folders = [""];
  for (const folder of folders) {
    signal.throwIfAborted();
    if (listing.found >= MOST_LOOKED_AT) {
      listing.isPartial = true;
      break;
    }
    const listed = await list(system, join(root, folder), { isRoot: folder === "" });
    if (listed === undefined) {
      listing.unreadable.push(folder);
      continue;
    }
    listing.isPartial ||= listed.more;
    for (const { name, kind } of listed.entries) {
      if (name === OWN) continue;
      if (kind === "directory" && NOISE.has(name)) {
        listing.omitted.add(name);
        continue;
      }
      const entry = folder === "" ? name : `${folder}/${name}`;
      if (listing.found++ < most) listing.shown.push(spell(entry, kind));
      if (!recursive || kind !== "directory") continue;
      if (folders.length < MOST_FOLDERS) folders.push(entry);
      else listing.isPartial = true;
    }
  }
  listing.shown.sort();
  return listing;
}

/** `undefined` for a folder below the root that cannot be read, or is gone since it was seen. */
async function list(system: FileSystem, path: string, { isRoot }: { isRoot: boolean }) {
  const listed = system.list(path, { limit: MOST_LOOKED_AT });
  if (isRoot) return listed;
  try {
    return await explained("list", path, () => listed);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** One line, whatever is in the name. */
function spell(entry: string, kind: FileKind): string {
  const name = /[\p{Cc}\u2028\u2029]/u.test(entry) || !entry.isWellFormed() ? JSON.stringify(entry) : entry;
  if (kind === "directory") return `${name}/`;
  return kind === "link" ? `${name}@` : name;
}

function describe({ shown, omitted, unreadable, found, isPartial }: Listing): string {
  const notes = [];
  if (shown.length === 0)
    notes.push(omitted.size === 0 ? "(The folder is empty)" : "(Nothing else is in the folder)");
  const rest = found - shown.length;
  if (isPartial) notes.push(`(At least ${rest + 1} more. List a folder below, or raise max_entries)`);
  else if (rest > 0)
    notes.push(`(${rest} more. List a folder below, or raise max_entries up to ${MOST_ENTRIES})`);
  if (omitted.size > 0) notes.push(`(Left out: ${[...omitted].sort().join(", ")})`);
  if (unreadable.length > 0) {
    const named = unreadable.slice(0, 5).map((folder) => spell(folder, "directory"));
    notes.push(
      `(Not readable: ${named.join(", ")}${unreadable.length > named.length ? ", and others" : ""})`,
    );
  }
  return [...shown, ...(shown.length > 0 && notes.length > 0 ? [""] : []), ...notes].join("\n");
}
