/** Hits as they came, made fit to show: real addresses, plain text, few and short. */

import type { SearchHit } from "../../core/web.ts";
import type { RawHit } from "./engine.ts";
import { plainText } from "./plain-text.ts";

const LONGEST_TITLE = 200;
const LONGEST_SNIPPET = 600;
const LONGEST_URL = 2_000;
/** How many are looked at, good or not. */
const MOST_LOOKED_AT = 100;

/** What has no address that can be opened is left out, and what has the address of another. */
export function cleanHits(raw: readonly RawHit[], count: number): readonly SearchHit[] {
  const hits = new Map<string, SearchHit>();
  for (const { title, url: address, snippet } of raw.slice(0, MOST_LOOKED_AT)) {
    if (hits.size >= count) break;
    const url = webAddress(address);
    if (url === undefined || hits.has(url)) continue;
    hits.set(url, {
      title: plainText(title, LONGEST_TITLE) || url,
      url,
      snippet: plainText(joined(snippet), LONGEST_SNIPPET),
    });
  }
  return [...hits.values()];
}

/** Some engines give several passages of a page. */
function joined(snippet: unknown): unknown {
  if (!Array.isArray(snippet)) return snippet;
  return snippet.filter((passage) => typeof passage === "string").join(" … ");
}

/** In its usual spelling, where nothing is left that could be seen as something else. */
function webAddress(address: unknown): string | undefined {
  if (typeof address !== "string" || address.length > LONGEST_URL) return undefined;
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  // `https://bank.example@evil.example` is read as the one and leads to the other.
  if (url.username !== "" || url.password !== "") return undefined;
  return url.href.length > LONGEST_URL ? undefined : url.href;
}
