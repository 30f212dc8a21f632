/** `nanobot usage`: what calls to models used, and what they cost. */

import { UserError } from "../core/errors.ts";
import { type UsageGrouping, type UsageSummary, type UsageTotals, usageGroupings } from "../core/usage.ts";
import { quote } from "../lib/file-error.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine } from "../lib/text.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption } from "./command.ts";
import { requireSince } from "./since.ts";

const LONGEST_NAME = 60;

function requireGrouping(text: string): UsageGrouping {
  const by = usageGroupings.find((grouping) => grouping === text);
  if (by !== undefined) return by;
  throw new UserError(`Cannot group by ${quote(text)}`, { hint: "Say --by day, model, origin or session" });
}

const count = new Intl.NumberFormat("en");

/** As many decimals for a whole table, so that its column of costs can be read at a glance. */
function costFormat(total: UsageTotals): (totals: UsageTotals) => string {
  const digits = (total.cost ?? 0) < 1 ? 4 : 2;
  const format = new Intl.NumberFormat("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  const smallest = 10 ** -digits;
  return ({ cost, unpriced }) => {
    if (cost === undefined) return "";
    const isTiny = cost > 0 && cost < smallest;
    // What is not known comes on top, so that "less than" would be wrong.
    if (unpriced > 0) return `≥ $${format.format(isTiny ? 0 : cost)}`;
    return isTiny ? `< $${format.format(smallest)}` : `$${format.format(cost)}`;
  };
}

/** One line a group, the first cell aligned to the left and the numbers to the right. */
function table(by: UsageGrouping, summary: UsageSummary, width: (text: string) => number): string {
  const { groups, others, total } = summary;
  const cost = costFormat(total);
  const row = (name: string, totals: UsageTotals): readonly string[] => {
    const guessed = totals.estimated > 0 ? "~" : "";
    return [
      oneLine(name, LONGEST_NAME),
      count.format(totals.calls),
      ...(total.failed > 0 ? [count.format(totals.failed)] : []),
      guessed + count.format(totals.input),
      count.format(totals.cached),
      guessed + count.format(totals.output),
      count.format(totals.reasoning),
      cost(totals),
    ];
  };
  const failed = total.failed > 0 ? ["failed"] : [];
  const head = [by, "calls", ...failed, "in", "cached", "out", "reasoning", "cost"];
  const body = groups.map(({ name, ...totals }) => row(name, totals));
  if (others !== undefined) body.push(row("(others)", others));
  const foot = row("total", total);

  const widths = head.map(() => 0);
  for (const cells of [head, ...body, foot]) {
    for (const [column, cell] of cells.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, width(cell));
    }
  }
  const line = (cells: readonly string[]): string => {
    const aligned = cells.map((cell, column) => {
      const space = " ".repeat((widths[column] ?? 0) - width(cell));
      return column === 0 ? cell + space : space + cell;
    });
    return `${aligned.join("  ").trimEnd()}\n`;
  };
  const rule = `${"─".repeat(widths.reduce((sum, cells) => sum + cells + 2, -2))}\n`;
  return [line(head), ...body.map(line), rule, line(foot)].join("");
}

async function run({ app, options, signal }: CommandContext): Promise<ExitCode> {
  const { terminal, clock } = app.platform;
  const by = requireGrouping(textOption(options, "by") ?? "day");
  const store = await app.usage();
  const wanted = textOption(options, "since");
  const since = wanted === undefined ? undefined : requireSince(wanted, clock.now(), store.timeZone);
  const summary = await store.summarise({ by, signal, ...(since === undefined ? {} : { since }) });
  if (options["json"] === true) {
    const from = since === undefined ? {} : { since: new Date(since).toISOString() };
    terminal.out(`${safeJson({ by, timeZone: store.timeZone, ...from, ...summary }, 2)}\n`);
    return 0;
  }
  if (summary.total.calls > 0) terminal.out(table(by, summary, terminal.width));
  else terminal.err(`No model calls are recorded ${since === undefined ? "yet" : "since then"}.\n`);
  const { unpricedModels } = summary;
  // A script that keeps stderr asked for errors, and this is advice.
  if (unpricedModels.length > 0 && terminal.stderrIsTty) terminal.err(askForPrices(unpricedModels));
  return 0;
}

function askForPrices(models: readonly string[]): string {
  const names = models.map((name) => oneLine(name, LONGEST_NAME));
  return `Set modelPrices for ${names.join(", ")} to see what all calls cost.\n`;
}

export const command = defineCommand({
  about: "Show what calls to models used and cost",
  options: {
    by: { type: "string", value: "GROUP", about: "group by day (the default), model, origin or session" },
    since: {
      type: "string",
      value: "TIME",
      about: "count from 24h, 7d or 2w ago, or from a day or moment on",
    },
    json: { type: "boolean", about: "print JSON" },
  },
  run,
});
