/** LF and CRLF as one: texts are matched with LF only and changed where they really are. */

export function toLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Whether the last line has an end or not. */
export function lineCount(text: string): number {
  const ends = text.split("\n").length - 1;
  return text === "" || text.endsWith("\n") ? ends : ends + 1;
}

/**
 * Turns offsets into `toLf(text)` into offsets into `text` itself: one more for each CRLF before. They must
 * be asked for in rising order.
 */
export function createRawOffsets(text: string): (offset: number) => number {
  let passed = 0;
  let next = text.indexOf("\r\n");
  return (offset) => {
    while (next >= 0 && next - passed < offset) {
      passed++;
      next = text.indexOf("\r\n", next + 2);
    }
    return offset + passed;
  };
}

/** The line end of the passage, else of the line it stands in, else of the line before. */
export function lineEndAt(text: string, from: number, to: number): "\r\n" | "\n" {
  const inside = text.slice(from, to).indexOf("\n");
  const after = inside >= 0 ? from + inside : text.indexOf("\n", to);
  const at = after >= 0 ? after : text.lastIndexOf("\n", from);
  return text[at - 1] === "\r" ? "\r\n" : "\n";
}
