/** The tool that searches the web. */

import * as v from "valibot";
import { defineTool, toolError, toolOk } from "../core/tool.ts";
import type { SearchHit } from "../core/web.ts";
import { EXTERNAL_CONTENT } from "../lib/phrases.ts";
import { oneLine, wellFormed } from "../lib/text.ts";
import { stripInvisible } from "../lib/visible-characters.ts";
import { whole } from "./parameters.ts";

/** What the strictest of the engines takes. */
const LONGEST_QUERY = 400;

export const webSearch = defineTool({
  name: "web_search",
  section: "web",
  description:
    "Search the web. Gives titles, addresses and short excerpts; use web_fetch to read a page in full.",
  parameters: v.strictObject({
    query: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(LONGEST_QUERY),
      v.description("What to search for, in a few words"),
    ),
    count: whole("How many results", 1, 10),
    timeRange: v.optional(
      v.pipe(
        v.picklist(["day", "week", "month", "year"]),
        v.description("Only what is not older than this (default: of any age)"),
      ),
    ),
  }),
  readOnly: true,
  isLookup: true,

  async execute({ query, count, timeRange }, { signal, ports: { search } }) {
    const wanted = wellFormed(stripInvisible(query)).trim();
    if (wanted === "") return toolError("Cannot search the web: the query is blank");
    const outcome = await search.search(wanted, {
      count: count ?? search.defaultCount,
      ...(timeRange && { timeRange }),
      signal,
    });
    if (!outcome.ok) return toolError(`Cannot search the web: ${outcome.reason}`);
    const { hits, note } = outcome;
    const shown = oneLine(wanted, LONGEST_QUERY);
    const title = hits.length === 0 ? `No results for: ${shown}` : `Results for: ${shown}`;
    const lines = [EXTERNAL_CONTENT, title, ...(note === undefined ? [] : [`(${note})`])];
    return toolOk([lines.join("\n"), ...hits.map(describe)].join("\n\n"), { external: true });
  },
});

function describe({ title, url, snippet }: SearchHit, index: number): string {
  return [`${index + 1}. ${title}`, `   ${url}`, ...(snippet === "" ? [] : [`   ${snippet}`])].join("\n");
}
