/** The entry of every thread: takes a job, loads the program of its role, and answers in any case. */

import { parentPort } from "node:worker_threads";
import { UserError } from "./core/errors.ts";
import type { WorkerJobs, WorkerRole } from "./core/workers.ts";
import type { EndMessage, StartMessage } from "./lib/worker-protocol.ts";

async function work(start: StartMessage): Promise<WorkerJobs[WorkerRole]["output"]> {
  switch (start.role) {
    case "html":
      return (await import("./lib/documents/html.ts")).htmlProgram(start.input);
    case "pdf":
      return (await import("./lib/documents/pdf.ts")).pdfProgram(start.input);
    case "office":
      return (await import("./lib/documents/office.ts")).officeProgram(start.input);
  }
}

/** An error that leaves the thread loses its class, and in the executable comes with a page of source text. */
function failure(error: unknown): EndMessage {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  return { type: "failed", name, message, isExpected: error instanceof UserError };
}

async function answer(start: StartMessage): Promise<EndMessage> {
  try {
    return { type: "done", output: await work(start) };
  } catch (error) {
    return failure(error);
  }
}

// Packages leave promises behind that fail with nobody looking, also where all goes well. Only the job's own
// promise says how the job ends.
process.on("unhandledRejection", () => {});

parentPort?.on("message", async (start: StartMessage) => {
  parentPort?.postMessage(await answer(start));
});
