/** Audit logs over real files, and calls to record in them. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuditLog } from "../../src/audit/log.ts";
import type { AuditEntry, AuditVerdict } from "../../src/core/audit.ts";
import type { InboundId } from "../../src/core/messages.ts";
import type { FileSystem } from "../../src/core/platform.ts";
import { never } from "../../src/lib/abort.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createIds } from "../../src/platform/ids.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

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

export function setUp({
  workspace = tempFolder(),
  files = createFileSystem(),
  ...options
}: {
  workspace?: string;
  files?: FileSystem;
  maxBytes?: number;
} = {}) {
  const log = createFakeLog();
  const clock = createFakeClock(Date.parse("2026-11-30T09:00:00Z"));
  const locks = createLocks({ os: process.platform, folder: workspace });
  const ids = createIds({ now: clock.now, random: () => 0.5 });
  const audit = createAuditLog({ files, clock, ids, locks, log, workspace, ...options });
  const folder = join(workspace, ".nanobot");
  return {
    audit,
    clock,
    workspace,
    log,
    locks,
    folder,
    path: join(folder, "audit.jsonl"),
    headPath: join(folder, "audit.head"),
    verify: () => audit.verify(never),
    head: () => JSON.parse(readFileSync(join(folder, "audit.head"), "utf8")),
    lines: (name = "audit.jsonl") => linesOf(join(folder, name)),
    /** Records a line each and waits until all are anchored. */
    async write(...tools: readonly string[]): Promise<void> {
      for (const tool of tools) audit.record(call({ tool, call: `call_${tool}` }));
      await audit.flush();
    },
  };
}

/** Of a file whose last line ends too. */
export function linesOf(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
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
