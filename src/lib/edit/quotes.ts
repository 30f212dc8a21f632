/** Straight and curly quotation marks, which models mix up. All are one code unit, so that offsets stay. */

const CURLY_SINGLE = /[\u2018\u2019\u201a\u201b]/g;
const CURLY_DOUBLE = /[\u201c\u201d\u201e\u201f]/g;

export function straighten(text: string): string {
  return text.replace(CURLY_SINGLE, "'").replace(CURLY_DOUBLE, '"');
}

interface Kind {
  readonly straight: string;
  readonly curly: RegExp;
  readonly opening: string;
  readonly closing: string;
}

const kinds: readonly Kind[] = [
  { straight: "'", curly: CURLY_SINGLE, opening: "\u2018", closing: "\u2019" },
  { straight: '"', curly: CURLY_DOUBLE, opening: "\u201c", closing: "\u201d" },
];

/** A quotation begins after white space, an opening bracket, a dash, or another opening mark. */
const OPENS_AFTER = /[\s([{\u2013\u2014\u2018\u201c-]/;

function curl(text: string, { straight, opening, closing }: Kind): string {
  return text.replaceAll(straight, (_, index: number) =>
    index === 0 || OPENS_AFTER.test(text[index - 1] ?? "") ? opening : closing,
  );
}

/** `text` with the kind of quotation marks that `sample` has; where it has both kinds, or none, they stay. */
export function quotedLike(sample: string, text: string): string {
  return kinds.reduce((result, kind) => {
    const isStraight = sample.includes(kind.straight);
    const isCurly = sample.search(kind.curly) >= 0;
    if (isStraight === isCurly) return result;
    return isCurly ? curl(result, kind) : result.replace(kind.curly, () => kind.straight);
  }, text);
}
