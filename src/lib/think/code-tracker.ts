/** Follows Markdown as it streams by and knows whether the place it has come to may lie in code. */

export type CodeTracker = ReturnType<typeof createCodeTracker>;

/** Of a line no more is looked at to find out whether it begins or ends a fence. */
const LONGEST_FENCE_LINE = 500;
/** At any depth of lists and quotations: text that may be code is better taken for code. */
const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})(.*)$/s;

/** The marks of the fence that `line` opens, or nothing: a fence has no backtick behind its own ones. */
function openingOf(line: string): string {
  const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
  return marks.startsWith("`") && info.includes("`") ? "" : marks;
}

function isClosing(line: string, fence: string): boolean {
  const [, marks = "", info = ""] = FENCE.exec(line) ?? [];
  return marks.startsWith(fence) && info.trim() === "";
}

export function createCodeTracker() {
  let line = "";
  let fence = "";
  let openRun = 0;
  /** The run of backticks that stands last, and may still grow. */
  let run = 0;

  function endLine(): void {
    if (fence === "") fence = openingOf(line);
    else if (isClosing(line, fence)) fence = "";
    line = "";
    openRun = 0;
    run = 0;
  }

  /** A span ends with as many backticks as it began with. */
  function runAfter(): number {
    if (run === 0) return openRun;
    if (openRun === 0) return run;
    return run === openRun ? 0 : openRun;
  }

  return {
    /** Goes on over `text`, however it is cut. */
    pass(text: string): void {
      for (const [piece] of text.matchAll(/`+|\n|[^`\n]+/g)) {
        if (piece === "\n") {
          endLine();
          continue;
        }
        line += piece.slice(0, LONGEST_FENCE_LINE - line.length);
        if (piece.startsWith("`")) run += piece.length;
        else {
          openRun = runAfter();
          run = 0;
        }
      }
    },
    /** Nothing at all stands before the place on its line. */
    get lineIsEmpty() {
      return line === "";
    },
    /** Only white space stands before the place on its line. */
    get lineIsBlank() {
      return line.trim() === "";
    },
    /** The place is between the lines of a fence, or on the one that opens it. */
    get inFence() {
      return fence !== "" || openingOf(line) !== "";
    },
    /** The length of the run of backticks that may open a code span on the line, or 0. */
    get openRun() {
      return runAfter();
    },
  };
}
