/** The tool that replaces a passage of a file. */

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
import { type Edited, editText } from "../lib/edit/edit-text.ts";
import { toLf } from "../lib/edit/line-ends.ts";
import { straighten } from "../lib/edit/quotes.ts";
import { explained, quote } from "../lib/file-error.ts";
import { dirname } from "../lib/path.ts";
import { wellFormed } from "../lib/text.ts";
import { explainRefusal } from "./edit-refusal.ts";
import { flag, whole } from "./parameters.ts";
import { recordWritten, unreadWarning } from "./read-before.ts";
import { findTarget, inBytes, NEW_FILE_MODE, NEW_FOLDER_MODE, noSuchFile } from "./target-file.ts";
import { readText } from "./text-content.ts";

/** Here two spaces at the end of a line are a line break. */
const MARKDOWN = /\.(md|mdx|markdown)$/i;

const MOST_LINES = 100_000;

export const editFile = defineTool({
  name: "edit_file",
  section: "file",
  description:
    "Replace a passage of a file. Take old_text from read_file without the line numbers, with enough lines " +
    "around it to be unique, or say with replace_all, occurrence or line_hint which places are meant. " +
    "An empty old_text makes a new file.",
  parameters: v.strictObject({
    path: v.pipe(v.string(), v.description("The file, relative to the workspace or absolute")),
    old_text: v.pipe(v.string(), v.description("The passage as it is in the file now")),
    new_text: v.pipe(v.string(), v.description("What takes its place, word for word")),
    replace_all: flag("Replace it wherever it stands"),
    occurrence: whole("Which of several places to change, from 1", 1, MOST_LINES),
    line_hint: whole("A line that the passage covers, to tell which of several is meant", 1, MOST_LINES),
    expected_replacements: whole(
      "How many places will change; nothing is done when it is another number",
      1,
      MOST_LINES,
    ),
  }),

  async execute(args, { ports: { files, reads } }) {
    const { path, old_text: before, new_text: after } = args;
    const target = await findTarget(files, path, "write", "edit");
    if (before === "") {
      const result = await create(files, { ...target, named: path, content: after });
      if (result.ok) await recordWritten(files, reads, target.path);
      return result;
    }
    if (target.stat === undefined) throw await noSuchFile(files, target, path, "edit");
    const choice = {
      all: args.replace_all ?? false,
      occurrence: args.occurrence,
      lineHint: args.line_hint,
      expected: args.expected_replacements,
    };
    if (choice.all && (choice.occurrence ?? choice.lineHint) !== undefined) {
      return toolError(
        `Cannot edit ${quote(path)}: give replace_all, or occurrence and line_hint, but not both`,
      );
    }

    const { text } = await readText(files, target, path);
    const wanted = wellFormed(before);
    const keepTrailingSpace = MARKDOWN.test(target.path);
    const outcome = editText(text, {
      ...choice,
      before: wanted,
      after: wellFormed(after),
      keepTrailingSpace,
    });
    if (outcome.kind !== "edited") return toolError(explainRefusal(outcome, { path, text, wanted, choice }));

    const warning = unreadWarning(reads, target);
    const { mode } = target.stat;
    await explained("edit", path, () =>
      files.system.replace(target.path, new TextEncoder().encode(outcome.text), { mode }),
    );
    await recordWritten(files, reads, target.path);
    const forgiven = whatDiffered(outcome, text, wanted);
    return toolOk(`Edited ${quote(target.shown)} ${describe(outcome)}${forgiven}${warning}`);
  },
});

function describe({ count, lines }: Edited): string {
  if (count === 1) return `at line ${lines[0]}`;
  return `in ${count} places, ${lines.length < count ? "the first at lines" : "at lines"} ${lines.join(", ")}`;
}

/** What the search had to forgive. Lines are compared without their ends, so that it does not know which it was. */
function whatDiffered({ match }: Edited, text: string, wanted: string): string {
  if (match === "exact") return "";
  const onlyQuotes = straighten(toLf(text)).includes(straighten(toLf(wanted)));
  const what = [
    ...(onlyQuotes ? [] : ["indentation or white space at line ends"]),
    ...(match === "trimmed" ? [] : ["quotation marks"]),
  ];
  return ` (${what.join(", and ")} differed from old_text)`;
}

interface Creation {
  readonly named: string;
  readonly path: RealPath;
  readonly shown: string;
  readonly stat: FileStat | undefined;
  readonly content: string;
}

async function create(
  files: ToolFiles,
  { named, path, shown, stat, content }: Creation,
): Promise<ToolResult> {
  if (stat !== undefined && stat.bytes > 0) {
    return toolError(
      `Cannot edit ${quote(named)}: it is not empty, and an empty old_text only fills a new or empty file; ` +
        "give the passage to replace, or use write_file to replace everything",
    );
  }
  const bytes = new TextEncoder().encode(wellFormed(content));
  await explained("edit", named, async () => {
    if (stat === undefined) await files.system.makeFolder(dirname(path), { mode: NEW_FOLDER_MODE });
    await files.system.replace(path, bytes, { mode: stat?.mode ?? NEW_FILE_MODE });
  });
  return toolOk(
    `Wrote ${inBytes(bytes.length)} to ${quote(shown)}, ${stat === undefined ? "a new file" : "which was empty"}`,
  );
}
