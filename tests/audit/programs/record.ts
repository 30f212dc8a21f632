/** Records calls of the tool `NAME`, as many as it is told or until it is killed, and prints what its log says. */

import process from "node:process";
import { createAuditLog } from "../../../src/audit/log.ts";
import type { InboundId } from "../../../src/core/messages.ts";
import type { Log } from "../../../src/core/platform.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createIds } from "../../../src/platform/ids.ts";
import { createLocks } from "../../../src/platform/locks.ts";

const [workspace = "", name = "", count = "", maxBytes = ""] = process.argv.slice(2);

const say = (message: string, properties: unknown) => console.log(message, properties);
const log: Log = { debug: say, info: say, warn: say, error: say };

const audit = createAuditLog({
  files: createFileSystem(),
  clock: systemClock,
  ids: createIds({ now: Date.now, random: Math.random }),
  locks: createLocks({ os: process.platform, folder: workspace }),
  log,
  workspace,
  maxBytes: Number(maxBytes),
});

for (let number = 0; number < Number(count); number++) {
  audit.record({
    call: `${name} ${number}`,
    turn: "test:1" as InboundId,
    session: "test",
    origin: "chat",
    sender: "test",
    tool: name,
    arguments: "{}",
    decision: { kind: "ran" },
    ok: true,
    durationMs: 1,
  });
  // Some come together, and others one by one.
  if (number % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  if (number % 20 === 0) await audit.flush();
}
await audit.flush();
