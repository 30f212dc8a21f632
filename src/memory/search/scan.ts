/** Looks through one file for passages with a word of the query in them. */

import type { FileSystem } from "../../core/platform.ts";
import type { Breather } from "../../lib/breather.ts";
import { passagesOf } from "./passages.ts";
import type { Ranking } from "./ranking.ts";
import { isOthers } from "./said.ts";
import { type Place, type Source, saidIn } from "./sources.ts";
import { type Block, linesOf, wholeLines } from "./whole-lines.ts";
import { countsOf, type Query } from "./words.ts";

export interface ScanOptions {
  readonly files: Pick<FileSystem, "stream">;
  readonly query: Query;
  readonly ranking: Ranking<Place>;
  /** Milliseconds since the epoch. */
  readonly momentOf: (stored: string | undefined) => number | undefined;
  /** What was said in this turn is passed over. */
  readonly turn: string | undefined;
  readonly signal: AbortSignal;
  readonly breather: Breather;
}

interface Candidate {
  readonly text: string;
  readonly timestamp: string | undefined;
  /** In the block's bytes. */
  readonly from: number;
  readonly to: number;
  readonly lineLength: number;
}

/** Rejects with the system's error, and with the signal's reason. */
export async function scan(source: Source, options: ScanOptions): Promise<void> {
  const { files, query, ranking, momentOf, turn, signal, breather } = options;

  function momentIn(timestamp: string | undefined): number {
    if (source.holds === "always") return Number.POSITIVE_INFINITY;
    return momentOf(timestamp) ?? momentOf(source.holds?.day) ?? Number.NEGATIVE_INFINITY;
  }

  function consider({ at }: Block, { text, timestamp, from, to, lineLength }: Candidate): void {
    const counts = countsOf(query, text);
    if (counts.every((count) => count === 0)) return;
    ranking.add({ counts, length: text.length, lineLength }, () => ({
      place: { source, from: at + from, to: at + to },
      at: momentIn(timestamp),
    }));
  }

  /** A line is parsed only when a word can be in it. */
  function considerLines(block: Block): void {
    for (const { from, to } of linesOf(block)) {
      if (isOthers(block.bytes, from)) continue;
      const line = block.bytes.toString("utf8", from, to);
      ranking.sawLine(line.length);
      const said = query.mayMatch(line) ? saidIn(source, line) : undefined;
      if (said === undefined || (turn !== undefined && said.turn === turn)) continue;
      consider(block, { ...said, from, to, lineLength: line.length });
    }
  }

  // A time holds for all that follows it, to the next one.
  let timestamp: string | undefined;
  function considerPassages(block: Block): void {
    for (const { text, stamp, from, to } of passagesOf(block)) {
      timestamp = stamp ?? timestamp;
      ranking.sawLine(text.length);
      if (query.mayMatch(text)) consider(block, { text, timestamp, from, to, lineLength: text.length });
    }
  }

  const considerAll = source.kind === "markdown" ? considerPassages : considerLines;
  for await (const block of wholeLines(files.stream(source.path, { signal }))) {
    await breather.take(block.bytes.length);
    considerAll(block);
  }
}
