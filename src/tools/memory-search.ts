/** The tool that finds what was said and remembered. */

import * as v from "valibot";
import type { MemoryHit } from "../core/memory.ts";
import { defineTool, toolError, toolOk } from "../core/tool.ts";
import { nothingRemembered } from "../lib/phrases.ts";
import { isVisible, oneLine, wellFormed } from "../lib/text.ts";
import { whole } from "./parameters.ts";

const LONGEST_QUERY = 500;
const DEFAULT_LIMIT = 8;
const LONGEST_SOURCE = 200;

export const memorySearch = defineTool({
  name: "memory_search",
  description:
    "Search all that was said in every conversation so far, and the notes in memory/, also what you do not see any more. Gives excerpts, the best first, with time and source. Use it before you say that you do not know or remember something.",
  parameters: v.strictObject({
    query: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(LONGEST_QUERY),
      v.description("A few words that were probably used, in the language they were used in"),
    ),
    limit: whole(`How many results (default ${DEFAULT_LIMIT})`, 1, 20),
  }),
  aliases: {
    q: "query",
    text: "query",
    keywords: "query",
    max_results: "limit",
    count: "limit",
    top_k: "limit",
  },
  readOnly: true,

  async execute({ query, limit = DEFAULT_LIMIT }, { signal, turn, ports: { memory } }) {
    const wanted = wellFormed(query);
    if (!isVisible(wanted)) return toolError("Cannot search the memory: the query is blank");
    const hits = await memory.search(wanted, { limit, signal, turn });
    if (hits.length === 0) return toolOk(nothingRemembered(oneLine(wanted, LONGEST_QUERY)));
    return toolOk(hits.map(describe).join("\n"));
  },
});

function describe({ at, source, role, excerpt }: MemoryHit, index: number): string {
  const time = at === undefined ? "" : `[${at.slice(0, 16).replace("T", " ")} UTC] `;
  const who = role === undefined ? "" : ` (${role})`;
  return `${index + 1}. ${time}${oneLine(source, LONGEST_SOURCE)}${who}: ${excerpt}`;
}
