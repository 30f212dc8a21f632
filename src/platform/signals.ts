/** What this process was told about signals before it began. */

import { readFileSync } from "node:fs";
import { errorCode } from "../lib/error-code.ts";

/** SIGHUP is the first signal of the mask. */
const HANGUP = 1n;

/**
 * Whether a hang-up is to be survived, as under nohup, which ignores the signal for us: a handler would
 * undo that. Where the system does not say, a terminal on stdin speaks against it.
 */
export function isHangupIgnored(stdinIsTty: boolean): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return mask === undefined ? !stdinIsTty : (BigInt(`0x${mask}`) & HANGUP) !== 0n;
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    return !stdinIsTty;
  }
}
