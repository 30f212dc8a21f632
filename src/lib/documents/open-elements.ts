/** The elements that are open at a place in a page: which tags close which, as browsers have it. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const HEADINGS = words("h1 h2 h3 h4 h5 h6");
/** An open paragraph ends where one of these begins. */
const ENDS_PARAGRAPH = words(
  "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search section summary table ul",
);
/** So does a heading that nobody closed, before the whole page becomes part of it. A browser would let it. */
const ENDS_HEADING = words(
  "article aside blockquote dl footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul",
);
/** What an end tag inside such a box closes lies in the box too. */
const BOXES = words("table td th caption button object applet marquee template svg math");
/** End tags of what is not among these close nothing beyond one of these. */
const BLOCKS = new Set([
  ...ENDS_PARAGRAPH,
  ...BOXES,
  ..."li dt dd tr tbody thead tfoot body html select option".split(" "),
]);
/** They go on inside a block that was opened within them, and end with it. */
const FORMATTING = words("a b big code em font i nobr s small strike strong tt u");

interface Implied {
  /** What the opening tag ends. */
  readonly ends: ReadonlySet<string>;
  /** Where it stops looking for that. */
  readonly within: ReadonlySet<string>;
}

const TABLE = words("table");
const LISTS = new Set(
  [...BLOCKS].filter((name) => !["li", "dt", "dd", "address", "div", "p"].includes(name)),
);

const implied: Readonly<Record<string, Implied>> = {
  li: { ends: words("li"), within: LISTS },
  dt: { ends: words("dt dd"), within: LISTS },
  dd: { ends: words("dt dd"), within: LISTS },
  td: { ends: words("td th"), within: TABLE },
  th: { ends: words("td th"), within: TABLE },
  tr: { ends: words("tr caption"), within: TABLE },
  tbody: { ends: words("tbody thead tfoot caption"), within: TABLE },
  thead: { ends: words("tbody thead tfoot caption"), within: TABLE },
  tfoot: { ends: words("tbody thead tfoot caption"), within: TABLE },
  option: { ends: words("option"), within: words("select datalist optgroup") },
  optgroup: { ends: words("optgroup"), within: words("select") },
  a: { ends: words("a"), within: BLOCKS },
};
const PARAGRAPH: Implied = { ends: words("p"), within: BOXES };
const HEADING: Implied = { ends: HEADINGS, within: BLOCKS };
const TABLE_PARTS = words("table caption tbody thead tfoot tr td th");

/** No page needs to look further up, and one that is all nesting would have us look for ever. */
const FURTHEST = 256;

interface OpenElement<State> {
  readonly name: string;
  readonly state: State;
  /** Its end tag has come, and something that was opened within it goes on. */
  isEnding: boolean;
}

export interface OpenElements<State> {
  readonly depth: number;
  /** Of the innermost. */
  readonly top: State | undefined;
  isInside(name: string): boolean;
  push(name: string, state: State): void;
  /** Closes what cannot hold an element of this name. */
  beforeOpening(name: string): void;
  /** Closes what an end tag of this name closes, which may be nothing. */
  endTag(name: string): void;
  /** Closes the innermost of this name and what is in it. */
  leave(name: string): void;
  closeAll(): void;
}

/** `onClose` hears of each element that closes, innermost first. */
export function createOpenElements<State>(
  onClose: (name: string, state: State) => void,
): OpenElements<State> {
  const stack: OpenElement<State>[] = [];
  const counts = new Map<string, number>();

  function pop(): void {
    const element = stack.pop();
    if (element === undefined) return;
    counts.set(element.name, (counts.get(element.name) ?? 1) - 1);
    onClose(element.name, element.state);
  }

  function closeTo(length: number): void {
    while (stack.length > length) pop();
    while (stack.at(-1)?.isEnding) pop();
  }

  const isOpen = (name: string) => (counts.get(name) ?? 0) > 0;

  function closeImplied({ ends, within }: Implied): void {
    const last = Math.max(0, stack.length - FURTHEST);
    for (let at = stack.length - 1; at >= last; at -= 1) {
      const name = stack[at]?.name ?? "";
      if (ends.has(name)) closeTo(at);
      if (ends.has(name) || within.has(name)) return;
    }
  }

  return {
    get depth() {
      return stack.length;
    },
    get top() {
      return stack.at(-1)?.state;
    },
    isInside: isOpen,
    push(name, state) {
      stack.push({ name, state, isEnding: false });
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    beforeOpening(name) {
      if (isOpen("p") && ENDS_PARAGRAPH.has(name)) closeImplied(PARAGRAPH);
      if (ENDS_HEADING.has(name)) closeImplied(HEADING);
      const rule = Object.hasOwn(implied, name) ? implied[name] : undefined;
      if (rule !== undefined) closeImplied(rule);
    },
    endTag(name) {
      const isHeading = HEADINGS.has(name);
      if (!isHeading && !isOpen(name)) return;
      const isTablePart = TABLE_PARTS.has(name);
      const isBlock = BLOCKS.has(name);
      const last = Math.max(0, stack.length - FURTHEST);
      let goesOn = false;
      for (let at = stack.length - 1; at >= last; at -= 1) {
        const element = stack[at];
        if (element === undefined) return;
        if (element.name === name || (isHeading && HEADINGS.has(element.name))) {
          if (goesOn) element.isEnding = true;
          else closeTo(at);
          return;
        }
        if (isTablePart ? element.name === "table" : BOXES.has(element.name)) return;
        if (!isBlock && BLOCKS.has(element.name)) {
          if (!FORMATTING.has(name)) return;
          goesOn = true;
        }
      }
    },
    leave(name) {
      const at = stack.findLastIndex((element) => element.name === name);
      if (at !== -1) closeTo(at);
    },
    closeAll: () => closeTo(0),
  };
}
