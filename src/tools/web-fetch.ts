/** The tool that reads a page, a file or an image from the web. */

import * as v from "valibot";
import { defineTool, type ToolResult, type ToolResultParts, toolError, toolOk } from "../core/tool.ts";
import type { WebFailure, WebResponse } from "../core/web.ts";
import { EXTERNAL_CONTENT } from "../lib/phrases.ts";
import { clip, head, wellFormed } from "../lib/text.ts";
import { whole } from "./parameters.ts";
import { type ReadContent, readResponse, type WebText } from "./web-reading.ts";

const MAX_BYTES = 5_000_000;
const TIMEOUT_MS = 30_000;
const DEFAULT_CHARS = 50_000;
const MOST_CHARS = 100_000;
/** Of the text as it is written in JSON, where quotes and line ends count twice. */
const MOST_JSON_CHARS = 120_000;
/** With everything around the text, so that nobody cuts the JSON. */
const RESULT_CHARS = 140_000;
const ERROR_PAGE_CHARS = 4_000;
const LONGEST_ADDRESS = 2_000;

const ACCEPT = "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.9,*/*;q=0.5";

export const webFetch = defineTool({
  name: "web_fetch",
  section: "web",
  description:
    "Read a web page as Markdown or plain text, or a text file, JSON, PDF or image from the web. " +
    "Scripts are not run and nobody is logged in. Gives JSON with the text in it.",
  parameters: v.strictObject({
    url: v.pipe(v.string(), v.description("The http or https address")),
    extractMode: v.optional(
      v.pipe(
        v.picklist(["markdown", "text"]),
        v.description("markdown keeps links and headings (default); text is shorter"),
      ),
    ),
    maxChars: whole(`The most characters of text (default ${DEFAULT_CHARS}, at most ${MOST_CHARS})`, 100),
  }),
  aliases: { extract_mode: "extractMode", max_chars: "maxChars" },
  readOnly: true,
  isLookup: true,
  resultLimit: RESULT_CHARS,

  async execute({ url, extractMode: mode = "markdown", maxChars = DEFAULT_CHARS }, { ports, signal }) {
    const response = await ports.web.fetch(url.trim(), {
      headers: { accept: ACCEPT },
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
      signal,
    });
    if (!response.ok) return notFetched(url, response);
    const isError = response.status >= 400;
    const most = Math.min(maxChars, isError ? ERROR_PAGE_CHARS : MOST_CHARS);
    const content = await readResponse(response, { mode, maxChars: most, ports, signal });
    if (isError) return answeredWithError(response, content);
    return content.ok ? describe(response, content) : cannotBeRead(response, content.reason);
  },
});

function notFetched(url: string, { kind, reason }: WebFailure): ToolResult {
  const refused = kind === "refused";
  const error = refused
    ? `refused, and asking again does not change that: ${reason}`
    : `the request failed: ${reason}`;
  return toolError(JSON.stringify({ error, url: shownAddress(url) }), { refused });
}

function cannotBeRead(response: WebResponse, reason: string): ToolResult {
  return toolError(JSON.stringify({ error: reason, ...origin(response) }));
}

/** What the server says to it often tells what to do. */
function answeredWithError(response: WebResponse, content: ReadContent): ToolResult {
  const fields = { error: `the server answered with status ${response.status}`, ...origin(response) };
  if (!content.ok || content.isEmpty || content.images) return toolError(JSON.stringify(fields));
  const { text } = withBanner(content);
  return toolError(JSON.stringify({ ...fields, untrusted: true, text }), { external: true });
}

function describe(response: WebResponse, content: WebText): ToolResult {
  const { text, isCut } = withBanner(content);
  const result = {
    ...origin(response),
    extractor: content.extractor,
    truncated: content.truncated || response.truncated || isCut,
    length: text.length,
    untrusted: true,
    ...(response.downgraded && {
      note: "a redirect led from https to http, so that anybody on the way could have changed this",
    }),
    text,
  };
  const parts: ToolResultParts = { external: true, ...(content.images && { images: content.images }) };
  return toolOk(JSON.stringify(result), parts);
}

function origin({ url, finalUrl, status }: WebResponse) {
  return { url: shownAddress(url), finalUrl: shownAddress(finalUrl), status };
}

function shownAddress(url: string): string {
  return clip(wellFormed(url), LONGEST_ADDRESS);
}

/** Cut where its JSON would be too long. */
function withBanner({ text: content }: WebText): { text: string; isCut: boolean } {
  const whole = wellFormed(`${EXTERNAL_CONTENT}\n\n${content}`);
  let text = whole;
  for (let size = jsonSize(text); size > MOST_JSON_CHARS; size = jsonSize(text)) {
    text = head(text, Math.floor((text.length * MOST_JSON_CHARS) / size));
  }
  return { text, isCut: text.length < whole.length };
}

function jsonSize(text: string): number {
  return JSON.stringify(text).length;
}
