/** Goes through XML piece by piece, in memory that does not grow with it. Entities that a document defines stay as they are. */

import { UserError } from "../../core/errors.ts";
import { decodeEntities, XML_ENTITIES } from "../entities.ts";

/** Of a tag with its attributes, a comment or an instruction. */
const LONGEST_MARKUP = 1024 * 1024;
/** Of a reference, from `&` to `;`. */
const LONGEST_ENTITY = 12;

export interface XmlListener {
  /**
   * `name` is without its prefix; an attribute is asked for with it, or with `*:` for any prefix. An element
   * that is closed in its own tag is opened and closed.
   */
  open(name: string, attribute: (name: string) => string | undefined): void;
  close?(name: string): void;
  /** The text of one place can come in several pieces. */
  text?(text: string): void;
}

const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

function decode(text: string): string {
  return decodeEntities(text, (entity) => XML_ENTITIES.get(entity));
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** A name has a bound so that a tag that is one long word takes no longer than another. */
const attributes = /\s([^\s=]{1,100})\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Looks at the tag when it is first asked, and once: most tags are never asked. */
function attributesOf(tag: string): (wanted: string) => string | undefined {
  let all: (readonly [name: string, value: string])[] | undefined;
  return (wanted) => {
    all ??= Array.from(tag.matchAll(attributes), ([, name = "", double, single]) => [
      name,
      double ?? single ?? "",
    ]);
    const ending = wanted.startsWith("*:") ? wanted.slice(1) : undefined;
    const found = all.find(([name]) => (ending === undefined ? name === wanted : name.endsWith(ending)));
    return found === undefined ? undefined : decode(found[1]);
  };
}

/** Where the markup that begins at `from` ends, and `undefined` when that has not come yet. */
function markupEnd(text: string, from: number): number | undefined {
  const closing = text.startsWith("<!--", from)
    ? "-->"
    : text.startsWith("<![CDATA[", from)
      ? "]]>"
      : text.startsWith("<?", from)
        ? "?>"
        : undefined;
  // Too short yet to tell one of them from a tag.
  if (closing === undefined && text.length - from < 9 && text.startsWith("<!", from)) return undefined;
  if (closing !== undefined) {
    const end = text.indexOf(closing, from + 2);
    return end < 0 ? undefined : end + closing.length;
  }
  return tagEnd(text, from);
}

/** A `>` within quotes ends no tag. */
function tagEnd(text: string, from: number): number | undefined {
  let end = -1;
  for (let at = from; ; ) {
    if (end < at) end = text.indexOf(">", at);
    if (end < 0) return undefined;
    const quote = firstQuote(text, at, end);
    if (quote === undefined) return end + 1;
    const closing = text.indexOf(text.charAt(quote), quote + 1);
    if (closing < 0) return undefined;
    at = closing + 1;
  }
}

function firstQuote(text: string, from: number, to: number): number | undefined {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === DOUBLE_QUOTE || code === SINGLE_QUOTE) return at;
  }
  return undefined;
}

/** Before what may be the beginning of an entity, unless nothing follows. */
function endOfText(text: string, from: number, isEnd: boolean): number {
  const entity = isEnd ? -1 : text.indexOf("&", Math.max(from, text.length - LONGEST_ENTITY));
  return entity < 0 ? text.length : entity;
}

function tell(markup: string, listener: XmlListener): void {
  if (markup.startsWith("<![CDATA[")) {
    listener.text?.(markup.slice(9, -3));
    return;
  }
  const tag = /^<(\/?)([^\s/>!?]+)/.exec(markup);
  if (tag === null) return;
  const name = localName(tag[2] ?? "");
  const isEnd = tag[1] === "/";
  if (!isEnd) listener.open(name, attributesOf(markup));
  if (isEnd || markup.endsWith("/>")) listener.close?.(name);
}

/** `listener` hears everything that is in `pieces`, or what was in those up to the one after which it is enough. */
export function readXml(
  pieces: Iterable<Uint8Array>,
  listener: XmlListener,
  isEnough: () => boolean = () => false,
): void {
  const decoder = new TextDecoder();
  let rest = "";

  /** What is complete in `rest`; the beginning of something more stays. */
  function take(isEnd: boolean): void {
    let from = 0;
    for (;;) {
      const markup = rest.indexOf("<", from);
      const textEnd = markup < 0 ? endOfText(rest, from, isEnd) : markup;
      if (textEnd > from) listener.text?.(decode(rest.slice(from, textEnd)));
      from = textEnd;
      const end = markup < 0 ? undefined : markupEnd(rest, markup);
      if (end === undefined) break;
      tell(rest.slice(markup, end), listener);
      from = end;
    }
    rest = rest.slice(from);
    if (rest.length > LONGEST_MARKUP) throw new UserError("it is damaged (a tag in it never ends)");
  }

  for (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true });
    take(false);
    if (isEnough()) return;
  }
  rest += decoder.decode();
  take(true);
}
