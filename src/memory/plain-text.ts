/** What a model wrote, made fit for a file of memory: without what it only thought, and without what steers a terminal. */

import { stripControls, wellFormed } from "../lib/text.ts";
import { createThinkFilter } from "../lib/think/think-filter.ts";

function withoutThoughts(text: string): string {
  let said = "";
  const filter = createThinkFilter({
    sink: {
      text(piece) {
        said += piece;
      },
      reasoning() {},
      calls(_calls, raw) {
        said += raw;
      },
      // What came before it was reasoning.
      strayCloser() {
        said = "";
      },
    },
  });
  filter.push(text);
  filter.end();
  return said;
}

/** Trimmed. */
export function plainText(text: string): string {
  return stripControls(withoutThoughts(wellFormed(text))).trim();
}
