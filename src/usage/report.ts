/** Adds up what calls used, by day, model, origin or session. */

import type { UsageGroup, UsageGrouping, UsageRecord, UsageSummary, UsageTotals } from "../core/usage.ts";
import { createDayOf } from "../lib/local-day.ts";

/** Groups that are kept apart, so that memory does not grow with the number of sessions. */
const MAX_GROUPS = 10_000;
/** Models that are named because the cost of their calls is not known. */
const MAX_UNPRICED = 5;

type Sums = { -readonly [Key in keyof UsageTotals]: UsageTotals[Key] };

function noSums(): Sums {
  return { calls: 0, failed: 0, estimated: 0, input: 0, output: 0, cached: 0, reasoning: 0, unpriced: 0 };
}

function add(sums: Sums, record: UsageRecord): void {
  sums.calls++;
  if (record.failed) sums.failed++;
  if (record.estimated) sums.estimated++;
  sums.input += record.input;
  sums.output += record.output;
  sums.cached += record.cached;
  sums.reasoning += record.reasoning;
  if (record.cost !== undefined) sums.cost = (sums.cost ?? 0) + record.cost;
  else if (isUnpriced(record)) sums.unpriced++;
}

/** A call that never reached the model used nothing, and nothing is free at any price. */
function isUnpriced({ cost, input, output }: UsageRecord): boolean {
  return cost === undefined && input + output > 0;
}

/** Without the noise that adding fractions makes. */
function finished(sums: Sums): UsageTotals {
  return sums.cost === undefined ? sums : { ...sums, cost: Number(sums.cost.toPrecision(12)) };
}

function modelName({ provider, model }: UsageRecord): string {
  return model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
}

function namer(by: UsageGrouping, timeZone: string): (record: UsageRecord) => string {
  switch (by) {
    case "day": {
      const dayOf = createDayOf(timeZone);
      return ({ time }) => dayOf(Date.parse(time));
    }
    case "model":
      return modelName;
    case "origin":
      return ({ origin }) => origin;
    case "session":
      return ({ session }) => session;
  }
}

function compareNames(a: UsageGroup, b: UsageGroup): number {
  return a.name < b.name ? -1 : 1;
}

function compareTokens(a: UsageGroup, b: UsageGroup): number {
  return b.input + b.output - (a.input + a.output) || compareNames(a, b);
}

export interface SummariseOptions {
  readonly by: UsageGrouping;
  /** In whose days to count. */
  readonly timeZone: string;
  readonly maxGroups?: number;
}

/** Takes the records one by one and keeps none. */
export async function summarise(
  records: AsyncIterable<UsageRecord>,
  { by, timeZone, maxGroups = MAX_GROUPS }: SummariseOptions,
): Promise<UsageSummary> {
  const nameOf = namer(by, timeZone);
  const groups = new Map<string, Sums>();
  const total = noSums();
  let others: Sums | undefined;
  /** How many calls of each model have no known cost. */
  const unpriced = new Map<string, number>();

  function countUnpriced(record: UsageRecord): void {
    const name = modelName(record);
    const count = unpriced.get(name) ?? 0;
    if (count > 0 || unpriced.size < maxGroups) unpriced.set(name, count + 1);
  }

  function groupOf(name: string): Sums {
    const known = groups.get(name);
    if (known !== undefined) return known;
    if (groups.size >= maxGroups) {
      others ??= noSums();
      return others;
    }
    const sums = noSums();
    groups.set(name, sums);
    return sums;
  }

  for await (const record of records) {
    add(groupOf(nameOf(record)), record);
    add(total, record);
    if (isUnpriced(record)) countUnpriced(record);
  }
  const named = [...groups].map(([name, sums]) => ({ name, ...finished(sums) }));
  return {
    groups: named.sort(by === "day" ? compareNames : compareTokens),
    ...(others === undefined ? {} : { others: finished(others) }),
    total: finished(total),
    unpricedModels: [...unpriced]
      .sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1))
      .slice(0, MAX_UNPRICED)
      .map(([name]) => name),
  };
}
