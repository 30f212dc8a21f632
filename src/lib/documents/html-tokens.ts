/** Takes HTML apart tag by tag, in the way of browsers and without a tree: time and memory grow with its length alone. */

/** By lower-case name, the first of each. The values are as they stand in the source: entities are not decoded. */
export type HtmlAttributes = ReadonlyMap<string, string>;

/** Names are in lower case. `false` from any of them ends the reading. */
export interface HtmlHandler {
  open(name: string, attributes: HtmlAttributes, selfClosing: boolean): boolean;
  close(name: string): boolean;
  /** As it stands in the source. */
  text(raw: string): boolean;
}

/** Their content is no markup and nobody sees it: a browser runs it, or shows something else in its place. */
const UNSEEN_RAW = new Set(["script", "style", "iframe", "noembed", "noframes", "noscript"]);
/** Their content is text in which `<` means nothing. */
const RAW_TEXT = new Set(["title", "textarea"]);

const NO_ATTRIBUTES: HtmlAttributes = new Map();

const tagName = /[a-z][^\s/>]*/iy;
const gap = /[\s/]*/y;
// A name may begin with `=`, and quotes are ordinary characters in it.
const attributeName = /=?[^\s/>=]*/y;
const equals = /\s*=\s*/y;
const bareValue = /[^\s>]*/y;

/** The length of the match at `at`, which may be nothing. */
function lengthOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - at : 0;
}

interface Tag {
  readonly name: string;
  readonly attributes: HtmlAttributes;
  readonly selfClosing: boolean;
  /** Behind its `>`. */
  readonly end: number;
}

/** `undefined` for a tag that the end of the text cuts off. `at` is where its name begins. */
function readTag(html: string, at: number): Tag | undefined {
  let position = at + lengthOf(tagName, html, at);
  const name = html.slice(at, position).toLowerCase();
  let attributes: Map<string, string> | undefined;
  for (;;) {
    position += lengthOf(gap, html, position);
    if (position >= html.length) return undefined;
    if (html[position] === ">") {
      const selfClosing = html[position - 1] === "/";
      return { name, attributes: attributes ?? NO_ATTRIBUTES, selfClosing, end: position + 1 };
    }
    const nameEnd = position + lengthOf(attributeName, html, position);
    const key = html.slice(position, nameEnd).toLowerCase();
    const value = readValue(html, nameEnd);
    if (value === undefined) return undefined;
    attributes ??= new Map();
    if (!attributes.has(key)) attributes.set(key, value.text);
    position = value.end;
  }
}

function readValue(html: string, at: number): { text: string; end: number } | undefined {
  const sign = lengthOf(equals, html, at);
  if (sign === 0) return { text: "", end: at };
  const begin = at + sign;
  const quote = html[begin];
  if (quote === '"' || quote === "'") {
    const end = html.indexOf(quote, begin + 1);
    return end === -1 ? undefined : { text: html.slice(begin + 1, end), end: end + 1 };
  }
  const end = begin + lengthOf(bareValue, html, begin);
  return { text: html.slice(begin, end), end };
}

const emptyComment = /<!---?>/y;
const endOfComment = /--!?>/g;

/** Behind a comment that begins at `at`. */
function commentEnd(html: string, at: number): number {
  const empty = lengthOf(emptyComment, html, at);
  if (empty > 0) return at + empty;
  endOfComment.lastIndex = at + "<!--".length;
  return endOfComment.test(html) ? endOfComment.lastIndex : html.length;
}

const endTags = new Map(
  [...UNSEEN_RAW, ...RAW_TEXT].map((name) => [name, new RegExp(`</${name}(?=[\\s/>])`, "gi")]),
);

/** Where the end tag of a raw element begins. */
function rawEnd(html: string, name: string, at: number): number {
  const end = endTags.get(name);
  if (end === undefined) return at;
  end.lastIndex = at;
  return end.exec(html)?.index ?? html.length;
}

export function readHtml(html: string, handler: HtmlHandler): void {
  let position = 0;
  /** Where the text begins that was not handed on yet. */
  let textStart = 0;

  const flush = (end: number) => end === textStart || handler.text(html.slice(textStart, end));

  while (position < html.length) {
    const bracket = html.indexOf("<", position);
    if (bracket === -1) break;
    const mark = html[bracket + 1] ?? "";
    const isEnd = mark === "/";
    const nameAt = isEnd ? bracket + 2 : bracket + 1;
    if (/[a-z]/i.test(html[nameAt] ?? "")) {
      if (!flush(bracket)) return;
      const tag = readTag(html, nameAt);
      if (tag === undefined) return;
      position = textStart = tag.end;
      if (isEnd) {
        if (!handler.close(tag.name)) return;
      } else if (UNSEEN_RAW.has(tag.name)) {
        position = textStart = rawEnd(html, tag.name, tag.end);
      } else {
        if (!handler.open(tag.name, tag.attributes, tag.selfClosing)) return;
        if (RAW_TEXT.has(tag.name)) position = rawEnd(html, tag.name, tag.end);
      }
    } else if (mark === "!" || mark === "?" || (isEnd && html[nameAt] !== undefined)) {
      if (!flush(bracket)) return;
      position = textStart = html.startsWith("<!--", bracket)
        ? commentEnd(html, bracket)
        : html.indexOf(">", bracket) + 1 || html.length;
    } else {
      position = bracket + 1;
    }
  }
  flush(html.length);
}
