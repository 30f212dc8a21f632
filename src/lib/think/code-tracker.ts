/** Follows Markdown as it streams by and knows whether the place it has come to lies in code. */

interface Place {
  /** Only white space stands before it on its line. */
  readonly lineIsBlank: boolean;
  readonly inFence: boolean;
  /** The length of the run of backticks that is open on this line, or 0. */
  readonly openRun: number;
}

export interface CodeTracker {
  /** Goes on over `text`, however it is cut. */
  pass(text: string): void;
  /** Where it is. To be asked only where no backtick and no tilde follows. */
  locate(): Place;
  /** The run that seemed to open a code span was ordinary text. */
  dropRun(): void;
  /** Puts it outside code, in the middle of a line. */
  reset(): void;
}

/** What is indented further is no fence. */
const DEEPEST_FENCE = 3;
const SHORTEST_FENCE = 3;
/** What can change anything in the middle of a line. */
const interesting = /[`\n]/g;

export function createCodeTracker(): CodeTracker {
  let lineIsBlank = true;
  let indent = 0;
  let fence: { readonly mark: string; readonly length: number } | undefined;
  /** On the line that opened the fence. */
  let inInfo = false;
  /** The line so far may be the one that ends the fence. */
  let mayClose = false;
  let openRun = 0;
  /** A run of backticks or tildes that may still grow. */
  let run = { mark: "", length: 0, startsLine: false };

  function endLine(): void {
    if (mayClose) fence = undefined;
    mayClose = false;
    inInfo = false;
    openRun = 0;
    lineIsBlank = true;
    indent = 0;
  }

  function toggleSpan(length: number): void {
    if (openRun === 0) openRun = length;
    else if (openRun === length) openRun = 0;
  }

  function endRun(): void {
    const { mark, length, startsLine } = run;
    if (length === 0) return;
    run = { mark: "", length: 0, startsLine: false };
    if (fence === undefined) {
      if (startsLine && length >= SHORTEST_FENCE) {
        fence = { mark, length };
        inInfo = true;
      } else if (mark === "`") toggleSpan(length);
    } else if (inInfo && fence.mark === "`" && mark === "`") {
      // A fence has no backtick behind it on its line, so this is a code span that begins the line.
      openRun = fence.length;
      fence = undefined;
      inInfo = false;
      toggleSpan(length);
    } else if (startsLine && mark === fence.mark && length >= fence.length) mayClose = true;
  }

  function canRun(char: string, startsLine: boolean): boolean {
    // In a fence only the runs that could end it count, and tildes never make a code span.
    return char === "`" ? startsLine || fence === undefined || inInfo : char === "~" && startsLine;
  }

  /** From `at` to the next place where something can change. */
  function skip(text: string, at: number): number {
    if (fence !== undefined && !inInfo) {
      const end = text.indexOf("\n", at);
      return end === -1 ? text.length : end;
    }
    interesting.lastIndex = at;
    return interesting.test(text) ? interesting.lastIndex - 1 : text.length;
  }

  /** One character, or as many as change nothing. The index behind them. */
  function step(text: string, at: number): number {
    const char = text.charAt(at);
    if (char === run.mark) {
      run.length++;
      return at + 1;
    }
    endRun();
    if (char === "\n") {
      endLine();
      return at + 1;
    }
    if (char === " " || char === "\t" || char === "\r") {
      if (lineIsBlank) indent += char === "\t" ? DEEPEST_FENCE + 1 : 1;
      return lineIsBlank || mayClose ? at + 1 : skip(text, at);
    }
    mayClose = false;
    const startsLine = lineIsBlank && indent <= DEEPEST_FENCE;
    lineIsBlank = false;
    if (!canRun(char, startsLine)) return skip(text, at + 1);
    run = { mark: char, length: 1, startsLine };
    return at + 1;
  }

  return {
    pass(text) {
      for (let at = 0; at < text.length; ) at = step(text, at);
    },
    locate() {
      endRun();
      return { lineIsBlank, inFence: fence !== undefined, openRun };
    },
    dropRun() {
      openRun = 0;
    },
    reset() {
      endRun();
      endLine();
      fence = undefined;
      lineIsBlank = false;
    },
  };
}
