/**
 * How many tokens a text will be, without a tokenizer: runs of one class of characters, with weights
 * fitted to o200k. Within a tenth for prose, a quarter for code and data; a real count comes back with
 * each answer.
 */

enum Class {
  letter,
  digit,
  blank,
  newline,
  sign,
  ideograph,
  hangul,
  emoji,
  other,
}

function classOf(code: number): Class {
  if (code < 0x80) {
    if ((code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)) return Class.letter;
    if (code >= 0x30 && code <= 0x39) return Class.digit;
    if (code === 0x0a) return Class.newline;
    return code === 0x20 || code === 0x09 || code === 0x0d ? Class.blank : Class.sign;
  }
  if (code < 0x250) return Class.letter;
  if (code >= 0x3040 && code <= 0x9fff) return Class.ideograph;
  if (code >= 0xac00 && code <= 0xd7a3) return Class.hangul;
  return code >= 0xd800 && code <= 0xdfff ? Class.emoji : Class.other;
}

function lettersTokens(length: number, humps: number): number {
  if (length <= 7) return 1;
  if (length > 24) return length * 0.55;
  return humps > 0 ? length / 3.2 : length / 5.2;
}

function runTokens(kind: Class, length: number, humps: number): number {
  switch (kind) {
    case Class.letter:
      return lettersTokens(length, humps);
    case Class.digit:
      return Math.ceil(length / 3);
    case Class.blank:
      return length === 1 ? 0 : 0.7;
    case Class.newline:
      return 0.6;
    case Class.sign:
      return length * 0.62;
    case Class.ideograph:
      return length * 0.6;
    case Class.hangul:
      return length * 0.65;
    case Class.emoji:
      return length; // Two code units each.
    case Class.other:
      return length * 0.32;
  }
}

/** Rough number of tokens in `text`. Linear, with no allocation. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let kind: Class | undefined;
  let length = 0;
  let humps = 0;
  let lower = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const next = classOf(code);
    if (next !== kind) {
      if (kind !== undefined) tokens += runTokens(kind, length, humps);
      kind = next;
      length = 0;
      humps = 0;
    }
    length++;
    const upper = code >= 0x41 && code <= 0x5a;
    if (upper && lower) humps++;
    lower = code >= 0x61 && code <= 0x7a;
  }
  if (kind !== undefined) tokens += runTokens(kind, length, humps);
  return Math.ceil(tokens);
}
