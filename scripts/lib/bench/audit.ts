/** What the record of a call of a tool costs beside the write of its line. */

import { join } from "node:path";
import { createAuditLog } from "../../../src/audit/log.ts";
import type { AuditEntry } from "../../../src/core/audit.ts";
import type { InboundId } from "../../../src/core/messages.ts";
import type { FileSystem, Log } from "../../../src/core/platform.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createIds } from "../../../src/platform/ids.ts";
import { createLocks } from "../../../src/platform/locks.ts";
import { median } from "./statistics.ts";
import type { Row } from "./table.ts";
import type { Workbench } from "./workbench.ts";

const CALLS = 1_000;
const WARM_UP_CALLS = 500;

const entry: AuditEntry = {
  call: "call_0123456789abcdef_0_0",
  turn: "cli:direct:1" as InboundId,
  session: "cli:direct",
  origin: "chat",
  sender: "user",
  tool: "exec",
  arguments: JSON.stringify({ command: "grep -rn 'needle' src | head -20 && git status --short" }),
  decision: { kind: "ran" },
  ok: true,
  durationMs: 12.345,
  exitCode: 0,
  digest: "0123456789abcdef".repeat(4),
};

/** A log that complains must fail the measurement. */
const log: Log = { debug: () => {}, info: () => {}, warn: fail, error: fail };

function fail(message: string): never {
  throw new Error(`The audit log complained: ${message}`);
}

/** Files that tell of every write. How long the disk takes to keep it is the disk's affair, and not waited for. */
function watchedFiles() {
  const files = createFileSystem();
  let written = Promise.withResolvers<void>();
  const openAppend: FileSystem["openAppend"] = async (path, options) => {
    const file = await files.openAppend(path, options);
    return {
      ...file,
      sync: async () => {},
      async append(bytes) {
        await file.append(bytes);
        written.resolve();
        written = Promise.withResolvers();
      },
    };
  };
  return { files: { ...files, openAppend, replace: async () => {} }, nextWrite: () => written.promise };
}

async function medianTime(work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let call = -WARM_UP_CALLS; call < CALLS; call++) {
    const began = performance.now();
    await work();
    if (call >= 0) times.push((performance.now() - began) * 1_000);
  }
  return median(times);
}

/** One call at a time, each until its line is written. */
export async function auditOfACall(bench: Workbench): Promise<readonly Row[]> {
  const workspace = bench.folder("audit");
  const { files, nextWrite } = watchedFiles();
  const locks = createLocks({ os: process.platform, folder: workspace });
  const ids = createIds({ now: Date.now, random: Math.random });
  const audit = createAuditLog({ files, clock: systemClock, ids, locks, log, workspace });
  const value = await medianTime(async () => {
    const written = nextWrite();
    audit.record(entry);
    await written;
  });
  await audit.flush();
  const bare = await files.openAppend(join(workspace, "bare.jsonl"), { mode: 0o600 });
  const line = new TextEncoder().encode(`${JSON.stringify(entry)}${"x".repeat(150)}\n`);
  const floor = await medianTime(() => bare.append(line));
  await bare.close();
  return [
    { name: "audit of a call, with its write", value, floor, unit: "µs" },
    {
      name: "audit of a call, beside its write",
      value: value - floor,
      unit: "µs",
      bound: { of: "time", atMost: 200 },
    },
  ];
}
