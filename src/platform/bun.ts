/** The Bun side: Markdown in colour, exact widths, assets inside the executable. */

import { dirname } from "../lib/path.ts";
import { stripControls } from "../lib/text.ts";
import type { Runtime } from "./runtime.ts";

const isExecutable = Bun.embeddedFiles.length > 0;

export const runtime: Runtime = {
  name: `Bun ${Bun.version}`,
  isExecutable,
  collectGarbage: () => Bun.gc(true),
  // In an executable every module has the root for its folder.
  assetsRoot: isExecutable ? import.meta.dir : dirname(dirname(import.meta.dir)),

  renderMarkdown(text, { color, columns }) {
    const rendered = Bun.markdown.ansi(stripControls(text), { colors: color, columns, hyperlinks: false });
    return withoutDoubledLinks(color ? onlyStyles(rendered) : stripControls(rendered));
  },

  width: (text) => Bun.stringWidth(text),

  httpListener: async () => (await import("./http-bun.ts")).listen,
};

/** Entities such as `&#27;` become characters only in the renderer, so what could steer goes once more. */
function onlyStyles(rendered: string): string {
  return rendered.replace(
    /\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    "",
  );
}

/** A bare address is rendered as a link whose text is its own target: once is enough. */
function withoutDoubledLinks(rendered: string): string {
  return rendered
    .replace(/(\x1b\[4m([^\x1b\s]+)\x1b\[24m\x1b\[39m)\x1b\[2m \(\2\x1b\[2m\)\x1b\[39m\x1b\[22m/g, "$1")
    .replace(/(https?:\/\/[^\s()]+) \(\1\)/g, "$1");
}
