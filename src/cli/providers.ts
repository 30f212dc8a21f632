/** `nanobot providers`: every provider, where its key comes from, and which one answers. */

import type { ProviderInfo } from "../core/app.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine } from "../lib/text.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";
import { describeModel, modelStatus } from "./model-status.ts";

async function run({ app, options }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const providers = await app.providers();
  const model = await modelStatus(app);
  if (options["json"] === true) {
    terminal.out(`${safeJson({ providers, model }, 2)}\n`);
    return 0;
  }
  const rows = aligned(providers.map(cellsOf), terminal.width);
  const table = rows.map((row, index) => `${markOf(providers[index])} ${row}`);
  terminal.out([...table, "", "✓ is configured, → answers", `Model: ${describeModel(model)}`, ""].join("\n"));
  return 0;
}

function markOf(provider: ProviderInfo | undefined): string {
  if (provider?.inUse) return "→";
  return provider?.configured ? "✓" : " ";
}

function cellsOf(provider: ProviderInfo): readonly string[] {
  const { name, label, baseUrl } = provider;
  const cells = [name, label, keyText(provider), baseUrl ?? "address not known"];
  return cells.map((cell) => oneLine(cell, 100));
}

function keyText({ key: { from, variable }, configured }: ProviderInfo): string {
  switch (from) {
    case "config":
      return variable === undefined ? "key configured" : `key in ${variable}`;
    case "environment":
      return configured ? `key in ${variable}` : `key in ${variable}, when named`;
    case "none needed":
      return "no key needed";
    case "missing":
      return variable === undefined ? "no key" : `no key: ${variable}`;
  }
}

function aligned(rows: readonly (readonly string[])[], width: (text: string) => number): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? "")))) ?? [];
  const padded = (cell: string, column: number) =>
    cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - width(cell)));
  return rows.map((row) => row.map(padded).join("  ").trimEnd());
}

export const command = defineCommand({
  about: "List the providers, where their keys come from, and which one answers",
  options: { json: { type: "boolean", about: "print JSON" } },
  run,
});
