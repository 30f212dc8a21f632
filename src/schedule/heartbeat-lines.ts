/** The lines and headings of a Markdown file that somebody wrote by hand, without its header and comments. */

export interface Heading {
  readonly kind: "heading";
  /** 1 is the highest. */
  readonly level: number;
  /** Folded, without markup and without what stands in front of its words. */
  readonly title: string;
  /** As it is written. */
  readonly text: string;
}

/** Blank lines and the marks around code are lines without text. */
export type Part = Heading | { readonly kind: "line"; readonly text: string };

interface Fence {
  readonly mark: string;
  readonly length: number;
}

const LIST_MARK = /^\s*(?:[-*+•‣·–—]|\d{1,9}[.)])(?:\s|$|\[)/;

/** As text is compared: one form for each character, nothing that cannot be seen, in lower case. */
export function folded(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[\p{Cf}\p{Variation_Selector}]/gu, "")
    .toLowerCase();
}

function isListItem(line: string): boolean {
  return LIST_MARK.test(folded(line));
}

/** Without the header between two `---`: what stands there is for programs. A rule at the top begins none. */
function withoutFrontMatter(lines: readonly string[]): readonly string[] {
  if (lines[0]?.trimEnd() !== "---") return lines;
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  const header = lines.slice(1, Math.max(1, end));
  const isHeader = /^[\w-]+:(?:\s|$)/.test(header[0] ?? "");
  const isOfOne = (line: string) => /^(?:[\w-]+:(?:\s|$)|\s|#|- |$)/.test(line);
  return isHeader && header.every(isOfOne) ? lines.slice(end + 1) : lines;
}

/** Behind the backquotes that close what as many opened; `undefined` when none do. */
function endOfCode(line: string, opening: string, from: number): number | undefined {
  for (let at = line.indexOf(opening, from); at >= 0; at = line.indexOf(opening, at)) {
    const start = at;
    while (line[at] === "`") at++;
    if (at - start === opening.length) return at;
  }
  return undefined;
}

/** Takes comments out of a line. One in code is none, and one without an end goes to the end of the file. */
function withoutComments(
  line: string,
  isInside: boolean,
): { readonly text: string; readonly isInside: boolean } {
  const closed = isInside ? line.indexOf("-->") : -3;
  if (isInside && closed < 0) return { text: "", isInside };
  let at = closed + 3;
  let text = "";
  const marks = /`+|<!--/g;
  marks.lastIndex = at;
  for (let mark = marks.exec(line); mark !== null; mark = marks.exec(line)) {
    if (mark[0] !== "<!--") {
      marks.lastIndex = endOfCode(line, mark[0], marks.lastIndex) ?? marks.lastIndex;
      continue;
    }
    text += line.slice(at, mark.index);
    // From its second character on, so that `<!-->` is one with nothing in it.
    const end = line.indexOf("-->", mark.index + 2);
    if (end < 0) return { text: text.trimEnd(), isInside: true };
    at = end + 3;
    marks.lastIndex = at;
  }
  return { text: (text + line.slice(at)).trimEnd(), isInside: false };
}

function fenceOf(line: string): Fence | undefined {
  const [, run = "", info = ""] = /^\s*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  const mark = run.charAt(0);
  return mark === "" || (mark === "`" && info.includes("`")) ? undefined : { mark, length: run.length };
}

function closes(line: string, { mark, length }: Fence): boolean {
  const text = line.trim();
  return text.length >= length && text === mark.repeat(text.length);
}

function titleOf(text: string): string {
  return folded(text)
    .replace(/[*_~`]/g, "")
    .replace(/^[^\p{L}]+/u, "")
    .replace(/\s+/g, " ")
    .trim();
}

function headingOf(line: string): Heading | undefined {
  // One `#` without a space is a tag.
  const [, marks = ""] = /^\s*(#{1,6}(?=\s|$)|#{2,6}(?!#))/.exec(folded(line)) ?? [];
  return marks === ""
    ? undefined
    : { kind: "heading", level: marks.length, title: titleOf(line), text: line };
}

/**
 * The heading that `line` makes of the one above. Three dashes are a rule for most who write them, and what
 * stands above a rule is not to be lost.
 */
function underlined(parts: readonly Part[], line: string): Heading | undefined {
  const [, marks = ""] = /^ {0,3}(=+|-{4,})\s*$/.exec(line) ?? [];
  const [before, above] = [parts.at(-2), parts.at(-1)];
  if (marks === "" || above?.kind !== "line" || above.text === "" || isListItem(above.text)) return undefined;
  if (before?.kind === "line" && before.text !== "") return undefined;
  return {
    kind: "heading",
    level: marks.startsWith("=") ? 1 : 2,
    title: titleOf(above.text),
    text: above.text,
  };
}

export function partsOf(text: string): readonly Part[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
  const parts: Part[] = [];
  let isInside = false;
  let fence: Fence | undefined;
  for (const line of withoutFrontMatter(lines)) {
    if (fence !== undefined) {
      const isEnd = closes(line, fence);
      if (isEnd) fence = undefined;
      parts.push({ kind: "line", text: isEnd ? "" : line.trimEnd() });
      continue;
    }
    const rest = withoutComments(line, isInside);
    isInside = rest.isInside;
    fence = fenceOf(rest.text);
    const above = underlined(parts, rest.text);
    if (above !== undefined) parts.splice(-1, 1, above);
    else parts.push(headingOf(rest.text) ?? { kind: "line", text: fence === undefined ? rest.text : "" });
  }
  return parts;
}
