/** The only creator of threads. It lies beside `main.ts`, because in the executable every other place is that one. */

import { URL } from "node:url";
import { Worker } from "node:worker_threads";
import type { Clock } from "./core/platform.ts";
import type { WorkerJobs, WorkerOutcome, WorkerRole, Workers } from "./core/workers.ts";
import { abortable } from "./lib/abort.ts";
import { createLanes } from "./lib/lanes.ts";
import { oneLine } from "./lib/text.ts";
import { type EndMessage, transferable } from "./lib/worker-protocol.ts";

/** Each takes megabytes and a core; a third job waits. */
const MOST_THREADS = 2;
const REASON_CHARS = 300;
const ENDING = "the program is ending";
/**
 * By so much the process may grow while a job runs, looked at so often. A thread has no bound of its own, and
 * a document of a few kilobytes can unpack to more than there is.
 */
const MOST_GROWTH = 512 * 1024 * 1024;
const LOOK_MS = 100;

export interface WorkersOptions {
  readonly clock: Pick<Clock, "after">;
  /** What the whole process has. */
  readonly memory?: () => number;
  /** What a thread runs (`worker.ts`). */
  readonly entry?: URL;
}

interface Thread {
  send(message: object, transfer: ArrayBuffer[]): void;
  /** At once, whatever it is doing. The listener hears nothing any more. */
  end(): Promise<void>;
}

interface ThreadListener {
  /** May be called any number of times. */
  readonly onMessage: (message: unknown) => void;
  /** It is gone, and nobody told it to. */
  readonly onDeath: (how: string) => void;
}

function startThread(entry: URL, { onMessage, onDeath }: ThreadListener): Thread {
  const worker = new Worker(entry, {
    // Otherwise it would have ours, with every secret in it.
    env: {},
    // What a package warns of there is nothing for the owner's terminal.
    stdout: true,
    stderr: true,
  });
  let isEnded = false;
  const die = (how: string) => {
    if (!isEnded) onDeath(how);
  };
  worker.on("message", (message: unknown) => {
    if (!isEnded) onMessage(message);
  });
  worker.on("messageerror", () => die("what it sent cannot be read"));
  worker.on("error", (error) => die(oneLine(String(error), REASON_CHARS)));
  worker.on("exit", (code) => die(`it exited with ${code}`));
  return {
    send: (message, transfer) => worker.postMessage(message, transfer),
    async end() {
      isEnded = true;
      await worker.terminate();
    },
  };
}

function reasonOf({ name, message, isExpected }: Extract<EndMessage, { type: "failed" }>): string {
  const said = oneLine(message, REASON_CHARS) || name;
  return isExpected ? said : `it could not be read (${said})`;
}

export function createWorkers({
  clock,
  memory = () => process.memoryUsage.rss(),
  entry = new URL("./worker.ts", import.meta.url),
}: WorkersOptions): Workers {
  const lanes = createLanes({ limit: MOST_THREADS });
  let jobs = 0;
  let isEnding = false;
  /** How to give up each job that runs. */
  const running = new Set<() => void>();

  function runNow<Role extends WorkerRole>(
    role: Role,
    input: WorkerJobs[Role]["input"],
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  ): Promise<WorkerOutcome<WorkerJobs[Role]["output"]>> {
    return new Promise((resolve, reject) => {
      const thread = startThread(entry, {
        onMessage(message) {
          // Only `worker.ts` sends, and it answers a role with that role's output.
          const end = message as EndMessage & { output: WorkerJobs[Role]["output"] };
          finish(() =>
            resolve(
              end.type === "done" ? { ok: true, output: end.output } : { ok: false, reason: reasonOf(end) },
            ),
          );
        },
        onDeath: (how) => fail(`the thread that read it died (${how})`),
      });
      const callOff = clock.after(timeoutMs, () => fail(`reading it took longer than ${timeoutMs / 1000} s`));
      const before = memory();
      let stopLooking = clock.after(LOOK_MS, look);
      function look(): void {
        if (memory() - before <= MOST_GROWTH) stopLooking = clock.after(LOOK_MS, look);
        else fail(`reading it took more than ${MOST_GROWTH / 1024 / 1024} MiB of memory`);
      }
      const giveUp = () => fail(ENDING);
      const onAbort = () => finish(() => reject(signal.reason));
      signal.addEventListener("abort", onAbort, { once: true });
      running.add(giveUp);

      /** Only the first counts: the thread tells nothing any more after it. */
      function finish(settle: () => void): void {
        callOff();
        stopLooking();
        signal.removeEventListener("abort", onAbort);
        running.delete(giveUp);
        void thread.end();
        settle();
      }
      function fail(reason: string): void {
        finish(() => resolve({ ok: false, reason }));
      }

      try {
        thread.send({ type: "start", role, input }, transferable(input));
      } catch (error) {
        fail(`it could not be handed to a thread (${oneLine(String(error), REASON_CHARS)})`);
      }
    });
  }

  return {
    run(role, input, options) {
      const { signal } = options;
      // A lane each: only the limit makes them wait for each other.
      const job = lanes.run(`job ${jobs++}`, async () => {
        signal.throwIfAborted();
        if (isEnding) return { ok: false as const, reason: ENDING };
        return runNow(role, input, options);
      });
      return abortable(job, signal);
    },
    endAll() {
      isEnding = true;
      for (const giveUp of [...running]) giveUp();
    },
  };
}
