/** Writes parsed Markdown for a chat in the ink of a platform. What is nested in what is decided here, once. */

import type { Tokens } from "marked";
import { decodeEntities } from "../entities.ts";
import { isVisible } from "../text.ts";
import { namedCharacter } from "./named-characters.ts";
import type { MarkdownParser, ParsedMarkdown, Token } from "./parser.ts";

export type Style = "bold" | "italic" | "strike" | "spoiler";

/** How a platform writes things. `inner` is written already, everything else is as the reader shall see it. */
export interface Ink {
  text(text: string): string;
  styled(inner: string, style: Style): string;
  code(text: string): string;
  codeBlock(text: string, language: string | undefined): string;
  /** Never within another one, nor around one. */
  link(inner: string, address: string): string;
  /** Never within another one. */
  quote(inner: string): string;
  /** Cells in rows, the header first. */
  table(rows: readonly (readonly string[])[]): string;
}

interface Surroundings {
  readonly styles: readonly Style[];
  readonly inLink: boolean;
  readonly inQuote: boolean;
}

/** A block of lines. A solid one has markup around it and keeps its own lines when it stands in a list. */
interface Block {
  readonly text: string;
  readonly isSolid: boolean;
}

const outside: Surroundings = { styles: [], inLink: false, inQuote: false };

/** Addresses that do something where they are opened. Nobody needs to see them. */
const HARMFUL = /^\s*(?:javascript|vbscript|data):/i;

const INDENT = "  ";
const RULE = "———";

function indented({ text, isSolid }: Block): string {
  return isSolid ? text : text.replaceAll("\n", `\n${INDENT}`);
}

function languageOf({ lang = "" }: Tokens.Code): string | undefined {
  return /^[\w+#.-]{1,32}(?=\s|$)/.exec(lang.trim())?.[0];
}

function createWriter(ink: Ink, { usedLinks }: ParsedMarkdown) {
  const decoded = (text: string) => ink.text(decodeEntities(text, namedCharacter));

  function styled(tokens: readonly Token[], style: Style, around: Surroundings): string {
    if (around.styles.includes(style)) return inline(tokens, around);
    const inner = inline(tokens, { ...around, styles: [...around.styles, style] });
    return isVisible(inner) ? ink.styled(inner, style) : inner;
  }

  function link({ href, text, tokens, autolink }: Tokens.Link, around: Surroundings): string {
    if (around.inLink) return inline(tokens as Token[], around);
    const address = autolink ? href : decodeEntities(href, namedCharacter);
    const bare = address.replace(/^(?:mailto:|http:\/\/(?=www\.))/, "");
    if (autolink && (text === address || text === bare)) return ink.text(text);
    const inner = autolink ? ink.text(text) : inline(tokens as Token[], { ...around, inLink: true });
    if (address === "" || HARMFUL.test(address)) return inner;
    return ink.link(isVisible(inner) ? inner : ink.text(address), address);
  }

  function image({ href, tokens }: Tokens.Image, around: Surroundings): string {
    const alt = inline(tokens as Token[], { ...around, inLink: true });
    const address = decodeEntities(href, namedCharacter);
    if (around.inLink || address === "" || HARMFUL.test(address)) return alt;
    return ink.link(isVisible(alt) ? alt : ink.text(address), address);
  }

  function oneInline(token: Token, around: Surroundings): string {
    switch (token.type) {
      case "strong":
        return styled(token.tokens as Token[], "bold", around);
      case "em":
        return styled(token.tokens as Token[], "italic", around);
      case "del":
        return styled(token.tokens as Token[], "strike", around);
      case "spoiler":
        return styled(token.tokens, "spoiler", around);
      case "codespan":
        // A platform that links code is not known.
        return around.inLink || !isVisible(token.text) ? ink.text(token.text) : ink.code(token.text);
      case "br":
        return "\n";
      case "link":
        return link(token, around);
      case "image":
        return image(token, around);
      case "checkbox":
        return token.checked ? "☑ " : "☐ ";
      case "escape":
        return ink.text(token.text);
      case "text":
        return token.tokens ? inline(token.tokens as Token[], around) : decoded(token.text);
      default:
        return ink.text(token.raw);
    }
  }

  function inline(tokens: readonly Token[], around: Surroundings): string {
    return tokens.map((token) => oneInline(token, around)).join("");
  }

  function list({ ordered, start, loose, items }: Tokens.List, around: Surroundings): Block {
    let isSolid = false;
    const lines = items.map((item, index) => {
      const marker = ordered ? `${Number(start) + index}. ` : item.task ? "" : "• ";
      const parts = blocks(item.tokens as Token[], around);
      isSolid ||= parts.some((part) => part.isSolid);
      const [first, ...others] = parts;
      if (first === undefined) return marker.trim();
      const head = first.isSolid ? `${marker.trim()}\n${first.text}`.trimStart() : marker + indented(first);
      const rest = others.map((part) => `\n${part.isSolid ? "" : INDENT}${indented(part)}`);
      return head + rest.join("");
    });
    // With something solid inside, the list is indented no further: it cannot be told apart any more.
    return { text: lines.join(loose ? "\n\n" : "\n"), isSolid };
  }

  function tableCells({ header, rows }: Tokens.Table): string[][] {
    const cell = ({ tokens }: Tokens.TableCell) => visibleText(tokens as Token[]).replaceAll("\n", " ");
    return [header, ...rows].map((row) => row.map(cell));
  }

  /** What stands in a table, where no markup is possible. */
  function visibleText(tokens: readonly Token[]): string {
    return createWriter(plainInk, { tokens, usedLinks }).inline(tokens, outside);
  }

  function oneBlock(token: Token, around: Surroundings): Block | readonly Block[] {
    const open = (text: string): Block => ({ text, isSolid: false });
    switch (token.type) {
      case "space":
        return [];
      case "hr":
        return open(RULE);
      case "heading":
        return open(styled(token.tokens as Token[], "bold", around));
      case "code": {
        const text = token.text.replace(/\n$/, "");
        return !isVisible(text) ? [] : { text: ink.codeBlock(text, languageOf(token)), isSolid: true };
      }
      case "table":
        return { text: ink.table(tableCells(token)), isSolid: true };
      case "blockquote": {
        const inner = blocks(token.tokens as Token[], { ...around, inQuote: true });
        if (around.inQuote || inner.length === 0) return inner;
        return { text: ink.quote(joined(inner)), isSolid: true };
      }
      case "list":
        return list(token, around);
      case "def":
        return usedLinks.has(token.tag) ? [] : open(ink.text(token.raw.trim()));
      case "paragraph":
        return open(inline(token.tokens as Token[], around));
      default:
        return open(oneInline(token, around));
    }
  }

  function blocks(tokens: readonly Token[], around: Surroundings): Block[] {
    const [first, second] = tokens;
    // The box of a task stands before its text as if it were a block.
    if (first?.type === "checkbox" && second?.type === "text") {
      const [block, ...others] = blocks(tokens.slice(1), around);
      return [{ text: oneInline(first, around) + (block?.text ?? ""), isSolid: false }, ...others];
    }
    return tokens.flatMap((token) => oneBlock(token, around)).filter(({ text }) => isVisible(text));
  }

  return { blocks, inline };
}

function joined(blocks: readonly Block[]): string {
  return blocks.map(({ text }) => text).join("\n\n");
}

/** What the eye sees: no markup, and the address of a link behind its text. */
export const plainInk: Ink = {
  text: (text) => text,
  styled: (inner) => inner,
  code: (text) => text,
  codeBlock: (text) => text,
  link: (inner, address) =>
    inner === address || `mailto:${inner}` === address ? inner : `${inner} (${address})`,
  quote: (inner) => inner,
  table: (rows) => rows.map((row) => row.join(" | ")).join("\n"),
};

/** The whole of `markdown` in `ink`; as it is where it cannot be read as Markdown, or is nothing but marks. */
export function writeMarkdown(parse: MarkdownParser, ink: Ink, markdown: string): string {
  const parsed = parse(markdown);
  if (parsed === undefined) return ink.text(markdown);
  const written = joined(createWriter(ink, parsed).blocks(parsed.tokens, outside));
  return isVisible(written) ? written : ink.text(markdown.trim());
}
