/** Programs that a test starts, to be found again among all that run on this machine. */

import { readdirSync, readFileSync } from "node:fs";

let sleeps = 0;

/** A length of sleep that no other test uses. */
export function freshSleep(): string {
  return `86${process.pid}.${sleeps++}`;
}

/** Programs that run with `mark` among their arguments. Zombies have none any more. */
export function runningWith(mark: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(mark);
    } catch {
      // It ended since it was listed.
      return false;
    }
  });
}
