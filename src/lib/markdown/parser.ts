/** Markdown as tokens, by `marked`, which is loaded with the first parser. Kept from inputs that take it long. */

import type { MarkedToken, Tokens, TokensList } from "marked";

interface Spoiler {
  readonly type: "spoiler";
  readonly raw: string;
  readonly tokens: Token[];
}

export type Token = MarkedToken | Spoiler;

export interface ParsedMarkdown {
  readonly tokens: readonly Token[];
  /** The definitions of links that are used: the others would vanish if nobody showed them. */
  readonly usedLinks: ReadonlySet<string>;
}

/** `undefined` when the text is too long or too twisted to be taken for Markdown: then it is plain text. */
export type MarkdownParser = (markdown: string) => ParsedMarkdown | undefined;

/** The parser's time grows with the square of the text in the worst case. */
const LONGEST_MARKDOWN = 16 * 1024;

/** Of one kind, and of the rarer of two kinds that can stand in each other. */
const MOST_MARKS = 3_000;
const MOST_MIXED_MARKS = 300;
const MOST_BRACKETS = 1_000;
const MOST_CELLS = 4_000;
const DEEP = /^[ \t]*(?:(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*){24}/m;

function countOf(pattern: RegExp, text: string): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count++;
  return count;
}

function isTwisted(markdown: string): boolean {
  if (markdown.length > LONGEST_MARKDOWN || DEEP.test(markdown)) return true;
  const stars = countOf(/\*+/g, markdown);
  const underscores = countOf(/_+/g, markdown);
  return (
    Math.max(stars, underscores) > MOST_MARKS ||
    Math.min(stars, underscores) > MOST_MIXED_MARKS ||
    countOf(/\[/g, markdown) > MOST_BRACKETS
  );
}

const STRONG = /^\*\*(?=\S)((?:[^*\\]|\\.|\*(?!\*))+?)(?<=\S)\*\*(?!\*)/s;
/** With signs of ASCII on both sides it is left to CommonMark: `f(**a) and g(**b)` is Python. */
const FOREIGN_EDGE = /^(?!\p{ASCII})[\p{P}\p{S}]|(?!\p{ASCII})[\p{P}\p{S}]$/u;
const PUNCTUATION_AT_END = /[\p{P}\p{S}]$/u;
const FOREIGN_LETTER = /^(?!\p{ASCII})\p{L}/u;
const CODE_SPANS = /(`+)[^`]+\1(?!`)/g;
/** Beside a letter or a bracket it is an operator: `a||b or c||d`. */
const SPOILER = /^\|\|(?=[^\s|])((?:[^|\\\n]|\\.|\|(?!\|))+?)(?<=[^\s|])\|\|(?![|\w(])/;

/** Whether the rules of CommonMark take bold text for none because of what stands beside its marks. */
function isBoldAllTheSame(text: string, rest: string): boolean {
  if (text.includes("\n\n") || text.replace(CODE_SPANS, "").includes("`")) return false;
  return FOREIGN_EDGE.test(text) || (PUNCTUATION_AT_END.test(text) && FOREIGN_LETTER.test(rest));
}

/** How many cells the parser would make: it fills up every row to the width of the first. */
function cellsOf(src: string): number {
  const end = src.search(/\n[ \t]*(?:\n|$)/);
  const rows = (end === -1 ? src : src.slice(0, end)).split("\n");
  return (rows[0]?.split("|").length ?? 0) * rows.length;
}

function linkTag(raw: string): string | undefined {
  const label = /\[((?:\\.|[^[\]\\])+)\](?:\[\])?$/s.exec(raw)?.[1];
  return label?.trim().replace(/\s+/g, " ").toLowerCase().toUpperCase().toLowerCase();
}

function collectUsed(tokens: readonly Tokens.Generic[], used: Set<string>): void {
  for (const token of tokens) {
    const tag = token.type === "link" || token.type === "image" ? linkTag(token.raw) : undefined;
    if (tag !== undefined) used.add(tag);
    if (token.tokens) collectUsed(token.tokens, used);
    if (token.type === "list") collectUsed((token as Tokens.List).items, used);
    if (token.type === "table") {
      const { header, rows } = token as Tokens.Table;
      for (const cell of [header, ...rows].flat()) collectUsed(cell.tokens, used);
    }
  }
}

function read(lex: (markdown: string) => TokensList, markdown: string): ParsedMarkdown | undefined {
  if (isTwisted(markdown)) return undefined;
  let tokens: TokensList;
  try {
    tokens = lex(markdown);
  } catch {
    // It ran out of stack, or gave up on an input it should take: both mean that this is no Markdown for us.
    return undefined;
  }
  const usedLinks = new Set<string>();
  if (Object.keys(tokens.links).length > 0) collectUsed(tokens, usedLinks);
  return { tokens: tokens as Token[], usedLinks };
}

export async function createMarkdownParser(): Promise<MarkdownParser> {
  const { Marked } = await import("marked");
  const marked = new Marked({
    gfm: true,
    tokenizer: {
      // Markup of other kinds is text like any other. `false` means: as usual.
      html: () => undefined,
      tag: () => undefined,
      def: (src) => (/^ {0,3}\[\^/.test(src) ? undefined : false),
      table: (src) => (cellsOf(src) > MOST_CELLS ? undefined : false),
    },
    extensions: [
      {
        // By the rules of CommonMark, text in quotes or brackets is not bold when a letter follows the marks,
        // as it does in languages that put no space there.
        name: "strong",
        level: "inline",
        tokenizer(src) {
          if (!src.startsWith("**")) return undefined;
          const [raw, text = ""] = STRONG.exec(src) ?? [];
          if (raw === undefined || !isBoldAllTheSame(text, src.slice(raw.length, raw.length + 2)))
            return undefined;
          return { type: "strong", raw, text, tokens: this.lexer.inlineTokens(text) };
        },
      },
      {
        name: "spoiler",
        level: "inline",
        start: (src) => {
          const at = src.indexOf("||");
          return at === -1 ? undefined : at;
        },
        tokenizer(src) {
          if (!src.startsWith("||")) return undefined;
          const [raw, text = ""] = SPOILER.exec(src) ?? [];
          if (raw === undefined || text.includes("`")) return undefined;
          return { type: "spoiler", raw, tokens: this.lexer.inlineTokens(text) };
        },
      },
    ],
  });
  return (markdown) => read((text) => marked.lexer(text), markdown);
}
