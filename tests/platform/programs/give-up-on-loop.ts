/** Gives a thread that loops up, and then has nothing left to live for but that thread. */

import { never } from "../../../src/lib/abort.ts";
import { createWorkers } from "../../../src/workers.ts";

const timeIsUp: (() => void)[] = [];
const workers = createWorkers({
  clock: {
    after(_ms, task) {
      timeIsUp.push(task);
      return () => {};
    },
  },
  entry: new URL("./wayward-worker.ts", import.meta.url),
});
const input = { html: "", url: "loop", mode: "text", maxChars: 1 } as const;
const outcome = workers.run("html", input, { timeoutMs: 1_000, signal: never });
// It has begun to loop by the time that another thread has come and gone.
await workers.run("html", { ...input, url: "echo" }, { timeoutMs: 1_000, signal: never });
timeIsUp[0]?.();
console.log(JSON.stringify(await outcome));
