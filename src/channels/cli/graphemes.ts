/** Where a cursor may stand in a text: between graphemes, found within one line so that long texts stay fast. */

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

const wordCharacter = /[\p{L}\p{N}\p{M}_]/u;

/** The graphemes of `text`, in order. */
export function graphemes(text: string): Iterable<string> {
  // Plain ASCII has one a character, and most of what people type is just that.
  return /^[\x20-\x7e]*$/.test(text) ? text : segments(text);
}

function* segments(text: string): Iterable<string> {
  for (const { segment } of segmenter.segment(text)) yield segment;
}

export function lineStart(text: string, index: number): number {
  return index === 0 ? 0 : text.lastIndexOf("\n", index - 1) + 1;
}

export function lineEnd(text: string, index: number): number {
  const end = text.indexOf("\n", index);
  return end === -1 ? text.length : end;
}

/** The grapheme that holds the code unit at `index`, which must not be a newline. */
function graphemeAt(text: string, index: number): { start: number; end: number } {
  const start = lineStart(text, index);
  const found = segmenter.segment(text.slice(start, lineEnd(text, index))).containing(index - start);
  return found === undefined
    ? { start: index, end: index + 1 }
    : { start: start + found.index, end: start + found.index + found.segment.length };
}

/** The boundary before `index`, or 0. */
export function previousBoundary(text: string, index: number): number {
  if (index <= 0) return 0;
  return text[index - 1] === "\n" ? index - 1 : graphemeAt(text, index - 1).start;
}

/** The boundary after `index`, or the end. */
export function nextBoundary(text: string, index: number): number {
  if (index >= text.length) return text.length;
  return text[index] === "\n" ? index + 1 : graphemeAt(text, index).end;
}

/** `index` itself when it is a boundary, else the next one: an edit can join what stood on both sides of it. */
export function boundaryFrom(text: string, index: number): number {
  if (index <= 0 || index >= text.length) return Math.min(Math.max(index, 0), text.length);
  if (text[index] === "\n" || text[index - 1] === "\n") return index;
  const { start, end } = graphemeAt(text, index);
  return start === index ? index : end;
}

/** The start of the word before `index`. Each line is segmented once, however long it is. */
export function previousWord(text: string, index: number): number {
  for (let at = index; at > 0; ) {
    const start = lineStart(text, at);
    let offset = 0;
    let word: number | undefined;
    let inWord = false;
    for (const grapheme of graphemes(text.slice(start, at))) {
      const isWord = wordCharacter.test(grapheme);
      if (isWord && !inWord) word = offset;
      inWord = isWord;
      offset += grapheme.length;
    }
    if (word !== undefined) return start + word;
    at = start - 1;
  }
  return 0;
}

/** The end of the word after `index`. */
export function nextWord(text: string, index: number): number {
  for (let at = index; at < text.length; ) {
    const end = lineEnd(text, at);
    let offset = at;
    let inWord = false;
    for (const grapheme of graphemes(text.slice(at, end))) {
      const isWord = wordCharacter.test(grapheme);
      if (inWord && !isWord) return offset;
      inWord = isWord;
      offset += grapheme.length;
    }
    if (inWord) return end;
    at = end + 1;
  }
  return text.length;
}

/** The start of what stands before `index` up to white space, as Ctrl-W takes it. */
export function previousBlank(text: string, index: number): number {
  const isSpace = (at: number) => /\s/.test(text.charAt(at));
  let at = index;
  while (at > 0 && isSpace(at - 1)) at -= 1;
  while (at > 0 && !isSpace(at - 1)) at -= 1;
  // A space that carries a combining mark is white space in the middle of a grapheme.
  return Math.min(index, boundaryFrom(text, at));
}
