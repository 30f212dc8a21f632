/** The tool that reads a file: lines of text, also those of a PDF or an office document, or an image. */

import * as v from "valibot";
import { UserError } from "../core/errors.ts";
import { defineTool, type ToolPorts, type ToolResult, toolError, toolOk } from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";
import { isSameFile } from "../lib/same-file.ts";
import { fileKind, PROBE_BYTES } from "./file-kind.ts";
import { linesOfFile } from "./line-source.ts";
import { flag, text, whole } from "./parameters.ts";
import { MOST_PAGES, type PageRange, parsePages, readOffice, readPdf } from "./read-document.ts";
import { readImage } from "./read-image.ts";
import { MAX_CHARS, MAX_LINES, showLines, type WantedLines } from "./show-lines.ts";
import { findTarget, noSuchFile, type TargetFile } from "./target-file.ts";

export const readFile = defineTool({
  name: "read_file",
  section: "file",
  description:
    "Read a text file, an image (PNG, JPEG, GIF, WebP), or the text of a PDF or of a Word, Excel or " +
    "PowerPoint document. Lines are shown as `N| text`, where the number is not part of the file. " +
    `Shows at most ${MAX_LINES} lines a call; go on with offset.`,
  parameters: v.strictObject({
    path: v.pipe(v.string(), v.description("The file, relative to the workspace or absolute")),
    offset: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.description(
          "The first line to show, from 1 (default 1). A negative one counts from the end: -20 shows the last 20 lines",
        ),
      ),
    ),
    limit: whole(`How many lines to show (default and most: ${MAX_LINES})`, 1),
    pages: text(
      `Of a PDF: the pages to show, such as "3", "2-5" or "7-" (default: from the first on; at most ${MOST_PAGES} a call)`,
    ),
    force: flag("Show it again although it was shown and has not changed since"),
  }),
  readOnly: true,
  // The window and its last sentence, whole: reading must never be spilled to a file to be read.
  resultLimit: MAX_CHARS + 2_000,

  async execute({ path, offset: given = 1, limit = MAX_LINES, pages, force = false }, { signal, ports }) {
    const { files, reads } = ports;
    const pageRange = pages === undefined ? undefined : checkPages(pages);
    const target = await findTarget(files, path, "read");
    const { stat } = target;
    if (stat === undefined) throw await noSuchFile(files, target, path, "read");
    // Who counts from 0 means the beginning.
    const offset = given === 0 ? 1 : given;
    const maxLines = Math.min(limit, MAX_LINES);
    const range = `${offset}+${maxLines}${pageRange === undefined ? "" : ` of pages ${pages}`}`;
    const seen = reads.seen(target.path);
    if (!force && seen?.shown === range && isSameFile(seen, stat)) {
      return toolOk(
        `File unchanged since last read: ${quote(target.shown)} (it was shown before; use force=true to see it again)`,
      );
    }

    const wanted = { path, offset, maxLines };
    const result = await explained("read", path, () =>
      readTarget({ target, bytes: stat.bytes, wanted, pages: pageRange, signal }, ports),
    );
    if (result.ok) reads.record(target.path, stat, range);
    return result;
  },
});

function checkPages(pages: string): PageRange {
  const range = parsePages(pages);
  if (range !== undefined) return range;
  throw new UserError(`Cannot read pages ${quote(pages)}: name them like "3", "2-5" or "7-", from 1 on`);
}

interface Reading {
  readonly target: TargetFile;
  readonly bytes: number;
  readonly wanted: WantedLines;
  readonly pages: PageRange | undefined;
  readonly signal: AbortSignal;
}

async function readTarget(
  { target, bytes, wanted, pages, signal }: Reading,
  ports: ToolPorts,
): Promise<ToolResult> {
  const { files } = ports;
  const probe = await files.system.read(target.path, { end: PROBE_BYTES });
  const found = fileKind(probe, bytes);
  if (pages !== undefined && found.kind !== "pdf" && found.kind !== "unreadable") {
    return toolError(`Cannot read pages of ${quote(wanted.path)}: it is no PDF; leave pages out`);
  }
  switch (found.kind) {
    case "text":
      return showLines(linesOfFile(files, target.path, { bytes, signal }), wanted);
    case "image":
      return readImage(files, target, found.mime);
    case "pdf":
      return readPdf(ports, { target, wanted, signal }, pages ?? { first: 1, last: MOST_PAGES });
    case "archive":
      return readOffice(ports, { target, wanted, signal });
    case "unreadable":
      return toolError(`Cannot read ${quote(wanted.path)}: ${found.problem}`);
  }
}
