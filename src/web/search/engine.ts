/** What a search engine is: how it is asked, and what its answers mean. */

import type { WebSearch } from "../../core/web.ts";

type TimeRange = NonNullable<Parameters<WebSearch["search"]>[1]["timeRange"]>;

export interface EngineQuery {
  readonly query: string;
  readonly count: number;
  readonly timeRange: TimeRange | undefined;
  /** The owner's key, or the address of the owner's own instance; empty for an engine that needs neither. */
  readonly credential: string;
  /** Milliseconds since the epoch, for engines that want a date. */
  readonly now: number;
}

export interface EngineRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One hit as it came. Nothing of it is known to be what it should be. */
export interface RawHit {
  readonly title: unknown;
  readonly url: unknown;
  readonly snippet: unknown;
}

/** What an answer means that holds no hits. */
export type Verdict =
  | "nothingFound"
  | "wrongKey"
  | "noCredit"
  | "tooMany"
  | "wrongQuery"
  | "robotTest"
  | "noJson"
  | "noSources"
  | "needsLogin"
  | "wrongAddress"
  | "outOfOrder";

export interface SearchEngine {
  /** For people. */
  readonly label: string;
  /** What it needs of the owner, and the environment variable that usually has it. */
  readonly needs?: { readonly what: "key" | "address"; readonly variable: string };
  /** It is asked once at a time, because it takes several at once for an attack. */
  readonly oneAtATime?: boolean;
  /** It cannot search by time. */
  readonly isTimeless?: boolean;
  request(query: EngineQuery): EngineRequest;
  /** `undefined` when the body is not what the engine is known to answer. */
  parse(body: string): readonly RawHit[] | undefined;
  /** Only for what the status alone does not tell. */
  judge?(status: number, body: string): Verdict | undefined;
}

const DAY_MS = 86_400_000;
const DAYS: Readonly<Record<TimeRange, number>> = { day: 1, week: 7, month: 31, year: 366 };

/** Where a time range begins, for engines that know dates and no ranges. */
export function startOf(timeRange: TimeRange, now: number): string {
  return new Date(now - DAYS[timeRange] * DAY_MS).toISOString();
}
