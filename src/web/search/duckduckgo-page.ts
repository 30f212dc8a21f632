/** Reads DuckDuckGo's page of results, in one pass over its tags and without trusting any of them to be closed. */

import type { RawHit } from "./engine.ts";
import { decodeNames } from "./plain-text.ts";

const TAG = /<([a-zA-Z][a-zA-Z0-9]*)\b([^<>]*)>/g;
const MOST_HITS = 100;
/** Of what stands between two tags. */
const LONGEST_TEXT = 8_000;

/** The hits without advertisements. `undefined` when it is no page of results at all. */
export function parseDuckDuckGoPage(page: string): readonly RawHit[] | undefined {
  const hits: { title: string; url: unknown; snippet: string }[] = [];
  let isPage = false;
  let isAdvertisement = false;
  for (const tag of page.matchAll(TAG)) {
    const [whole, name = "", attributes = ""] = tag;
    const classes = classesOf(attributes);
    if (classes.has("no-results") || classes.has("result--no-result")) isPage = true;
    if (classes.has("result")) isAdvertisement = classes.has("result--ad");
    if (isAdvertisement) continue;
    const textAt = tag.index + whole.length;
    if (classes.has("result__a")) {
      if (hits.length === MOST_HITS) break;
      isPage = true;
      hits.push({ title: textUntilEnd(page, textAt, name), url: targetOf(attributes), snippet: "" });
    } else if (classes.has("result__snippet")) {
      const hit = hits.at(-1);
      if (hit !== undefined) hit.snippet ||= textUntilEnd(page, textAt, name);
    }
  }
  return isPage ? hits : undefined;
}

/** Whether it shows a test for people in the place of results. A hit may well be about such tests, so only tags count. */
export function isRobotTest(page: string): boolean {
  for (const [, , attributes = ""] of page.matchAll(TAG)) {
    if (attribute(ID, attributes) === "challenge-form") return true;
    for (const name of classesOf(attributes)) if (name.startsWith("anomaly-modal")) return true;
  }
  return false;
}

function textUntilEnd(page: string, start: number, name: string): string {
  const text = page.slice(start, start + LONGEST_TEXT);
  const end = text.indexOf(`</${name}`);
  return end === -1 ? text : text.slice(0, end);
}

const CLASS = attributePattern("class");
const ID = attributePattern("id");
const HREF = attributePattern("href");

function attributePattern(name: string): RegExp {
  return new RegExp(`(?<![\\w-])${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, "i");
}

function attribute(pattern: RegExp, attributes: string): string {
  const [, double, single] = pattern.exec(attributes) ?? [];
  return double ?? single ?? "";
}

function classesOf(attributes: string): ReadonlySet<string> {
  return new Set(attribute(CLASS, attributes).split(/\s+/));
}

/** Where a link leads, behind the redirect that some pages put in front of it. */
function targetOf(attributes: string): string | undefined {
  const href = decodeNames(attribute(HREF, attributes));
  const url = URL.parse(href, "https://html.duckduckgo.com/");
  if (url === null || !/(^|\.)duckduckgo\.com$/.test(url.hostname)) return href;
  if (url.pathname === "/l/") return url.searchParams.get("uddg") ?? undefined;
  // The way to an advertiser.
  return url.pathname === "/y.js" ? undefined : url.href;
}
