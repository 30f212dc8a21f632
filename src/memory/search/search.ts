/** Finds what is remembered and what was said: one pass over the files, with no index to build, keep or break. */

import type { MemoryHit, MemorySearch } from "../../core/memory.ts";
import type { Clock, FileSystem, Log } from "../../core/platform.ts";
import type { SessionStore } from "../../core/session.ts";
import { createBreather } from "../../lib/breather.ts";
import { errorCode } from "../../lib/error-code.ts";
import { excerptOf } from "./excerpt.ts";
import { type Alphabet, createAlphabet } from "./fold.ts";
import { createMomentOf } from "./moments.ts";
import { createRanking, type Found } from "./ranking.ts";
import { scan } from "./scan.ts";
import { listSources, type Place, readPlace } from "./sources.ts";
import { countsOf, parseQuery, type Query } from "./words.ts";

/** Files that are read together, so that one is looked through while others are fetched. */
const SIDE_BY_SIDE = 4;

export interface MemorySearchOptions {
  readonly files: FileSystem;
  readonly sessions: Pick<SessionStore, "files">;
  readonly log: Log;
  readonly clock: Pick<Clock, "giveWay">;
  /** Absolute and real. */
  readonly workspace: string;
  /** Of stored times that name none. */
  readonly timeZone: string;
  /** Takes secrets out of what is shown, before it is cut. */
  readonly mask?: (text: string) => string;
}

export function createMemorySearch({
  files,
  sessions,
  log,
  clock,
  workspace,
  timeZone,
  mask = (text) => text,
}: MemorySearchOptions): MemorySearch {
  let alphabet: Alphabet | undefined;

  /** Runs `work`. A file that cannot be read costs what is in it, and the rest is worth having. */
  async function unlessUnreadable<T>(path: string, signal: AbortSignal, work: () => Promise<T>) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      // A session that began anew since it was listed lies elsewhere.
      if (errorCode(error) !== "ENOENT")
        log.warn("Left a file out of a search of the memory", { path, error });
      return undefined;
    }
  }

  /** `undefined` when it is not there any more, or only as part of a secret. */
  async function show({ place, at }: Found<Place>, query: Query, weights: readonly number[]) {
    const said = await readPlace(files, place);
    const isThere = said !== undefined && countsOf(query, said.text).some((count) => count > 0);
    const excerpt = isThere ? excerptOf(said.text, { query, weights, mask }) : undefined;
    if (said === undefined || excerpt === undefined) return undefined;
    const time = Number.isFinite(at) ? new Date(at).toISOString() : undefined;
    return { source: mask(place.source.name), at: time, role: said.role, excerpt };
  }

  return {
    async search(text, { limit, signal, turn }) {
      signal.throwIfAborted();
      alphabet ??= createAlphabet();
      const query = parseQuery(text, alphabet);
      const ranking = createRanking<Place>(query.words.length);
      const momentOf = createMomentOf(timeZone);
      const options = { files, query, ranking, momentOf, turn, signal, breather: createBreather(clock) };
      const sources = (await listSources({ files, sessions, workspace })).values();
      const scanThem = async () => {
        for (const source of sources)
          await unlessUnreadable(source.path, signal, () => scan(source, options));
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, scanThem));

      const hits: MemoryHit[] = [];
      const weights = ranking.weights();
      for (const found of ranking.best()) {
        if (hits.length >= limit) break;
        await clock.giveWay();
        signal.throwIfAborted();
        const hit = await unlessUnreadable(found.place.source.path, signal, () =>
          show(found, query, weights),
        );
        if (hit !== undefined) hits.push(hit);
      }
      return hits;
    },
  };
}
