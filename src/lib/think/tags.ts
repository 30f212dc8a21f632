/** The tags and markers that models write into their replies, and how one is read at a place of a text. */

const THINK_NAMES = ["think", "thinking", "thought"] as const;

export type ThinkName = (typeof THINK_NAMES)[number];

export type Tag =
  | { readonly kind: "open" | "close" | "selfClosing"; readonly name: ThinkName }
  | { readonly kind: "openCall" | "closeCall" }
  /** The markers of gpt-oss and of templates; `analysis` begins reasoning, and all the others are mere punctuation. */
  | { readonly kind: "analysis" | "marker" };

/** As they are written, but for upper and lower case. */
const TAGS: ReadonlyMap<string, Tag> = new Map<string, Tag>([
  ...THINK_NAMES.flatMap((name): [string, Tag][] => [
    [`<${name}>`, { kind: "open", name }],
    [`</${name}>`, { kind: "close", name }],
    [`<${name}/>`, { kind: "selfClosing", name }],
  ]),
  ["<tool_call>", { kind: "openCall" }],
  ["</tool_call>", { kind: "closeCall" }],
  ["<|channel|>analysis<|message|>", { kind: "analysis" }],
  ["<|channel|>final<|message|>", { kind: "marker" }],
  ["<|channel|>commentary<|message|>", { kind: "marker" }],
  ["<|start|>assistant", { kind: "marker" }],
  ["<|end|>", { kind: "marker" }],
  ["<|return|>", { kind: "marker" }],
  // The ends of a turn in the templates of other models.
  ["<|im_end|>", { kind: "marker" }],
  ["<|eot_id|>", { kind: "marker" }],
  ["<|endoftext|>", { kind: "marker" }],
]);

const LONGEST = Math.max(...[...TAGS.keys()].map((raw) => raw.length));
/** What follows the name cannot be part of a longer name, or of a tag. */
const BARE = /^<(think|thinking|thought)[^\w:.\-/> \t]/;

/**
 * What stands at `at`, where `text` has a `<`. `partial` is what may become a tag, unless the text has
 * `ended`. `atStart` takes a name without its `>` for a tag, too, which is how some models begin.
 */
export function readTag(
  text: string,
  at: number,
  { ended, atStart }: { ended: boolean; atStart: boolean },
): { readonly tag: Tag; readonly end: number } | "partial" | undefined {
  const rest = text.slice(at, at + LONGEST).toLowerCase();
  for (const [raw, tag] of TAGS) {
    if (rest.startsWith(raw)) return { tag, end: at + raw.length };
    if (!ended && raw.startsWith(rest)) return "partial";
  }
  const bare = atStart ? BARE.exec(rest)?.[1] : undefined;
  const name = THINK_NAMES.find((one) => one === bare);
  return name && { tag: { kind: "open", name }, end: at + 1 + name.length };
}
