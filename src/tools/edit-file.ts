/** The tool that replaces one passage of a file. */

import * as v from "valibot";
import type { FileStat } from "../core/platform.ts";
import {
  defineTool,
  type RealPath,
  type ToolFiles,
  type ToolResult,
  toolError,
  toolOk,
} from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";
import { dirname } from "../lib/path.ts";
import { wellFormed } from "../lib/text.ts";
import { MOST_COUNTED, replaceExactly } from "./exact-edit.ts";
import { findNearestPassage } from "./nearest-passage.ts";
import { findTarget, NEW_FILE_MODE, NEW_FOLDER_MODE, noSuchFile } from "./target-file.ts";

const LARGEST_BYTES = 16 * 1024 * 1024;

export const editFile = defineTool({
  name: "edit_file",
  description:
    "Replace one passage of a file. old_text must be exactly in the file, once: take it from read_file without " +
    "the line numbers, with enough lines around it to be unique. An empty old_text makes a new file.",
  parameters: v.strictObject({
    path: v.pipe(v.string(), v.description("The file, relative to the workspace or absolute")),
    old_text: v.pipe(v.string(), v.description("The passage as it is in the file now")),
    new_text: v.pipe(v.string(), v.description("What takes its place, word for word")),
  }),

  async execute({ path, old_text, new_text }, { ports: { files } }) {
    const target = await findTarget(files, path, "write", "edit");
    if (old_text === "") return create(files, { ...target, path, real: target.path, content: new_text });
    if (target.stat === undefined) throw noSuchFile(path, "edit");
    if (target.stat.bytes > LARGEST_BYTES) return tooLarge(path);

    const { mode } = target.stat;
    const wanted = wellFormed(old_text);
    return explained("edit", path, async () => {
      // One byte more than allowed: a file that grew meanwhile must not be cut when it is written back.
      const bytes = await files.system.read(target.path, { end: LARGEST_BYTES + 1 });
      if (bytes.length > LARGEST_BYTES) return tooLarge(path);
      const text = decode(bytes);
      if (text === undefined) {
        return toolError(`Cannot edit ${quote(path)}: it is not UTF-8 text, and editing would damage it`);
      }
      const outcome = replaceExactly(text, wanted, wellFormed(new_text));
      if (outcome.kind !== "edited") return explainRefusal(outcome, { path, text, wanted });
      await files.system.replace(target.path, new TextEncoder().encode(outcome.text), { mode });
      return toolOk(`Edited ${quote(target.shown)} at line ${outcome.firstLine}`);
    });
  },
});

function tooLarge(path: string): ToolResult {
  return toolError(`Cannot edit ${quote(path)}: it is larger than ${LARGEST_BYTES} bytes; use exec with sed`);
}

interface Creation {
  readonly path: string;
  readonly real: RealPath;
  readonly shown: string;
  readonly stat: FileStat | undefined;
  readonly content: string;
}

async function create(files: ToolFiles, { path, real, shown, stat, content }: Creation): Promise<ToolResult> {
  if (stat !== undefined && stat.bytes > 0) {
    return toolError(
      `Cannot edit ${quote(path)}: it is not empty, and an empty old_text only fills a new or empty file; ` +
        "give the passage to replace, or use write_file to replace everything",
    );
  }
  const bytes = new TextEncoder().encode(wellFormed(content));
  await explained("edit", path, async () => {
    if (stat === undefined) await files.system.makeFolder(dirname(real), { mode: NEW_FOLDER_MODE });
    await files.system.replace(real, bytes, { mode: stat?.mode ?? NEW_FILE_MODE });
  });
  return toolOk(
    `Wrote ${bytes.length} bytes to ${quote(shown)}, ${stat === undefined ? "a new file" : "which was empty"}`,
  );
}

/** With the byte order mark as a character, so that encoding gives the same bytes again. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // The caller says what this means for the file.
  }
}

type Refusal = Exclude<ReturnType<typeof replaceExactly>, { kind: "edited" }>;

function explainRefusal(
  refusal: Refusal,
  { path, text, wanted }: { path: string; text: string; wanted: string },
): ToolResult {
  const refused = `Cannot edit ${quote(path)}`;
  if (refusal.kind === "unchanged") return toolError(`${refused}: old_text and new_text are the same`);
  if (refusal.kind === "missing")
    return toolError(`${refused}: old_text is not in it${whatIsNear(text, wanted)}`);
  const { count, lines } = refusal;
  const times = count === MOST_COUNTED ? `${count} times or more` : `${count} times`;
  const where = `${lines.length < count ? "the first at lines" : "at lines"} ${lines.join(", ")}`;
  return toolError(
    `${refused}: old_text stands in it ${times}, ${where}; add lines around it until it is unique`,
  );
}

function whatIsNear(text: string, wanted: string): string {
  const isNumbered = wanted
    .trimEnd()
    .split("\n")
    .every((line) => /^ *\d+\| ?/.test(line));
  if (isNumbered) return "; leave out the line numbers that read_file shows";
  const nearest = findNearestPassage(text, wanted);
  if (nearest === undefined) return "; read it with read_file and copy the passage from there";
  const hint = nearest.difference === undefined ? "" : `, which differs in ${nearest.difference} only`;
  return `. The nearest passage is at line ${nearest.firstLine}${hint}:\n${nearest.lines.join("\n")}`;
}
