/** The thread that does the jobs, and that goes wrong in the way that its subagent's task names: `way:exit`. */

import { parentPort } from "node:worker_threads";
import "../../../src/worker.ts";
import type { ToThread } from "../../../src/lib/worker-protocol.ts";

const MEBIBYTE = 1024 * 1024;
const hoard: Uint8Array[] = [];

const ways: Readonly<Record<string, () => void>> = {
  throw: () => {
    throw new Error("it came apart");
  },
  reject: () => void Promise.reject(new Error("nobody looked")),
  exit: () => process.exit(7),
  loop: () => {
    for (;;);
  },
  hoard: () => {
    while (hoard.length < 9) hoard.push(new Uint8Array(64 * MEBIBYTE));
    // Otherwise the thread itself would know of it only some time later.
    Bun.gc(true);
  },
};

let way: (() => void) | undefined;
let isLate = false;
parentPort?.on("message", (message: ToThread) => {
  if (message.type === "start" && message.role === "subagent") {
    const named = /way:(late-)?(\w+)/.exec(message.input.task);
    isLate = named?.[1] !== undefined;
    way = ways[named?.[2] ?? ""];
    if (!isLate) way?.();
    return;
  }
  // In the middle of its work, when a test's clock comes to it.
  if (message.type === "ping" && isLate) way?.();
});
