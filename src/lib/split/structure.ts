/** What a line of Markdown stands in: an open code fence, a list. Followed from line to line, without a parser. */

export interface Fence {
  /** As it was opened: three or more backticks or tildes. */
  readonly marks: string;
  readonly info: string;
  /** The quote that it stands in: `> > `, or nothing. */
  readonly quote: string;
  /** Columns before it, after the quote. */
  readonly indent: number;
}

/** What is known before a line. */
export interface Structure {
  readonly fence: Fence | undefined;
  readonly isInList: boolean;
  readonly isAfterBlank: boolean;
}

export const plain: Structure = { fence: undefined, isInList: false, isAfterBlank: true };

const QUOTE = /^(?:[ \t]{0,3}>){1,8}[ \t]?/;
const FENCE =
  /^((?:[ \t]{0,3}>){0,8})([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+){0,8})(`{3,32}(?=[^`]*$)|~{3,32}(?!~))[ \t]*/;
const LIST_ITEM = /^(?:[ \t]{0,3}>){0,8}[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const LONGEST_INFO = 40;

export function quoteOf(line: string): string {
  return QUOTE.exec(line)?.[0] ?? "";
}

export function isBlank(line: string): boolean {
  return line.trim() === "";
}

/** Columns of white space at the beginning. */
export function indentOf(line: string): number {
  let columns = 0;
  for (const character of line) {
    if (character === " ") columns++;
    else if (character === "\t") columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

/** Where the text goes on after at most `columns` of white space. */
export function afterIndent(line: string, columns: number): number {
  let at = 0;
  for (let column = 0; column < columns; at++) {
    const character = line[at];
    if (character === " ") column++;
    else if (character === "\t") column += 4 - (column % 4);
    else break;
  }
  return at;
}

function openedFence(line: string, isInList: boolean): Fence | undefined {
  if (!line.includes("```") && !line.includes("~~~")) return undefined;
  const [all, quotes = "", lead = "", marks = ""] = FENCE.exec(line) ?? [];
  if (all === undefined) return undefined;
  const isItem = lead.trim() !== "";
  // The space behind the mark of a quote belongs to the mark.
  const indent = indentOf((quotes === "" ? lead : lead.slice(1)).replace(/\S/g, " "));
  // Indented as far as this, without a list around it, it is code itself.
  if (indent > 3 && !isItem && !isInList) return undefined;
  const quote = quotes === "" ? "" : `${quotes} `;
  const info = line.slice(all.length).trim();
  return { marks, info: info.length > LONGEST_INFO ? "" : info, quote, indent };
}

/** What a line of a fence says beside its quote. `undefined` when the quote, and the fence with it, is over. */
function withoutQuote(line: string, { quote }: Fence): string | undefined {
  if (quote === "") return line;
  const prefix = quoteOf(line);
  return prefix === "" ? undefined : line.slice(prefix.length);
}

export function closesFence(line: string, fence: Fence): boolean {
  const marks = withoutQuote(line, fence)?.trim() ?? "";
  return marks.startsWith(fence.marks) && marks === fence.marks.charAt(0).repeat(marks.length);
}

/** What is known after `line`. */
export function after(line: string, before: Structure): Structure {
  const { fence } = before;
  if (fence !== undefined && withoutQuote(line, fence) !== undefined) {
    return closesFence(line, fence) ? { ...before, fence: undefined, isAfterBlank: false } : before;
  }
  if (isBlank(line)) return { ...before, fence: undefined, isAfterBlank: true };
  const isInList = LIST_ITEM.test(line) || (before.isInList && (!before.isAfterBlank || indentOf(line) > 0));
  return { fence: openedFence(line, isInList), isInList, isAfterBlank: false };
}

/** Whether a line that begins like this would be taken for something else than the text that it is. */
export function looksLikeBlock(text: string): boolean {
  return /^[ \t]*(?:[-*+>|#=~`:_]|\d{1,9}[.)])/.test(text);
}
