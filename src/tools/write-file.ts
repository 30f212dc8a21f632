/** The tool that writes a whole file. */

import * as v from "valibot";
import { defineTool, toolOk } from "../core/tool.ts";
import { lineCount } from "../lib/edit/line-ends.ts";
import { explained, quote } from "../lib/file-error.ts";
import { dirname } from "../lib/path.ts";
import { wellFormed } from "../lib/text.ts";
import { recordWritten, unreadWarning } from "./read-before.ts";
import { findTarget, inBytes, NEW_FILE_MODE, NEW_FOLDER_MODE } from "./target-file.ts";

export const writeFile = defineTool({
  name: "write_file",
  section: "file",
  description:
    "Write a file, replacing whatever it held; missing folders are made. To change part of a file use edit_file.",
  parameters: v.strictObject({
    path: v.pipe(v.string(), v.description("The file, relative to the workspace or absolute")),
    content: v.pipe(v.string(), v.description("The whole content of the file")),
  }),

  async execute({ path, content }, { ports: { files, reads } }) {
    const target = await findTarget(files, path, "write");
    const warning = unreadWarning(reads, target);
    const bytes = new TextEncoder().encode(wellFormed(content));
    await explained("write", path, async () => {
      if (target.stat === undefined)
        await files.system.makeFolder(dirname(target.path), { mode: NEW_FOLDER_MODE });
      await files.system.replace(target.path, bytes, { mode: target.stat?.mode ?? NEW_FILE_MODE });
    });
    await recordWritten(files, reads, target.path);
    const what = target.stat === undefined ? "a new file" : `replaced ${inBytes(target.stat.bytes)}`;
    return toolOk(
      `Wrote ${inBytes(bytes.length)} (${inLines(content)}) to ${quote(target.shown)}, ${what}${warning}`,
    );
  },
});

function inLines(content: string): string {
  const lines = lineCount(content);
  return lines === 1 ? "1 line" : `${lines} lines`;
}
