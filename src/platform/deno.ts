/** The Deno side: Markdown as it was written, estimated widths, assets in the repository. */

import { fileURLToPath } from "node:url";
import { dirname, join } from "../lib/path.ts";
import { stripControls } from "../lib/text.ts";
import { approximateWidth } from "../lib/width.ts";
import type { Runtime } from "./runtime.ts";

/** The little of it that is used here; the repository's types are Bun's. */
declare const Deno: { readonly version: { readonly deno: string } };

export const runtime: Runtime = {
  name: `Deno ${Deno.version.deno}`,
  isExecutable: false,
  // It offers no way to ask for that.
  collectGarbage() {},
  assetsRoot: join(dirname(fileURLToPath(import.meta.url)), "../.."),
  renderMarkdown: (text) => stripControls(text),
  width: approximateWidth,
  httpListener: async () => (await import("./http-deno.ts")).listen,
};
