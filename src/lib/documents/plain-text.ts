/** Lays out what can be seen of a page as text: a line for each block, a dash before each item, bars between cells. */

import type { VisibleSink } from "./visible-html.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Set off by an empty line. */
const APART = words(
  "article aside blockquote dl figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul",
);
const ON_ITS_OWN_LINE = words(
  "address caption center dd details div dt fieldset figcaption legend li option summary tbody textarea tfoot thead tr",
);
const LISTS = words("ul ol");
const CELLS = words("td th");
const DEEPEST_INDENT = 8;

/** What separates what comes from what there is already. */
const GAPS = ["", " ", "\n", "\n\n"] as const;
const SPACE = 1;
const LINE = 2;
const EMPTY_LINE = 3;

export interface PlainText extends VisibleSink {
  /** All of it as it is laid out by now. */
  written(): string;
}

/** `decode` decodes the entities of a text. What is beyond `maxChars` is of no use. */
export function createPlainText(decode: (raw: string) => string, maxChars: number): PlainText {
  const parts: string[] = [];
  let length = 0;
  let gap = 0;
  let bullet = "";
  let lists = 0;
  let preformatted = 0;
  /** White space at the end of preformatted text, which counts if more of it follows. */
  let held = "";
  /** How many cells of the row there are, for each table that is open. */
  const cells: number[] = [];
  /** Cells that began since something was written. */
  let bars = 0;
  let rowIsEmpty = true;

  function put(text: string): void {
    const separator = length === 0 ? "" : (GAPS[gap] ?? "");
    const before = bars === 0 ? separator : (rowIsEmpty ? separator : "") + " | ".repeat(bars);
    for (const part of [before, bullet, text]) {
      if (part === "" || length >= maxChars) continue;
      parts.push(part.slice(0, maxChars - length));
      length += part.length;
    }
    gap = bars = 0;
    bullet = held = "";
    rowIsEmpty = false;
  }

  function separate(by: number): void {
    held = "";
    // The first block of a cell goes on in the line of the row.
    if (bars === 0) gap = Math.max(gap, by);
  }

  function edge(name: string): void {
    if (APART.has(name)) separate(LISTS.has(name) && lists > 0 ? LINE : EMPTY_LINE);
    else if (ON_ITS_OWN_LINE.has(name)) separate(LINE);
  }

  function beginCell(): void {
    const row = cells.length - 1;
    const earlier = cells[row] ?? 0;
    if (earlier > 0) bars += 1;
    if (row >= 0) cells[row] = earlier + 1;
  }

  function beginRow(): void {
    bars = 0;
    rowIsEmpty = true;
    if (cells.length > 0) cells[cells.length - 1] = 0;
  }

  function putPreformatted(text: string): void {
    const lines = text.replace(/\r\n?/g, "\n");
    const solid = lines.trimEnd();
    if (solid === "") {
      held += lines;
      return;
    }
    const isFirst = gap > 0 || length === 0;
    put(isFirst ? solid.replace(/^\n+/, "") : held + solid);
    held = lines.slice(solid.length);
  }

  function putFlowing(text: string): void {
    const flat = text.replace(/\s+/g, " ");
    if (flat.startsWith(" ")) gap = Math.max(gap, SPACE);
    const solid = flat.trim();
    if (solid === "") return;
    put(solid);
    if (flat.endsWith(" ")) gap = SPACE;
  }

  return {
    written: () => parts.join("").trim(),
    get isFull() {
      return length >= maxChars;
    },
    open(name) {
      if (name === "tr") beginRow();
      edge(name);
      if (name === "br" && preformatted > 0) held += "\n";
      else if (name === "br") gap = gap === LINE ? EMPTY_LINE : Math.max(gap, LINE);
      else if (name === "li") bullet = `${"  ".repeat(Math.min(Math.max(lists - 1, 0), DEEPEST_INDENT))}- `;
      else if (name === "pre") preformatted += 1;
      else if (name === "table") cells.push(0);
      else if (LISTS.has(name)) lists += 1;
      else if (CELLS.has(name)) beginCell();
    },
    close(name) {
      if (name === "li") bullet = "";
      else if (name === "pre") preformatted -= 1;
      else if (name === "tr" || name === "table") bars = 0;
      if (name === "table") cells.pop();
      else if (LISTS.has(name)) lists -= 1;
      edge(name);
    },
    text(raw) {
      const text = decode(raw);
      if (preformatted > 0) putPreformatted(text);
      else putFlowing(text);
    },
  };
}
