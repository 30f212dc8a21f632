/** What a run found, as a table for people. */

import type { CrashReport } from "./judge.ts";

const SHOWN = 40;

export function formatReport({ figures, violations }: CrashReport): string {
  const width = Math.max(...figures.map(([name]) => name.length));
  const table = figures.map(([name, value]) => `${name.padEnd(width)}  ${String(value).padStart(8)}`);
  const list = violations.slice(0, SHOWN).map(({ kind, what }) => `${kind}: ${what}`);
  const more = violations.length > SHOWN ? [`and ${violations.length - SHOWN} more`] : [];
  return [...table, ...(violations.length === 0 ? [] : ["", ...list, ...more])].join("\n");
}
