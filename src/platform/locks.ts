/** Locks between processes of one machine, made of sockets: the kernel takes them back from whoever dies. */

import { Buffer } from "node:buffer";
import type { Lock, Locks } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { createLockFiles } from "./lock-files.ts";
import { type Held, listen, type MachineLocks, waitForEnd } from "./lock-sockets.ts";

/** What the one before in this process passes on: the name itself, or only the turn to ask for it. */
type Turn = Held | undefined;
type Waiter = (turn: Turn) => void;

const KEY_DIGITS = 20;
/** How long this process stands back when others wait, so that they hear of the release and come first. */
const STAND_BACK_MS = 5;

/** `folder` is for systems whose sockets are files: private to the user, and short (a path has 104 bytes there). */
export function createLocks({ os, folder }: { os: string; folder: string }): Locks {
  const machine = os === "linux" || os === "win32" ? createSocketLocks(os) : createLockFiles(folder);
  /** The names somebody here holds or asks for, each with those who wait for their turn. */
  const queues = new Map<string, Waiter[]>();

  function passOn(name: string, turn: Turn): void {
    const next = queues.get(name)?.shift();
    if (next !== undefined) next(turn);
    else queues.delete(name);
  }

  async function release(name: string, held: Held): Promise<void> {
    const isWantedHere = (queues.get(name) ?? []).length > 0;
    if (isWantedHere && !held.isAwaited()) return passOn(name, held);
    const standBack = isWantedHere ? STAND_BACK_MS : 0;
    try {
      await held.release();
    } finally {
      if (standBack > 0) setTimeout(() => passOn(name, undefined), standBack);
      else passOn(name, undefined);
    }
  }

  function lockOf(name: string, held: Held): Lock {
    let released: Promise<void> | undefined;
    return {
      release() {
        released ??= release(name, held);
        return released;
      },
    };
  }

  /** Resolves when it is our turn in this process. */
  function turnOf(name: string, signal: AbortSignal): Promise<Turn> {
    const queue = queues.get(name);
    if (queue === undefined) {
      queues.set(name, []);
      return Promise.resolve(undefined);
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(signal.reason);
      };
      const waiter: Waiter = (turn) => {
        signal.removeEventListener("abort", onAbort);
        resolve(turn);
      };
      queue.push(waiter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  return {
    async acquire(name, signal) {
      signal.throwIfAborted();
      const turn = await turnOf(name, signal);
      try {
        return lockOf(name, turn ?? (await machine.take(await keyOf(name), signal)));
      } catch (error) {
        passOn(name, undefined);
        throw error;
      }
    },
    async tryAcquire(name) {
      if (queues.has(name)) return undefined;
      queues.set(name, []);
      let held: Held | undefined;
      try {
        held = await machine.tryTake(await keyOf(name));
      } finally {
        if (held === undefined) passOn(name, undefined);
      }
      return held && lockOf(name, held);
    },
  };
}

/** Names are of any length and alphabet; addresses are not. */
async function keyOf(name: string): Promise<string> {
  // The first use of node:crypto costs megabytes, and every session and every start asks for a lock.
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name));
  return Buffer.from(digest).toString("hex").slice(0, KEY_DIGITS);
}

/** Where an address needs no file and dies with its owner, binding it is the lock. */
function createSocketLocks(os: "linux" | "win32"): MachineLocks {
  const prefix = os === "linux" ? "\0nanobot-" : "\\\\.\\pipe\\nanobot-";

  async function tryTake(key: string): Promise<Held | undefined> {
    try {
      return await listen(prefix + key);
    } catch (error) {
      if (errorCode(error) === "EADDRINUSE") return undefined;
      throw error;
    }
  }

  return {
    tryTake,
    async take(key, signal) {
      for (;;) {
        signal.throwIfAborted();
        const held = await tryTake(key);
        if (held !== undefined) return held;
        await waitForEnd(prefix + key, signal);
      }
    },
  };
}
