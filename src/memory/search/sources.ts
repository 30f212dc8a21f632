/** Where is searched: the files below `memory/`, and all sessions. */

import type { FileSystem } from "../../core/platform.ts";
import type { SessionStore } from "../../core/session.ts";
import { asBuffer } from "../../lib/bytes.ts";
import { folderEntries } from "../../lib/folder-entries.ts";
import { join } from "../../lib/path.ts";
import { type Said, saidInHistory, saidInSession } from "./said.ts";

/** Daily notes of more than 27 years. */
const LISTED = 10_000;
const NOTE = /^(\d{4}-\d{2}-\d{2})\.md$/;

export interface Source {
  readonly kind: "session" | "history" | "markdown";
  readonly path: string;
  /** For people and the model. */
  readonly name: string;
  /** When what it says was so: always, or on the day of a note, unless it says so itself. */
  readonly holds?: "always" | { readonly day: string };
}

/** Where in a source a passage is, in bytes. */
export interface Place {
  readonly source: Source;
  readonly from: number;
  readonly to: number;
}

function sourceOf(folder: string, file: string): Source | undefined {
  const common = { path: join(folder, file), name: `memory/${file}` };
  if (file === "MEMORY.md") return { ...common, kind: "markdown", holds: "always" };
  if (file === "HISTORY.md") return { ...common, kind: "markdown" };
  if (file === "history.jsonl") return { ...common, kind: "history" };
  const day = NOTE.exec(file)?.[1];
  return day === undefined ? undefined : { ...common, kind: "markdown", holds: { day } };
}

/** Links are passed over: one could lead to a file that the agent may not read. */
export async function listSources({
  files,
  sessions,
  workspace,
}: {
  readonly files: FileSystem;
  readonly sessions: Pick<SessionStore, "files">;
  readonly workspace: string;
}): Promise<readonly Source[]> {
  const folder = join(workspace, "memory");
  const { entries } = await folderEntries(files, folder, LISTED);
  const notes = entries.flatMap(({ name, kind }) => (kind === "file" ? (sourceOf(folder, name) ?? []) : []));
  const said = (await sessions.files()).map(
    ({ key, path }): Source => ({ kind: "session", path, name: key }),
  );
  return [...notes, ...said];
}

/** What is said in a line of such a source; `undefined` for Markdown, whose passages are what they say. */
export function saidIn({ kind }: Source, line: string): Said | undefined {
  return kind === "session" ? saidInSession(line) : saidInHistory(line);
}

/** Reads a passage again. `undefined` when something else is there now. */
export async function readPlace(
  files: Pick<FileSystem, "read">,
  { source, from, to }: Place,
): Promise<Pick<Said, "text" | "role"> | undefined> {
  const text = asBuffer(await files.read(source.path, { start: from, end: to })).toString("utf8");
  return source.kind === "markdown" ? { text, role: undefined } : saidIn(source, text);
}
