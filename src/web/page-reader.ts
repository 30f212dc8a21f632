/** Jina's reader, which fetches pages on our behalf, runs their scripts and gives them as Markdown. */

import type { Log } from "../core/platform.ts";
import type { GuardedFetch, PageReader } from "../core/web.ts";
import { judgeAddress } from "../lib/address.ts";
import { isObject } from "../lib/is-object.ts";
import { parseJson } from "../lib/parse-json.ts";
import { parseWebAddress } from "../lib/web-address.ts";

const READER = "https://r.jina.ai/";
const MOST_BYTES = 5_000_000;
const TIMEOUT_MS = 25_000;
const ABOUT_THE_KEY: ReadonlySet<number> = new Set([401, 402, 403, 429]);

/** Names of parameters under which addresses carry a right to what they lead to. */
const RIGHTS =
  /token|secret|passw|pwd|api_?-?key|^key$|auth|credential|sig$|signature|session|^sid$|^code$|^jwt$|^x-(?:amz|goog)-/i;

export interface PageReaderOptions {
  readonly web: GuardedFetch;
  readonly log: Log;
  readonly key?: string | undefined;
}

export function createPageReader({ web, log, key = "" }: PageReaderOptions): PageReader {
  let isTold = false;
  return {
    async read({ url, finalUrl, isListed }, signal) {
      const address = tellable(finalUrl);
      if (isListed || address === undefined || tellable(url) === undefined) return undefined;
      const response = await web.fetch(READER + address, {
        headers: { accept: "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }) },
        maxBytes: MOST_BYTES,
        maxRedirects: 0,
        timeoutMs: TIMEOUT_MS,
        signal,
      });
      if (response.ok && response.status !== 200) {
        const { status } = response;
        // A key that is wrong or used up would go unnoticed, since the page is read here all the same.
        const level = ABOUT_THE_KEY.has(status) && !isTold ? "warn" : "debug";
        isTold ||= level === "warn";
        log[level]("Jina's reader did not read a page", { status });
      }
      if (!response.ok || response.status !== 200 || response.truncated) return undefined;
      return parseAnswer(new TextDecoder().decode(response.body));
    },
  };
}

/** What somebody else may know of: `undefined` for what gives rights, and for what is nobody else's to reach. */
function tellable(text: string): string | undefined {
  const parsed = parseWebAddress(text);
  if (!parsed.ok || parsed.kind === "local") return undefined;
  const { url, host, kind } = parsed;
  if (kind === "address" && !judgeAddress(host, []).ok) return undefined;
  return [...url.searchParams.keys()].some((name) => RIGHTS.test(name)) ? undefined : url.href;
}

function parseAnswer(body: string): { title: string; text: string } | undefined {
  const data = dataOf(body);
  if (!isObject(data) || typeof data["content"] !== "string" || data["content"].trim() === "")
    return undefined;
  return { title: typeof data["title"] === "string" ? data["title"] : "", text: data["content"] };
}

function dataOf(body: string): unknown {
  const answer = parseJson(body);
  return isObject(answer) ? answer["data"] : undefined;
}
