/** Makes text, or an image, of what a web server answered. */

import { MAX_IMAGE_BYTES } from "../core/media.ts";
import type { Image } from "../core/model.ts";
import type { ToolPorts } from "../core/tool.ts";
import type { WebResponse } from "../core/web.ts";
import { asBuffer } from "../lib/bytes.ts";
import { decodeText } from "../lib/charset.ts";
import { layOutJson } from "../lib/json-layout.ts";
import { PAGE_WITHOUT_TEXT } from "../lib/phrases.ts";
import { head, oneLine } from "../lib/text.ts";
import { stripInvisible } from "../lib/visible-characters.ts";
import { contentOf } from "./web-content.ts";

export interface WebText {
  readonly ok: true;
  readonly text: string;
  /** How the text was found: by the one who read the page, or by the kind of the answer. */
  readonly extractor: "readability" | "html" | "jina" | "json" | "raw" | "pdf" | "image";
  /** There was more in what arrived. */
  readonly truncated: boolean;
  /** The text only says that there is none. */
  readonly isEmpty: boolean;
  readonly images?: readonly Image[];
}

/** `reason` says what is wrong with the answer. */
export type ReadContent = WebText | { readonly ok: false; readonly reason: string };

export interface ReadingOptions {
  readonly mode: "markdown" | "text";
  readonly maxChars: number;
  readonly ports: Pick<ToolPorts, "workers" | "pageReader">;
  readonly signal: AbortSignal;
}

const WORKER_MS = 20_000;
/** Longer JSON is shown as it came. */
const MOST_LAID_OUT = 1_000_000;
const MOST_PAGES = 200;
const NAME_CHARS = 80;
const LONGEST_LINK = 2_000;

const ELSEWHERE = "download it with exec and read it with read_file";

export async function readResponse(response: WebResponse, options: ReadingOptions): Promise<ReadContent> {
  const type = response.headers["content-type"] ?? "";
  const content = contentOf(response.body, type);
  switch (content.kind) {
    case "html":
      return readPage(response, decodeText(response.body, type, { markup: true }), options);
    case "json":
      return readJson(decodeText(response.body, type, { markup: false }), options.maxChars);
    case "text":
      return text(decodeText(response.body, type, { markup: /xml/.test(type) }), "raw", options.maxChars);
    case "pdf":
      return readPdf(response, options);
    case "image":
      return readImage(response, content.mime);
    case "binary":
      return {
        ok: false,
        reason: `it is no text (${oneLine(content.type, NAME_CHARS)}); if you need the file, ${ELSEWHERE}`,
      };
  }
}

/** `whole` may be more than is of use. */
function text(whole: string, extractor: WebText["extractor"], maxChars: number): WebText {
  // Twice as much is enough even where half of it is invisible, and nobody strips megabytes.
  const some = head(whole, maxChars * 2);
  const seen = stripInvisible(some).trim();
  const isEmpty = seen === "";
  return {
    ok: true,
    text: isEmpty ? "(The answer is empty.)" : head(seen, maxChars),
    extractor,
    truncated: seen.length > maxChars || some.length < whole.length,
    isEmpty,
  };
}

function readJson(source: string, maxChars: number): WebText {
  // One character more tells that there is more.
  const laidOut = source.length > MOST_LAID_OUT ? undefined : layOutJson(source, maxChars + 1);
  return laidOut === undefined ? text(source, "raw", maxChars) : text(laidOut, "json", maxChars);
}

async function readPage(
  response: WebResponse,
  html: string,
  { mode, maxChars, ports, signal }: ReadingOptions,
): Promise<ReadContent> {
  const read = response.status < 400 ? await ports.pageReader?.read(response, signal) : undefined;
  if (read !== undefined) return withTitle(text(read.text, "jina", maxChars), read.title);

  const job = { html, url: response.finalUrl, mode, maxChars };
  const outcome = await ports.workers.run("html", job, { timeoutMs: WORKER_MS, signal });
  if (!outcome.ok) return { ok: false, reason: `the page cannot be read: ${outcome.reason}` };
  const { title, extractor, truncated, text: found } = outcome.output;
  if (found === "") {
    const next = refreshOf(html, response);
    const text =
      next === undefined
        ? PAGE_WITHOUT_TEXT
        : `(The page shows no text and leads on to ${next}, so fetch that instead.)`;
    return { ok: true, text, extractor, truncated, isEmpty: next === undefined };
  }
  return withTitle({ ok: true, text: found, extractor, truncated, isEmpty: false }, title);
}

const REFRESH = /^\s*\d*(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)/i;
const META = /<meta\b[^<>]{0,2000}>/gi;

/** Where a browser would go on to by itself, by what the server or the page says. */
function refreshOf(html: string, { headers, finalUrl }: WebResponse): string | undefined {
  const metas = (html.match(META) ?? []).filter((tag) => /\bhttp-equiv\s*=\s*["']?refresh\b/i.test(tag));
  const [, double, single] = /\bcontent\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(metas[0] ?? "") ?? [];
  const stated = headers["refresh"] ?? double ?? single ?? "";
  const url = URL.parse((REFRESH.exec(stated)?.[1] ?? "").trim().replaceAll("&amp;", "&"), finalUrl);
  if (url === null || !/^https?:$/.test(url.protocol) || url.href === finalUrl) return undefined;
  return url.href.length > LONGEST_LINK ? undefined : url.href;
}

/** Above the text, unless the text begins with it. */
function withTitle(page: WebText, stated: string): WebText {
  const title = oneLine(stripInvisible(stated), 300);
  const [first = ""] = page.text.split("\n", 1);
  if (title === "" || page.isEmpty || first.replace(/^#+\s*/, "") === title) return page;
  return { ...page, text: `# ${title}\n\n${page.text}` };
}

async function readPdf(
  { body, truncated }: WebResponse,
  { maxChars, ports, signal }: ReadingOptions,
): Promise<ReadContent> {
  if (truncated) return { ok: false, reason: `the PDF is larger than ${body.length} bytes; ${ELSEWHERE}` };
  const job = { bytes: new Uint8Array(body), firstPage: 1, lastPage: MOST_PAGES, maxChars };
  const outcome = await ports.workers.run("pdf", job, { timeoutMs: WORKER_MS, signal });
  if (!outcome.ok) return { ok: false, reason: `the PDF cannot be read: ${outcome.reason}` };
  const { pages, pageCount, truncated: isCut } = outcome.output;
  const shown = pages.map((page, index) => `[Page ${index + 1} of ${pageCount}]\n${page}`).join("\n\n");
  const result = text(shown, "pdf", maxChars);
  return { ...result, truncated: result.truncated || isCut || pages.length < pageCount };
}

function readImage({ body, truncated, finalUrl }: WebResponse, mime: Image["mime"]): ReadContent {
  if (truncated || body.length > MAX_IMAGE_BYTES) {
    const size = truncated ? `more than ${body.length}` : body.length;
    return { ok: false, reason: `the image has ${size} bytes, and the most is ${MAX_IMAGE_BYTES}` };
  }
  const data = asBuffer(body).toString("base64");
  const name = nameOf(finalUrl);
  return {
    ok: true,
    text: `(The image "${name}": ${mime}, ${body.length} bytes)`,
    extractor: "image",
    truncated: false,
    isEmpty: false,
    images: [{ mime, data, name }],
  };
}

function nameOf(url: string): string {
  const last = URL.parse(url)?.pathname.split("/").at(-1) ?? "";
  const name = last.replace(/[^\w.-]+/g, "_").slice(-NAME_CHARS);
  return name === "" ? "image" : name;
}
