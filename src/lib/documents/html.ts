/** The program of the worker that turns a page into Markdown or plain text. */

import type { WorkerProgram } from "../../core/workers.ts";
import { decodeEntities, XML_ENTITIES } from "../entities.ts";
import { clip, head } from "../text.ts";
import { stripInvisible } from "../visible-characters.ts";
import { createCleanMarkup } from "./clean-markup.ts";
import { createPlainText } from "./plain-text.ts";
import { type CleanPage, type ReadableText, readableText } from "./readable.ts";
import { readVisible } from "./visible-html.ts";

/** A page up to this long is built as a tree, which takes many times its length in memory. */
const MOST_HTML = 1_000_000;
/** Of a longer one, which is mostly scripts as a rule, what is to be seen may be so long. */
const MOST_OF_LARGE = 150_000;
/** What works on trees calls itself for each level, and looks at many elements for each element. */
const DEEPEST = 200;
const MOST_ELEMENTS = 30_000;
/** It also goes up from many elements to the top, which is far only in pages that nobody wrote. */
const MOST_STEPS = 600_000;
const LONGEST_TITLE = 300;
/** Looking one up costs as much as a small page; what makes up more names than this has none worth knowing. */
const MOST_NAMES = 300;
const EMPTY_PAGE = "<!doctype html><html><body></body></html>";

export const htmlProgram: WorkerProgram<"html"> = async ({ html, url, mode, maxChars }) => {
  const byName = await entityNames();
  // At once, because some of what nobody sees counts as space where words are laid out.
  const decode = (raw: string) => stripInvisible(decodeEntities(raw, byName));
  const isLarge = html.length > MOST_HTML;
  const plain = createPlainText(decode, isLarge ? maxChars + 1 : Infinity);
  const clean = createCleanMarkup(decode, isLarge ? MOST_OF_LARGE : MOST_HTML);
  const { title: rawTitle, base, depth, elements, steps } = readVisible(html, [plain, clean], decode);
  const title = clip(decode(rawTitle).replace(/\s+/g, " ").trim(), LONGEST_TITLE);

  const { markup } = clean;
  const visible = plain.written();
  const isTree = markup !== undefined && depth <= DEEPEST && elements <= MOST_ELEMENTS && steps <= MOST_STEPS;
  const readable =
    isTree && visible !== ""
      ? await readIfPossible({
          markup,
          title,
          base: baseOf(base === undefined ? "" : decode(base), url),
          mode,
          visibleChars: visible.length,
          decode,
        })
      : undefined;
  const { text, extractor } = readable ?? { text: visible, extractor: "html" };
  const shown = stripInvisible(text).replaceAll("\u00a0", " ").trim();
  return { title, text: head(shown, maxChars), extractor, truncated: shown.length > maxChars };
};

async function readIfPossible(page: CleanPage): Promise<ReadableText | undefined> {
  try {
    return await readableText(page);
  } catch (error) {
    // Some packages hand on elements as arguments, and a page can have more of them than fit.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The parser that is used anyway knows the two thousand names, and what stands without its semicolon. */
async function entityNames(): Promise<(entity: string) => string | undefined> {
  const { DOMParser } = await import("linkedom/worker");
  const { body: scratch } = new DOMParser().parseFromString(EMPTY_PAGE, "text/html");
  const known = new Map([...XML_ENTITIES, ["&nbsp;", "\u00a0"]]);
  return (entity) => {
    const found = known.get(entity);
    if (found !== undefined || known.size >= MOST_NAMES) return found;
    scratch.innerHTML = entity;
    const text = scratch.textContent ?? entity;
    known.set(entity, text);
    return text;
  };
}

/** A page may say what its addresses are relative to, if that is on the web too. */
function baseOf(stated: string, url: string): string {
  const base = stated.trim() === "" ? null : URL.parse(stated.trim(), url);
  return base !== null && /^https?:$/.test(base.protocol) ? base.href : url;
}
