/** The only creator of threads. It lies beside `main.ts`, because in the executable every other place is that one. */

import { URL } from "node:url";
import { Worker } from "node:worker_threads";
import type { Clock } from "./core/platform.ts";
import type { WorkerJobs, WorkerOptions, WorkerOutcome, WorkerRole, Workers } from "./core/workers.ts";
import { abortable } from "./lib/abort.ts";
import { createLanes } from "./lib/lanes.ts";
import { oneLine } from "./lib/text.ts";
import { serveThread } from "./lib/thread-service.ts";
import { watchGrowth, watchPulse } from "./lib/thread-watch.ts";
import { type FromThread, type ToThread, transferable } from "./lib/worker-protocol.ts";

/** Each takes megabytes and a core; a third document waits. */
const MOST_THREADS = 2;
const REASON_CHARS = 300;
const ENDING = { ok: false, reason: "the program is ending", isEnding: true } as const;
/**
 * By so much a job may let the process grow. A thread has no bound of its own: the runtime knows
 * `resourceLimits` and does nothing with them. A document of a few kilobytes can unpack to more than there is.
 */
const MOST_GROWTH = 512 * 1024 * 1024;
const TOO_MUCH = `more than ${MOST_GROWTH / 1024 / 1024} MiB of memory`;

export interface WorkersOptions {
  readonly clock: Pick<Clock, "after">;
  /** What the whole process has. */
  readonly memory?: () => number;
  /** What a thread runs (`worker.ts`). */
  readonly entry?: URL;
}

interface Thread {
  /** Throws for what cannot be cloned. */
  send(message: ToThread, transfer?: ArrayBuffer[]): void;
  /** At once, whatever it is doing. The listener hears nothing any more. */
  end(): Promise<void>;
}

interface ThreadListener {
  /** May be called any number of times. */
  readonly onMessage: (message: FromThread) => void;
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
  worker.on("message", (message: FromThread) => {
    // Only `worker.ts` sends, and it answers a role with that role's output.
    if (!isEnded) onMessage(message);
  });
  worker.on("messageerror", () => die("what it sent cannot be read"));
  worker.on("error", (error) => die(oneLine(String(error), REASON_CHARS)));
  worker.on("exit", (code) => die(`it exited with ${code}`));
  return {
    send(message, transfer = []) {
      if (!isEnded) worker.postMessage(message, transfer);
    },
    async end() {
      isEnded = true;
      await worker.terminate();
    },
  };
}

/** For the model, of which only subagents' are about the thread itself. */
const documentWords = {
  died: (how: string) => `the thread that read it died (${how})`,
  failed: (said: string) => `it could not be read (${said})`,
  tooMuch: `reading it took ${TOO_MUCH}`,
};
const subagentWords = {
  died: (how: string) => `its thread died (${how})`,
  failed: (said: string) => `it could not go on (${said})`,
  tooMuch: `it took ${TOO_MUCH}`,
};

export function createWorkers({
  clock,
  memory = () => process.memoryUsage.rss(),
  entry = new URL("./worker.ts", import.meta.url),
}: WorkersOptions): Workers {
  const documents = createLanes({ limit: MOST_THREADS });
  let jobs = 0;
  let isEnding = false;
  /** How to give up each job that runs. */
  const running = new Set<() => void>();

  function runNow<Role extends WorkerRole>(
    role: Role,
    input: WorkerJobs[Role]["input"],
    { timeoutMs, signal, serve }: WorkerOptions<Role>,
  ): Promise<WorkerOutcome<WorkerJobs[Role]["output"]>> {
    type Outcome = WorkerOutcome<WorkerJobs[Role]["output"]>;
    signal.throwIfAborted();
    if (isEnding) return Promise.resolve(ENDING);
    return new Promise((resolve, reject) => {
      const words = role === "subagent" ? subagentWords : documentWords;
      const thread = startThread(entry, {
        onMessage(message) {
          switch (message.type) {
            case "done":
              return settle({ ok: true, output: message.output } as Outcome);
            case "failed": {
              const said = oneLine(message.message, REASON_CHARS) || message.name;
              return fail(message.isExpected ? said : words.failed(said));
            }
            case "ask":
              return service.answer(message);
            case "pong":
              return watch.heard(message.bytes);
          }
        },
        onDeath: (how) => fail(words.died(how)),
      });
      const service = serveThread(serve ?? {}, thread.send);
      const callOff =
        timeoutMs === undefined
          ? undefined
          : clock.after(timeoutMs, () => fail(`reading it took longer than ${timeoutMs / 1000} s`));
      const bounds = {
        clock,
        memory,
        mostGrowth: MOST_GROWTH,
        onTooMuch: () => fail(words.tooMuch),
      };
      const watch =
        timeoutMs === undefined
          ? watchPulse({
              ...bounds,
              ping: () => thread.send({ type: "ping" }),
              onDeaf: () => fail("it stopped responding"),
            })
          : watchGrowth(bounds);
      const giveUp = () => settle(ENDING);
      const onAbort = () => finish(() => reject(signal.reason));
      signal.addEventListener("abort", onAbort, { once: true });
      running.add(giveUp);

      /** Only the first counts: the thread tells nothing any more after it. */
      function finish(tell: () => void): void {
        callOff?.();
        watch.stop();
        signal.removeEventListener("abort", onAbort);
        running.delete(giveUp);
        const ended = thread.end();
        if (serve === undefined) tell();
        // Nothing that was done for it goes on when its end is told.
        else Promise.allSettled([ended, service.end(signal.reason)]).then(tell);
      }
      function settle(outcome: Outcome): void {
        finish(() => resolve(outcome));
      }
      function fail(reason: string): void {
        settle({ ok: false, reason });
      }

      try {
        const start = { type: "start", role, input } as ToThread;
        thread.send(start, transferable(input));
      } catch (error) {
        fail(`it could not be handed to a thread (${oneLine(String(error), REASON_CHARS)})`);
      }
    });
  }

  return {
    async run(role, input, options) {
      // A subagent takes minutes and mostly waits: documents would wait for it, and it for them.
      if (role === "subagent") return runNow(role, input, options);
      // A lane each: only the limit makes them wait for each other.
      const job = documents.run(`job ${jobs++}`, async () => runNow(role, input, options));
      return abortable(job, options.signal);
    },
    endAll() {
      isEnding = true;
      for (const giveUp of [...running]) giveUp();
    },
  };
}
