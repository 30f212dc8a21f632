/** Recognises the tags and markers that models write into their replies, at one place of a text. */

export type ThinkName = "think" | "thinking" | "thought";

export type Tag =
  | { readonly kind: "open" | "close" | "selfClosing"; readonly name: ThinkName }
  | { readonly kind: "openCall" | "closeCall" }
  /** The markers of gpt-oss; `analysis` begins reasoning, and all the others are mere punctuation. */
  | { readonly kind: "analysis" | "marker" };

export interface FoundTag {
  readonly tag: Tag;
  /** The index behind it. */
  readonly end: number;
}

/**
 * What stands at `at`, where `text` has a `<`. `partial` is what may become a tag, unless the text has
 * `ended`. `atStart` takes a name without its `>` for a tag, too, which is how some models begin.
 */
export type TagReader = (
  text: string,
  at: number,
  options: { ended: boolean; atStart: boolean },
) => FoundTag | "partial" | undefined;

/** Attributes included. What is longer is no tag, so that little is ever held back. */
const LONGEST_TAG = 256;

const THINK_NAMES = ["thinking", "think", "thought"];
const CALL_NAME = "tool_call";

const ANALYSIS = "<|channel|>analysis<|message|>";
const MARKERS = [
  ANALYSIS,
  "<|channel|>final<|message|>",
  "<|channel|>commentary<|message|>",
  "<|start|>assistant",
  "<|end|>",
  "<|return|>",
];

function prefixesOf(name: string): string[] {
  return Array.from(name, (_, index) => name.slice(0, index));
}

function readMarker(text: string, at: number, ended: boolean): FoundTag | "partial" | undefined {
  const rest = text.slice(at, at + LONGEST_TAG);
  const found = MARKERS.find((marker) => rest.startsWith(marker));
  if (found !== undefined) {
    return { tag: { kind: found === ANALYSIS ? "analysis" : "marker" }, end: at + found.length };
  }
  return !ended && MARKERS.some((marker) => marker.startsWith(rest)) ? "partial" : undefined;
}

export function createTagReader({ toolCalls }: { toolCalls: boolean }): TagReader {
  const names = toolCalls ? [...THINK_NAMES, CALL_NAME] : THINK_NAMES;
  const anyName = names.join("|");
  // An attribute has a value: `<thought of the day>` is a placeholder in somebody's prose.
  const attribute = String.raw`\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=/]+)`;
  const whole = new RegExp(String.raw`^<\s*(/?)\s*(${anyName})(?:${attribute})*\s*(/?)\s*>`, "i");
  // Everything that could still become a whole tag, and a little more.
  const someName = [...new Set(names.flatMap(prefixesOf))].join("|");
  const partial = new RegExp(String.raw`^<\s*/?\s*(?:(?:${anyName})(?:[\s/][^<>]*)?|${someName})$`, "i");
  const malformed = new RegExp(String.raw`^<(${THINK_NAMES.join("|")})(?:\n|\r|[^\w:.\-/>\s])`, "i");

  function tagOf(name: string, closes: boolean, closesItself: boolean): Tag | undefined {
    if (name === CALL_NAME) {
      if (closesItself && !closes) return undefined;
      return { kind: closes ? "closeCall" : "openCall" };
    }
    const kind = closes ? "close" : closesItself ? "selfClosing" : "open";
    // The expressions let no other name through.
    return { kind, name: name as ThinkName };
  }

  return (text, at, { ended, atStart }) => {
    if (text.charAt(at + 1) === "|") return readMarker(text, at, ended);
    const rest = text.slice(at, at + LONGEST_TAG);
    const found = whole.exec(rest);
    if (found) {
      const [raw, slash = "", name = "", lastSlash = ""] = found;
      const tag = tagOf(name.toLowerCase(), slash !== "", lastSlash !== "");
      return tag && { tag, end: at + raw.length };
    }
    if (!ended && rest.length < LONGEST_TAG && partial.test(rest)) return "partial";
    const name = atStart ? malformed.exec(rest)?.[1] : undefined;
    const tag = name === undefined ? undefined : tagOf(name.toLowerCase(), false, false);
    return tag && { tag, end: at + 1 + (name?.length ?? 0) };
  };
}
