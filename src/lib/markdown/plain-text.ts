/** Markdown without its marks: what is sent where a platform refuses our markup. */

import { createMarkdownParser } from "./parser.ts";
import { plainInk, writeMarkdown } from "./writer.ts";

export async function createPlainText(): Promise<(markdown: string) => string> {
  const parse = await createMarkdownParser();
  return (markdown) => writeMarkdown(parse, plainInk, markdown);
}
