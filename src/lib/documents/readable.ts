/** Finds what a page is about, and leaves out the menus, adverts and notices around it. */

import type TurndownService from "turndown";
import { createMarkdown, prepare } from "./markdown.ts";
import { createPlainText } from "./plain-text.ts";
import { readVisible } from "./visible-html.ts";

export interface CleanPage {
  /** What can be seen of the page: HTML in which every element is closed. */
  readonly markup: string;
  readonly title: string;
  /** What addresses in it are relative to. */
  readonly base: string;
  readonly mode: "markdown" | "text";
  /** How long all of its text is. */
  readonly visibleChars: number;
  /** Decodes the entities of a text. */
  readonly decode: (raw: string) => string;
}

export interface ReadableText {
  readonly text: string;
  readonly extractor: "readability" | "html";
}

/** The packages' own types are those of a browser. */
type PageElement = Exclude<Parameters<TurndownService["turndown"]>[0], string> & {
  readonly innerHTML: string;
};

/** An article that is a smaller part of what can be seen is none: the page is something else, or broken. */
const LEAST_PART = 0.1;

/** `undefined` when there is no better way than to show all text as it comes. */
export async function readableText(page: CleanPage): Promise<ReadableText | undefined> {
  const [{ DOMParser }, { Readability }, { default: Turndown }] = await Promise.all([
    import("linkedom/worker"),
    import("@mozilla/readability"),
    import("turndown"),
  ]);
  const least = page.visibleChars * LEAST_PART;

  function parse() {
    const document = new DOMParser().parseFromString(
      `<!doctype html><html><head><title>${escaped(page.title)}</title></head><body>${page.markup}</body></html>`,
      "text/html",
    );
    for (const property of ["baseURI", "documentURI"]) {
      Object.defineProperty(document, property, { value: page.base });
    }
    prepare(document.body);
    // The parser makes a node of every entity, and all that follows takes its time for each node.
    document.body.normalize();
    return document;
  }

  function write(element: PageElement): string {
    if (page.mode === "markdown") return createMarkdown(Turndown, page.base).turndown(element).trim();
    const plain = createPlainText(page.decode, Infinity);
    readVisible(element.innerHTML, [plain], page.decode);
    return plain.written();
  }

  const article = new Readability(parse(), { disableJSONLD: true, serializer: (node) => node }).parse();
  if (article?.content) {
    const text = write(article.content);
    if (text !== "" && (article.textContent ?? "").trim().length >= least)
      return { text, extractor: "readability" };
  }
  if (page.mode === "text") return undefined;
  // A page of links is of no use without them.
  const text = write(parse().body);
  return text.length >= least && text !== "" ? { text, extractor: "html" } : undefined;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
