/** Makes of a text what it is searched by: case, width, accents and what nobody sees do not count. */

/**
 * The accents of Latin, Greek and Cyrillic and the vowel points of Hebrew and Arabic, which people leave out, and
 * characters without a shape. Not the marks of kana, of Indic scripts and of Thai: they make other letters.
 */
const UNCOUNTED =
  /[\u0300-\u036f]|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]|[\u064b-\u065f\u0670]|[\u00ad\u200b-\u200f\u2060\ufeff]|[\ufe0e\ufe0f]/g;
const ASCII = /^[\x00-\x7f]*$/;

/** `ＭÜLLER`, `Müller` and `muller` become the same, and `ß` becomes `ss`. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  // To upper case on the way, because some letters meet others only there, as ß meets ss.
  return text
    .normalize("NFKD")
    .replace(UNCOUNTED, "")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll("ς", "σ")
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .normalize("NFC");
}

/** Where each character is looked at: Latin, Greek, Cyrillic, Hebrew, Arabic, and the punctuation of all of them. */
const SURVEYED = [
  [0x00, 0x52f],
  [0x5d0, 0x64a],
  [0x2010, 0x2027],
] as const;
/**
 * Characters that are known to fold to themselves, or to nothing with a letter in it: € and symbols, the punctuation of
 * Chinese and Japanese, kana, Han, Hangul, and the halves of the commonest pictures.
 */
const KNOWN =
  "\\u20ac\\u2190-\\u23ff\\u2500-\\u27bf\\u3000-\\u3035\\u3041-\\u3096\\u30a1-\\u30fe\\u3400-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff0f\\uff1a-\\uff20\\ud83d\\udc00-\\udfff";

export interface Alphabet {
  /** Source of a pattern for what must be folded before it can be searched: a character that is not plain. */
  readonly unusual: string;
  /** Source of a pattern for a folded text as it stands, unit for unit, in text of plain characters. */
  pattern(folded: string): string;
}

/**
 * Folding costs more than all else that a search does, and most text can do without: where every character folds to
 * one of the same length, whatever stands beside it, a pattern finds what folding would have shown.
 */
export function createAlphabet(): Alphabet {
  const spellings = new Map<string, string[]>();
  let plain = KNOWN;
  for (const [first, last] of SURVEYED) {
    for (let code = first; code <= last; code++) {
      const char = String.fromCharCode(code);
      const folded = fold(char);
      const hasLetter = /[\p{L}\p{N}\p{M}]/u.test(folded);
      if (folded === "" || /\p{M}/u.test(char) || (folded.length > 1 && hasLetter)) continue;
      plain += escapeUnit(char);
      if (folded.length === 1) spellings.set(folded, [...(spellings.get(folded) ?? []), char]);
    }
  }

  const spellingsOf = (unit: string) =>
    `[${[...new Set([unit, ...(spellings.get(unit) ?? [])])].map(escapeUnit).join("")}]`;
  return {
    unusual: `[^${plain}]`,
    pattern: (folded) => units(folded).map(spellingsOf).join(""),
  };
}

function units(text: string): string[] {
  return Array.from({ length: text.length }, (_, at) => text.charAt(at));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
