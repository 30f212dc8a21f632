/** Whether a new text of `MEMORY.md` still says what the old one did: models drop what they were not thinking of. */

/** With fewer facts, most of them may have been replaced for good reason. */
const FEW = 4;

/** A longer line is no fact but a paragraph of them. In characters. */
const LONGEST_FACT = 300;
const SENTENCE_END = /(?<=[.!?;])\s+|(?<=[。！？；])/u;

/** A word in more of the facts than this part says little of any of them. */
const COMMON = 0.25;

/** One of so many of its telling words is enough: facts are put more briefly. */
const SAID = 3;

const COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
/** What the templates of the original say in the place of facts. */
const PLACEHOLDER = /^(?:\(.*\)|\*[^*].*[^*]\*|_.+_)$/;

/** What models write where the facts should be, when they mean that those stay. */
const NO_CHANGE =
  /^\W*(?:no(?: new| further| more| other)? (?:changes?|updates?|facts?|information)\b[^\n]{0,60}|nothing (?:new|changed|to (?:add|update|change|save|remember))\b[^\n]{0,60}|same as (?:before|above|now|it is)\b[^\n]{0,60}|(?:unchanged|not changed|none|null|undefined|n\/a|as (?:it is|before))\W*)$/i;

export function saysNoChange(update: string): boolean {
  return NO_CHANGE.test(update.trim());
}

/** The lines that say something, and the sentences of long ones: no headings, comments, rules or placeholders. */
export function factsIn(text: string): readonly string[] {
  return text
    .replace(COMMENT, "")
    .split(/\r?\n/)
    .flatMap((line) => (line.length > LONGEST_FACT ? line.split(SENTENCE_END) : line))
    .map((line) => line.trim())
    .filter((line) => !line.startsWith("#") && /[\p{L}\p{N}]/u.test(line) && !PLACEHOLDER.test(line));
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;

/** Each once. Where words are not set apart, every two letters are one. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [word] of text
    .normalize("NFKC")
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu)) {
    const letters = UNSPACED.test(word) ? [...word] : [];
    if (letters.length < 2) words.add(word);
    for (let index = 1; index < letters.length; index++) words.add(`${letters[index - 1]}${letters[index]}`);
  }
  return words;
}

/**
 * `false` when nothing is left of some facts, or less than half of four and more. A fact is there still when a
 * third of the words that tell it from others are, in whatever line: facts are put in other words, and together.
 * Of fewer than four, one word is enough.
 */
export function keepsFacts(before: string, after: string): boolean {
  const facts = factsIn(before);
  if (facts.length === 0) return true;
  if (factsIn(after).length === 0) return false;
  const words = facts.map(wordsOf);
  const said = wordsOf(after);
  if (facts.length < FEW) return words.some((all) => [...all].some((word) => said.has(word)));
  const counts = new Map<string, number>();
  for (const word of words.flatMap((all) => [...all])) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(1, facts.length * COMMON);
  const kept = words.filter((all) => {
    const telling = [...all].filter((word) => (counts.get(word) ?? 0) <= most);
    const judged = telling.length > 0 ? telling : [...all];
    return judged.filter((word) => said.has(word)).length * SAID >= judged.length;
  });
  return kept.length * 2 >= facts.length;
}
