/** What bash makes of braces: `a{b,c}` is `ab` and `ac`. */

/** Beyond these a text is refused: nobody writes so many by hand. */
const MOST_TEXTS = 1_024;
const MOST_BRACES = 500;
const DEEPEST = 40;

/** All the texts that unquoted `source` stands for. Throws where they are too many. */
export function expandBraces(source: string): readonly string[] {
  if (source.split("{").length > MOST_BRACES) throw new Error(`a word has more than ${MOST_BRACES} braces`);
  return expand(source, 0);
}

function expand(source: string, depth: number): readonly string[] {
  if (depth > DEEPEST) throw new Error("it has braces inside braces too many times");
  let texts: readonly string[] = [""];
  const append = (alternatives: readonly string[]) => {
    if (texts.length * alternatives.length > MOST_TEXTS) {
      throw new Error(`its braces stand for more than ${MOST_TEXTS} words`);
    }
    texts = texts.flatMap((text) => alternatives.map((one) => text + one));
  };
  let plain = 0;
  for (let at = 0; at < source.length; at++) {
    const character = source[at];
    if (character === "\\") at++;
    // `{}` at the beginning, and behind another group, is for find and xargs.
    const isEmpty = at === plain && source[at + 1] === "}";
    const group = character === "{" && !isEmpty ? findGroup(source, at) : undefined;
    if (group === undefined) continue;
    const inside = source.slice(at + 1, group.close);
    const alternatives = group.commas.length > 0 ? partsOf(source, at, group) : range(inside);
    append([source.slice(plain, at)]);
    append(alternatives?.flatMap((one) => expand(one, depth + 1)) ?? [`{${inside}}`]);
    at = group.close;
    plain = at + 1;
  }
  append([source.slice(plain)]);
  return texts;
}

interface Group {
  readonly close: number;
  readonly commas: readonly number[];
}

/** A brace that closes before there was a comma or two dots closes nothing. */
function findGroup(source: string, open: number): Group | undefined {
  const commas: number[] = [];
  let hasDots = false;
  let level = 0;
  for (let at = open + 1; at < source.length; at++) {
    const character = source[at];
    if (character === "\\") at++;
    else if (character === "{") level++;
    else if (level > 0) level -= character === "}" ? 1 : 0;
    else if (character === ",") commas.push(at);
    else if (source.startsWith("..", at) && source[at + 2] !== "}") hasDots = true;
    else if (character === "}" && (hasDots || commas.length > 0)) return { close: at, commas };
  }
  return undefined;
}

function partsOf(source: string, open: number, { close, commas }: Group): readonly string[] {
  const ends = [...commas, close];
  return ends.map((end, index) => source.slice((index === 0 ? open : (ends[index - 1] ?? open)) + 1, end));
}

/** A range as patterns that are wider: as many characters as its ends and what lies between them have. */
function range(inside: string): readonly string[] | undefined {
  const ends = /^(-?\d{1,12})\.\.(-?\d{1,12})(?:\.\.-?\d+)?$/.exec(inside);
  if (ends === null) return /^[A-Za-z]\.\.[A-Za-z](?:\.\.-?\d+)?$/.test(inside) ? ["?"] : undefined;
  const longest = Math.max(...ends.slice(1, 3).map((end) => end.length));
  return Array.from({ length: longest }, (_, index) => "?".repeat(index + 1));
}
