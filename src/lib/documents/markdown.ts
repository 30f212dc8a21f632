/** Turns the elements of a page into Markdown. */

import type TurndownService from "turndown";
import { clip } from "../text.ts";
import { addTables } from "./markdown-tables.ts";

/** The part of an element that is used here. */
interface ContentElement {
  readonly nodeName: string;
  textContent: string | null;
  readonly parentNode: ContentElement | null;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  querySelectorAll(selector: string): Iterable<ContentElement>;
  replaceWith(text: string): void;
}

const LONGEST_LINK = 2_000;
const LONGEST_ALT = 200;
/** Every level of a list moves all that is in it, so that deep ones would become mostly spaces. */
const DEEPEST_INDENT = 8;
/** More digits are no number of an item. */
const HIGHEST_NUMBER = 999_999_999;
const MOST_BLANK = 100;
const LONG_BLANK = /\s{101,}/g;
/** What stands behind headings, for people to take an address from. */
const PERMALINK = /^[#¶§🔗\s]*$/u;
const LANGUAGE = /(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*)([\w+#.-]{1,30})/;

/** Puts into the text what would be lost of it: which boxes are ticked, and of code its language and its lines. */
export function prepare(root: ContentElement): void {
  for (const box of root.querySelectorAll("input")) {
    box.replaceWith(box.getAttribute("checked") === null ? "[ ] " : "[x] ");
  }
  for (const pre of root.querySelectorAll("pre")) {
    for (const lineBreak of pre.querySelectorAll("br")) lineBreak.replaceWith("\n");
    const inner = [...pre.querySelectorAll("code")].slice(0, 1);
    const around = [pre.parentNode, pre.parentNode?.parentNode ?? null];
    for (const element of [pre, ...inner, ...around]) {
      const stated = element?.getAttribute("data-lang") ?? element?.getAttribute("data-language");
      const language = stated ?? LANGUAGE.exec(element?.getAttribute("class") ?? "")?.[1];
      if (language === undefined || language === "") continue;
      pre.setAttribute("data-language", language);
      break;
    }
    // What colours code is of no use and costs time. So do long rows of spaces, in which patterns get lost.
    pre.textContent = (pre.textContent ?? "").replace(LONG_BLANK, (blank) => blank.slice(0, MOST_BLANK));
  }
}

/** `base` is what addresses in the page are relative to. */
export function createMarkdown(Turndown: typeof TurndownService, base: string): TurndownService {
  const turndown = new Turndown({
    headingStyle: "atx",
    hr: "---",
    codeBlockStyle: "fenced",
    emDelimiter: "*",
    br: "",
  });
  // For a reader who takes it for text, backslashes before every underscore are noise.
  turndown.escape = (text) => text;
  addTables(turndown);

  turndown.addRule("code", {
    filter: "pre",
    replacement: (_, node) => fenced(node as ContentElement),
  });

  turndown.addRule("link", {
    filter: "a",
    replacement(content, node) {
      const text = inOneLine(content);
      if (PERMALINK.test(text)) return "";
      const address = resolve((node as ContentElement).getAttribute("href"), base);
      return address === undefined ? content : `[${text}](${address})`;
    },
  });

  turndown.addRule("image", {
    filter: "img",
    replacement(_, node) {
      const element = node as ContentElement;
      const address = resolve(element.getAttribute("src") ?? element.getAttribute("data-src"), base);
      if (address === undefined || !address.startsWith("http")) return "";
      return `![${clip(inOneLine(element.getAttribute("alt") ?? ""), LONGEST_ALT)}](${address})`;
    },
  });

  turndown.addRule("struck", {
    filter: ["del", "s"],
    replacement: (content) => (content.trim() === "" ? content : `~~${content}~~`),
  });

  /** How many items of each list were written. */
  const written = new Map<ContentElement, number>();
  turndown.addRule("item", {
    filter: "li",
    replacement(content, node) {
      const list = (node as ContentElement).parentNode;
      const earlier = list === null ? 0 : (written.get(list) ?? 0);
      if (list !== null) written.set(list, earlier + 1);
      const mark = list?.nodeName === "OL" ? `${firstNumber(list) + earlier}. ` : "- ";
      const text = content.trim();
      if (listsAround(node as ContentElement) > DEEPEST_INDENT) return `${mark}${text}\n`;
      return `${mark}${text.replace(/\n(?=[^\n])/g, `\n${" ".repeat(mark.length)}`)}\n`;
    },
  });
  return turndown;
}

function firstNumber(list: ContentElement): number {
  const start = Number(list.getAttribute("start") ?? 1);
  return Number.isInteger(start) && start >= 0 && start <= HIGHEST_NUMBER ? start : 1;
}

function listsAround(item: ContentElement): number {
  let lists = 0;
  for (let at = item.parentNode; at !== null; at = at.parentNode) {
    if (at.nodeName === "OL" || at.nodeName === "UL") lists += 1;
  }
  return lists;
}

function inOneLine(content: string): string {
  return content
    .replace(/^#+\s+/gm, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** With a fence longer than any in the code. */
function fenced(pre: ContentElement): string {
  const code = (pre.textContent ?? "").replace(/^\n/, "").trimEnd();
  if (code === "") return "";
  const longest = Math.max(2, ...(code.match(/`{3,}/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `\n\n${fence}${pre.getAttribute("data-language") ?? ""}\n${code}\n${fence}\n\n`;
}

/** `undefined` for what leads nowhere: within the page, to a script, or into the address itself. */
function resolve(address: string | null, base: string): string | undefined {
  const url = address === null ? null : URL.parse(address.trim(), base);
  if (url === null || !/^(https?|mailto|tel):$/.test(url.protocol)) return undefined;
  const isHere = url.hash !== "" && url.href.slice(0, -url.hash.length) === base.replace(/#.*$/s, "");
  if (isHere || url.href.length > LONGEST_LINK) return undefined;
  return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
}
