/**
 * Locks as socket files, for systems whose sockets need a file: Lamport's bakery, because a file outlives
 * its holder and no test-and-remove of a dead one is safe while others may make it anew.
 *
 * Everybody takes a ticket above all others and waits for the one before. Each sign is a socket whose owner
 * listens before the name appears, and no name is used twice: one that refuses is dead for ever, and
 * anybody may remove it.
 */

import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { never } from "../lib/abort.ts";
import { join } from "../lib/path.ts";
import { type Held, isListening, listen, type MachineLocks, waitForEnd } from "./lock-sockets.ts";

/** Somebody who chooses a number, during which nobody may compare. */
const CHOOSING = "c-";
const TICKET = "t-";
const UNFINISHED = "u-";
const UNFINISHED_MS = 60_000;
/** Sorts as a number for longer than any machine runs. */
const NUMBER_DIGITS = 10;

interface Sign extends Held {
  readonly name: string;
}

export function createLockFiles(folder: string): MachineLocks {
  let prepared: Promise<void> | undefined;

  /** Once a process, because listing a folder and looking at times is not free. */
  function prepare(): Promise<void> {
    prepared ??= mkdir(folder, { recursive: true, mode: 0o700 })
      .then(() => sweep(folder))
      .catch((error: unknown) => {
        prepared = undefined;
        throw error;
      });
    return prepared;
  }

  return {
    async take(key, signal) {
      await prepare();
      const ticket = await drawTicket(folder, key, signal);
      try {
        for (;;) {
          const before = await lastBefore(folder, key, ticket);
          if (before === undefined) return ticket;
          await waitForSign(join(folder, before), signal);
        }
      } catch (error) {
        await ticket.release();
        throw error;
      }
    },
    async tryTake(key) {
      await prepare();
      const ticket = await drawTicket(folder, key, never);
      for (;;) {
        const before = await lastBefore(folder, key, ticket);
        if (before === undefined) return ticket;
        if (await isListening(join(folder, before))) {
          await ticket.release();
          return undefined;
        }
        await rm(join(folder, before), { force: true });
      }
    },
  };
}

/** Resolves when the number stands and nobody who might still choose a lower one is choosing. */
async function drawTicket(folder: string, key: string, signal: AbortSignal): Promise<Sign> {
  signal.throwIfAborted();
  const unique = crypto.randomUUID().slice(0, 8);
  const choosing = await putUp(folder, `${key}${CHOOSING}${unique}`);
  let ticket: Sign;
  try {
    const last = (await signs(folder, `${key}${TICKET}`)).at(-1);
    const number = 1 + Number(last?.slice(key.length + TICKET.length).split("-")[0] ?? 0);
    ticket = await putUp(folder, `${key}${TICKET}${String(number).padStart(NUMBER_DIGITS, "0")}-${unique}`);
  } finally {
    await choosing.release();
  }
  try {
    for (const other of await signs(folder, `${key}${CHOOSING}`)) {
      await waitForSign(join(folder, other), signal);
    }
    return ticket;
  } catch (error) {
    await ticket.release();
    throw error;
  }
}

/** Listens under a name nobody looks at, then shows it: a visible sign that refuses is dead, never just made. */
async function putUp(folder: string, name: string): Promise<Sign> {
  const hidden = join(folder, `${UNFINISHED}${crypto.randomUUID().slice(0, 8)}`);
  const listener = await listen(hidden);
  try {
    await rename(hidden, join(folder, name));
  } catch (error) {
    await listener.release();
    throw error;
  }
  return {
    name,
    isAwaited: listener.isAwaited,
    async release() {
      await rm(join(folder, name), { force: true });
      await listener.release();
    },
  };
}

/** Removes what processes left that were killed between listening and showing it, which takes no time. */
async function sweep(folder: string): Promise<void> {
  for (const name of await signs(folder, UNFINISHED)) {
    const path = join(folder, name);
    // Another process may sweep at the same time.
    const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now());
    if (age > UNFINISHED_MS) await rm(path, { force: true });
  }
}

async function signs(folder: string, prefix: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith(prefix)).sort();
}

async function lastBefore(folder: string, key: string, ticket: Sign): Promise<string | undefined> {
  return (await signs(folder, `${key}${TICKET}`)).filter((name) => name < ticket.name).at(-1);
}

/**
 * Waits until the owner takes it down or dies. Removes it only when it refuses, since that alone proves a
 * death: a connection may end for other reasons, and the caller looks again.
 */
async function waitForSign(path: string, signal: AbortSignal): Promise<void> {
  if ((await waitForEnd(path, signal)) === "nobody") await rm(path, { force: true });
}
