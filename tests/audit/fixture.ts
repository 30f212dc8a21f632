/** Audit logs over real files, and calls to record in them. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuditLog } from "../../src/audit/log.ts";
import type { AuditEntry, AuditVerdict } from "../../src/core/audit.ts";
import type { InboundId } from "../../src/core/messages.ts";
import { never } from "../../src/lib/abort.ts";
import { createIds } from "../../src/platform/ids.ts";
import { createLineStoreDeps, type LineStoreOptions } from "../fakes/line-store.ts";

export function call(changes: Partial<AuditEntry> = {}): AuditEntry {
  return {
    call: "call_1_0_0",
    turn: "cli:1" as InboundId,
    session: "cli:direct",
    origin: "chat",
    sender: "user",
    tool: "read_file",
    arguments: '{"path":"notes.md"}',
    decision: { kind: "ran" },
    ok: true,
    durationMs: 1.5,
    digest: "0".repeat(64),
    ...changes,
  };
}

export function setUp(options: LineStoreOptions = {}) {
  const now = Date.parse("2026-11-30T09:00:00Z");
  const { deps, seen } = createLineStoreDeps({ name: "audit.jsonl", now }, options);
  const ids = createIds({ now: seen.clock.now, random: () => 0.5 });
  const audit = createAuditLog({ ...deps, ids });
  const headPath = join(seen.folder, "audit.head");
  return {
    ...seen,
    audit,
    headPath,
    verify: () => audit.verify(never),
    head: () => JSON.parse(readFileSync(headPath, "utf8")),
    /** Records a line each and waits until all are anchored. */
    async write(...tools: readonly string[]): Promise<void> {
      for (const tool of tools) audit.record(call({ tool, call: `call_${tool}` }));
      await audit.flush();
    },
  };
}

export function writeLines(path: string, lines: readonly string[]): void {
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
}

/** `kind file:line` of each problem. */
export function told({ problems }: AuditVerdict): string[] {
  return problems.map((problem) =>
    problem.kind === "truncated"
      ? `truncated ${problem.file}`
      : `${problem.kind} ${problem.file}:${problem.line}`,
  );
}

/** The files of a log, oldest first. */
export function partsOf(folder: string): string[] {
  const number = (name: string) => Number(/\d+/.exec(name)?.[0] ?? 0);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return names.sort((a, b) => number(b) - number(a)).map((name) => join(folder, name));
}
