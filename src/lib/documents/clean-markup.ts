/** Writes what can be seen of a page down again as HTML in which every element is closed and nothing is of no use. */

import type { VisibleSink } from "./visible-html.ts";

/** What tells where the text of a page is, what it is, and where its links go. */
const KEPT: ReadonlySet<string> = new Set(
  "alt checked class colspan data-lang data-language data-src href id itemprop rel role rowspan src start type".split(
    " ",
  ),
);
/** A parser would take the rest of the page for text. */
const PREFORMATTED = new Set(["listing", "plaintext", "xmp"]);
const WITHOUT_END = new Set(["br", "hr", "img", "input", "wbr"]);

/** What is longer is no name, address or number that anybody needs, and patterns take long over it. */
const LONGEST_VALUE = 2_000;

/** What pages call an element may be anything. */
function soundName(name: string): string {
  if (PREFORMATTED.has(name)) return "pre";
  return /^[a-z][a-z0-9-]*$/.test(name) ? name : "span";
}

export interface CleanMarkup extends VisibleSink {
  /** `undefined` when it would be longer than it may be. */
  readonly markup: string | undefined;
}

/** `decode` decodes the entities of a text. */
export function createCleanMarkup(decode: (raw: string) => string, maxChars: number): CleanMarkup {
  const parts: string[] = [];
  let length = 0;
  let preformatted = 0;

  function put(part: string): void {
    length += part.length;
    if (length <= maxChars) parts.push(part);
    else parts.length = 0;
  }

  return {
    get markup() {
      return length > maxChars ? undefined : parts.join("");
    },
    get isFull() {
      return length > maxChars;
    },
    open(name, attributes) {
      if (soundName(name) === "pre") preformatted += 1;
      let tag = `<${soundName(name)}`;
      for (const [key, value] of attributes) {
        if (KEPT.has(key) && value.length <= LONGEST_VALUE)
          tag += ` ${key}="${value.replaceAll('"', "&quot;")}"`;
      }
      put(`${tag}>`);
    },
    close(name) {
      if (soundName(name) === "pre") preformatted -= 1;
      if (!WITHOUT_END.has(name)) put(`</${soundName(name)}>`);
    },
    text(raw) {
      const text = decode(raw);
      // Spaces of every kind are one space, or a long row of them would be another thing that takes long.
      const shown = preformatted > 0 ? text : text.replace(/\s+/g, " ");
      put(shown.replaceAll("&", "&amp;").replaceAll("<", "&lt;"));
    },
  };
}
