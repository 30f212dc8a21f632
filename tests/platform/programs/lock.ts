/** Takes a lock in a process of its own: `hold` until it is killed, or `count` up a file that is not safe without it. */

import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { createLocks } from "../../../src/platform/locks.ts";

const [os = "", folder = "", what = "", name = "", file = "", times = ""] = process.argv.slice(2);
const locks = createLocks({ os, folder });
const never = new AbortController().signal;

if (what === "hold") {
  await locks.acquire(name, never);
  console.log("held");
  // Nothing else keeps this process alive, and the lock must not.
  setTimeout(() => {}, 2 ** 30);
}

if (what === "keep") {
  await locks.acquire(name, never);
  console.log("held");
}

if (what === "count") {
  for (let time = 0; time < Number(times); time++) {
    const lock = await locks.acquire(name, never);
    const value = Number(readFileSync(file, "utf8"));
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(file, String(value + 1));
    await lock.release();
  }
}
