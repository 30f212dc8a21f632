/** The tool that makes several edits, in one file or more, all of them or none. */

import * as v from "valibot";
import { UserError } from "../core/errors.ts";
import { defineTool, type RealPath, type ToolFiles, toolOk } from "../core/tool.ts";
import { editText } from "../lib/edit/edit-text.ts";
import { lineCount, lineEndAt, toLf } from "../lib/edit/line-ends.ts";
import { quote } from "../lib/file-error.ts";
import { isInside } from "../lib/inside.ts";
import { wellFormed } from "../lib/text.ts";
import { explainRefusal } from "./edit-refusal.ts";
import { flag, text } from "./parameters.ts";
import { recordWritten, unreadWarning } from "./read-before.ts";
import { findTarget, noSuchFile, type TargetFile } from "./target-file.ts";
import { readText, type TextContent } from "./text-content.ts";
import { type PlannedFile, writeTogether } from "./write-together.ts";

const MOST_EDITS = 20;
/** Of all files together, since they are in memory together. */
const LARGEST_BYTES = 32 * 1024 * 1024;

const editSchema = v.strictObject({
  path: v.pipe(v.string(), v.description("The file, relative to the workspace or absolute")),
  action: v.pipe(
    v.picklist(["replace", "add"], 'Use "replace" or "add"; to move or remove a file use exec with mv or rm'),
    v.description(
      "replace: new_text for old_text. add: new_text at the end of the file, which is made if missing",
    ),
  ),
  old_text: text("For replace: the passage, exactly as it is in the file, where it stands once"),
  new_text: v.pipe(v.string(), v.description("What is put in, word for word")),
});

type PatchEdit = v.InferOutput<typeof editSchema>;

/** A file as it is and as it will be. */
interface Draft {
  readonly target: TargetFile;
  readonly named: string;
  readonly before: TextContent | undefined;
  /** Neither on disk nor made by an edit yet. */
  isMissing: boolean;
  text: string;
  added: number;
  removed: number;
}

export const applyPatch = defineTool({
  name: "apply_patch",
  section: "file",
  description:
    "Make several edits at once, in one file or more. They are tried in order, each on what the ones before it left, " +
    "and nothing is written unless all of them fit.",
  parameters: v.strictObject({
    edits: v.pipe(
      v.array(
        editSchema,
        'Give a list of edits, such as [{"path": "a.txt", "action": "replace", "old_text": "a", "new_text": "b"}]; ' +
          "a diff or a patch in words of its own is not taken",
      ),
      v.minLength(1),
      v.maxLength(MOST_EDITS),
      v.description(`1 to ${MOST_EDITS} edits`),
    ),
    dry_run: flag("Only say what would change"),
  }),

  async execute({ edits, dry_run = false }, { signal, ports: { files, reads } }) {
    const drafts = new Map<RealPath, Draft>();
    for (const [index, edit] of edits.entries()) {
      await naming(index + 1, async () => apply(edit, await openDraft(files, drafts, edit), files));
    }
    signal.throwIfAborted();

    const all = [...drafts.values()];
    const plan = all.filter(isChanged).map(planOf);
    const warnings = all.map(({ target }) => unreadWarning(reads, target)).join("");
    if (!dry_run) {
      await writeTogether(files.system, plan);
      for (const { path } of plan) await recordWritten(files, reads, path);
    }
    const summary = all.map(describe);
    const heading = dry_run ? "Nothing was written. The patch fits and would change" : "Patched";
    return toolOk(`${heading}:\n${summary.join("\n")}${warnings}`);
  },
});

/** Of a new file nothing was removed, whatever the edits did to one another. */
function describe({ target, before, text, added, removed }: Draft): string {
  const shown = quote(target.shown);
  return before === undefined
    ? `${shown} +${lineCount(text)}/-0, a new file`
    : `${shown} +${added}/-${removed}`;
}

async function naming(number: number, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    const { message, hint, isRefusal } = cause;
    throw new UserError(`Nothing was changed, because edit ${number} does not fit. ${message}`, {
      cause,
      isRefusal,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}

/** Whatever names lead to a file, its edits see one another. */
async function openDraft(
  files: ToolFiles,
  drafts: Map<RealPath, Draft>,
  { path: named }: PatchEdit,
): Promise<Draft> {
  const target = await findTarget(files, named, "write", "edit");
  const known = drafts.get(target.path);
  if (known !== undefined) return known;
  if (target.stat === undefined) refuseNested(drafts.values(), target, named);
  const before = target.stat === undefined ? undefined : await readText(files, target, named);
  const bytes = [...drafts.values()].reduce((sum, draft) => sum + (draft.before?.bytes.length ?? 0), 0);
  if (bytes + (before?.bytes.length ?? 0) > LARGEST_BYTES) {
    throw new UserError(
      `Cannot edit ${quote(named)}: the files of the patch are larger than ${LARGEST_BYTES / 1024 / 1024} MiB together; make several patches`,
    );
  }
  const isMissing = before === undefined;
  const draft: Draft = { target, named, before, isMissing, text: before?.text ?? "", added: 0, removed: 0 };
  drafts.set(target.path, draft);
  return draft;
}

/** What does not exist yet can be a file or a folder, and not both. */
function refuseNested(drafts: Iterable<Draft>, { path, shown }: TargetFile, named: string): void {
  for (const { target: other } of drafts) {
    if (!isInside(path, other.path) && !isInside(other.path, path)) continue;
    const [file, below] = isInside(path, other.path) ? [shown, other.shown] : [other.shown, shown];
    throw new UserError(
      `Cannot edit ${quote(named)}: the patch would make ${quote(file)} a file, and a folder for ${quote(below)}; use another path for one of them`,
    );
  }
}

async function apply(edit: PatchEdit, draft: Draft, files: ToolFiles): Promise<void> {
  if (edit.action === "add") add(edit, draft);
  else if (draft.isMissing) throw await noSuchFile(files, draft.target, edit.path, "edit");
  else replace(edit, draft);
}

function add({ path, old_text = "", new_text }: PatchEdit, draft: Draft): void {
  if (old_text !== "") {
    throw new UserError(`Cannot edit ${quote(path)}: add takes no old_text; use replace to change a passage`);
  }
  if (new_text === "" && !draft.isMissing) {
    throw new UserError(`Cannot edit ${quote(path)}: there is nothing to add to it`);
  }
  const added = closed(toLf(wellFormed(new_text)));
  const lineEnd = lineEndAt(draft.text, draft.text.length, draft.text.length);
  draft.text = closed(draft.text) + added.replaceAll("\n", lineEnd);
  draft.isMissing = false;
  draft.added += lineCount(added);
}

function replace({ path, old_text = "", new_text }: PatchEdit, draft: Draft): void {
  if (old_text === "") {
    throw new UserError(
      `Cannot edit ${quote(path)}: replace needs old_text, the passage to replace; use add to append`,
    );
  }
  const { text } = draft;
  const wanted = wellFormed(old_text);
  const after = wellFormed(new_text);
  const outcome = editText(text, { before: wanted, after, exactly: true });
  if (outcome.kind !== "edited") {
    throw new UserError(explainRefusal(outcome, { path, text, wanted, choice: undefined }));
  }
  draft.text = closed(outcome.text);
  const { added, removed } = countChanged(toLf(wanted), toLf(after));
  draft.added += added;
  draft.removed += removed;
}

/** A text that has content ends with a line end. */
function closed(text: string): string {
  return text === "" || text.endsWith("\n") ? text : text + lineEndAt(text, text.length, text.length);
}

/** Lines that differ, those aside which both begin or end with. */
function countChanged(before: string, after: string): { added: number; removed: number } {
  const old = before === "" ? [] : before.split("\n");
  const now = after === "" ? [] : after.split("\n");
  const most = Math.min(old.length, now.length);
  let above = 0;
  while (above < most && old[above] === now[above]) above++;
  let below = 0;
  while (below < most - above && old.at(-1 - below) === now.at(-1 - below)) below++;
  return { added: now.length - above - below, removed: old.length - above - below };
}

function isChanged({ before, isMissing, text }: Draft): boolean {
  return before === undefined ? !isMissing : before.text !== text;
}

function planOf({ target, named, before, text }: Draft): PlannedFile {
  const { path, stat } = target;
  return { path, named, stat, before: before?.bytes, after: new TextEncoder().encode(text) };
}
