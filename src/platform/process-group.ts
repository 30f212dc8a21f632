/** A process group: one signal reaches a program and all that it started. */

import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "../core/platform.ts";
import { never } from "../lib/abort.ts";
import { errorCode } from "../lib/error-code.ts";

/** From the polite signal to the one that cannot be refused, for what a program that has ended left running. */
const LEFTOVER_GRACE_MS = 200;
/** How long a killed group may take to disappear. */
const VANISH_MS = 100;
const POLL_MS = 10;

export interface Group {
  /** Signals every member. Nobody being left is fine. */
  kill(name: NodeJS.Signals): void;
  isAlive(): boolean;
}

export function createGroup(child: ChildProcess): Group {
  const { pid } = child;
  // Windows has no groups: the program itself is all we can reach.
  if (pid === undefined || process.platform === "win32") {
    return { kill: (name) => void child.kill(name), isAlive: () => false };
  }
  const members = -pid;
  function reach(name: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(members, name);
    } catch (error) {
      // ESRCH: nobody is left. EPERM: who is left belongs to another user, or is a zombie (macOS).
      if (["ESRCH", "EPERM"].includes(errorCode(error) ?? "")) return false;
      throw error;
    }
  }
  return { kill: (name) => void reach(name), isAlive: () => reach(0) && !isOfZombies(pid) };
}

/**
 * Whether all that is left of a group are zombies, which nobody can end. Where the first process of the
 * machine reaps late or never, as in a container, they would be waited for in vain.
 */
function isOfZombies(groupId: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    return readdirSync("/proc").every((name) => !/^\d+$/.test(name) || !isLivingMember(name, groupId));
  } catch {
    // Without /proc nothing is known of them.
    return false;
  }
}

function isLivingMember(pid: string, groupId: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // proc(5): the name stands in brackets and may hold any character; then state, parent and group.
    const [state = "", , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(group) === groupId && !/[ZX]/.test(state);
  } catch {
    // It ended since its name was read.
    return false;
  }
}

/** The program has ended; what it left in the background must not pile up. */
export async function endLeftovers(group: Group, clock: Clock): Promise<void> {
  if (!group.isAlive()) return;
  group.kill("SIGTERM");
  if (await isGoneWithin(LEFTOVER_GRACE_MS, group, clock)) return;
  group.kill("SIGKILL");
  await isGoneWithin(VANISH_MS, group, clock);
}

async function isGoneWithin(ms: number, group: Group, clock: Clock): Promise<boolean> {
  for (let waited = 0; waited < ms; waited += POLL_MS) {
    if (!group.isAlive()) return true;
    await clock.sleep(POLL_MS, never);
  }
  return !group.isAlive();
}
