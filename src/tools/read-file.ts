/** The tool that reads a text file, a window of numbered lines at a time. */

import * as v from "valibot";
import { defineTool, type ToolFiles, type ToolResult, toolError, toolOk } from "../core/tool.ts";
import { explained, quote } from "../lib/file-error.ts";
import { type LineWindow, readWindow } from "./line-window.ts";
import { findTarget, noSuchFile, type TargetFile } from "./target-file.ts";

const MAX_LINES = 2_000;
const MAX_CHARS = 128_000;
const MAX_SCANNED_BYTES = 256 * 1024 * 1024;
/** Enough to tell text from anything else. */
const PROBE_BYTES = 8 * 1024;

export const readFile = defineTool({
  name: "read_file",
  description:
    "Read a text file. Lines are shown as `N| text`, where the number is not part of the file. " +
    `Shows at most ${MAX_LINES} lines a call; go on with offset.`,
  parameters: v.strictObject({
    path: v.pipe(v.string(), v.description("The file, relative to the workspace or absolute")),
    offset: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(1),
        v.description("The first line to show, from 1 (default 1)"),
      ),
    ),
    limit: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(1),
        v.description(`How many lines to show (default and most: ${MAX_LINES})`),
      ),
    ),
  }),
  readOnly: true,
  // The window and its last sentence, whole: reading must never be spilled to a file to be read.
  resultLimit: MAX_CHARS + 2_000,

  async execute({ path, offset = 1, limit = MAX_LINES }, { signal, ports: { files } }) {
    const target = await findTarget(files, path, "read");
    if (target.stat === undefined) throw noSuchFile(path, "read");
    return explained("read", path, async () => {
      const problem = await whyNotText(files, target);
      if (problem !== undefined) return toolError(`Cannot read ${quote(path)}: ${problem}`);
      const window = await readWindow(files.system.stream(target.path, { signal }), {
        first: offset,
        maxLines: Math.min(limit, MAX_LINES),
        maxChars: MAX_CHARS,
        maxBytes: MAX_SCANNED_BYTES,
      });
      return describe(window, offset, path);
    });
  },
});

async function whyNotText({ system }: ToolFiles, { path, stat }: TargetFile): Promise<string | undefined> {
  const bytes = await system.read(path, { end: PROBE_BYTES });
  const size = `${stat?.bytes ?? bytes.length} bytes`;
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return `it is UTF-16 text (${size}); convert it to UTF-8 first, for example with iconv`;
  }
  if (bytes.includes(0)) return `it is a binary file (${size})`;
  try {
    // A character may reach beyond the probe; only a shorter file ends where its bytes end.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: bytes.length === PROBE_BYTES });
  } catch {
    return `it is a binary file or not UTF-8 text (${size})`;
  }
  return undefined;
}

function describe({ lines, cutAt, stop }: LineWindow, offset: number, path: string): ToolResult {
  const last = offset + lines.length - 1;
  if (lines.length === 0) {
    if (stop.kind === "gaveUp") {
      return toolError(
        `Cannot read ${quote(path)} from line ${offset}: ${MAX_SCANNED_BYTES} bytes were searched and the line was not reached; use exec with sed, tail or grep`,
      );
    }
    if (stop.kind === "end" && stop.total > 0) {
      return toolError(
        `Cannot read ${quote(path)} from line ${offset}: the file ends at line ${stop.total}; use an offset from 1 to ${stop.total}`,
      );
    }
    return toolOk("(The file is empty)");
  }
  const notes = [];
  if (cutAt !== undefined) {
    notes.push(
      `(Line ${offset} is longer: only its first ${cutAt} characters are shown. Use exec with cut to see the rest)`,
    );
  }
  if (stop.kind === "end")
    notes.push(`(End of the file: ${stop.total} ${stop.total === 1 ? "line" : "lines"})`);
  if (stop.kind === "more")
    notes.push(`(Lines ${offset} to ${last}. More follow: go on with offset=${last + 1})`);
  if (stop.kind === "gaveUp")
    notes.push(`(Stopped after ${MAX_SCANNED_BYTES} bytes. Use exec with sed or tail to see what follows)`);
  return toolOk(`${lines.join("\n")}\n\n${notes.join("\n")}`);
}
