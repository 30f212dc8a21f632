/** Replaces one passage of a text and leaves every other byte as it was, line ends included. */

export type EditOutcome =
  | { readonly kind: "edited"; readonly text: string; readonly firstLine: number }
  | { readonly kind: "missing" }
  | { readonly kind: "unchanged" }
  /** `lines` are the first few; `count` is at most `MOST_COUNTED`. */
  | { readonly kind: "ambiguous"; readonly count: number; readonly lines: readonly number[] };

/** Counting goes no further: overlapping matches of a long passage are dear, and the answer is the same. */
export const MOST_COUNTED = 1_000;
const LINES_NAMED = 5;

function toLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/**
 * `before` is looked for with LF and CRLF counting as the same, because the model was shown LF for both.
 * What the passage and its replacement have in common at either end stays untouched, so that a file with
 * mixed line ends changes only where the text does.
 */
export function replaceExactly(text: string, before: string, after: string): EditOutcome {
  const plain = toLf(text);
  const wanted = toLf(before);
  const replacement = toLf(after);
  if (wanted === replacement) return { kind: "unchanged" };

  const found = findAll(plain, wanted);
  const [start] = found;
  if (start === undefined) return { kind: "missing" };
  if (found.length > 1) {
    const lines = found.slice(0, LINES_NAMED).map((index) => lineAt(plain, index));
    return { kind: "ambiguous", count: found.length, lines };
  }

  const { prefix, suffix } = commonEnds(wanted, replacement);
  const [from, to] = rawOffsets(text, start + prefix, start + wanted.length - suffix);
  const inserted = replacement.slice(prefix, replacement.length - suffix);
  const withLineEnds = lineEndAt(text, from, to) === "\r\n" ? inserted.replaceAll("\n", "\r\n") : inserted;
  return {
    kind: "edited",
    text: text.slice(0, from) + withLineEnds + text.slice(to),
    firstLine: lineAt(plain, start),
  };
}

/** Overlapping matches count: `aa` stands twice in `aaa`, and which one is meant is unknown. */
function findAll(text: string, wanted: string): readonly number[] {
  const found: number[] = [];
  for (let index = text.indexOf(wanted); index >= 0; index = text.indexOf(wanted, index + 1)) {
    if (found.push(index) === MOST_COUNTED) break;
  }
  return found;
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end >= 0 && end < index; end = text.indexOf("\n", end + 1)) line++;
  return line;
}

function commonEnds(a: string, b: string): { prefix: number; suffix: number } {
  const most = Math.min(a.length, b.length);
  let prefix = 0;
  while (prefix < most && a[prefix] === b[prefix]) prefix++;
  let suffix = 0;
  while (suffix < most - prefix && a[a.length - 1 - suffix] === b[b.length - 1 - suffix]) suffix++;
  return { prefix, suffix };
}

/** Offsets into the text with LF only, as offsets into `text` itself: one more for each CRLF before. */
function rawOffsets(text: string, from: number, to: number): [number, number] {
  let passed = 0;
  let next = text.indexOf("\r\n");
  const raw = (offset: number): number => {
    while (next >= 0 && next - passed < offset) {
      passed++;
      next = text.indexOf("\r\n", next + 2);
    }
    return offset + passed;
  };
  return [raw(from), raw(to)];
}

/** The line end of the passage, else of the line it stands in, else of the line before. */
function lineEndAt(text: string, from: number, to: number): "\r\n" | "\n" | undefined {
  const inside = text.slice(from, to).indexOf("\n");
  const after = inside >= 0 ? from + inside : text.indexOf("\n", to);
  const at = after >= 0 ? after : text.lastIndexOf("\n", from);
  if (at < 0) return undefined;
  return text[at - 1] === "\r" ? "\r\n" : "\n";
}
