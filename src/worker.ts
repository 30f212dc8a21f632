/** The entry of every thread: takes a job, loads the program of its role, and answers in any case. */

import { parentPort } from "node:worker_threads";
import { UserError } from "./core/errors.ts";
import type { WorkerJobs, WorkerRole } from "./core/workers.ts";
import { createThreadQuestions } from "./lib/thread-questions.ts";
import type { EndMessage, FromThread, StartMessage, ToThread } from "./lib/worker-protocol.ts";

const post = (message: FromThread) => parentPort?.postMessage(message);
const questions = createThreadQuestions<"subagent">(post);

async function work(start: StartMessage): Promise<WorkerJobs[WorkerRole]["output"]> {
  switch (start.role) {
    case "html":
      return (await import("./lib/documents/html.ts")).htmlProgram(start.input);
    case "pdf":
      return (await import("./lib/documents/pdf.ts")).pdfProgram(start.input);
    case "office":
      return (await import("./lib/documents/office.ts")).officeProgram(start.input);
    case "subagent":
      return (await import("./agent/subagent.ts")).subagentProgram(start.input, questions.ask);
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

/** The job is all our own code, where a promise that fails with nobody looking is a fault that can leave it waiting for ever. */
let isOurs = false;

// Packages leave such promises behind, also where all goes well. Only the job's own promise says how theirs ends.
process.on("unhandledRejection", (error) => {
  if (isOurs) post(failure(error));
});

parentPort?.on("message", async (message: ToThread) => {
  switch (message.type) {
    case "start":
      isOurs = message.role === "subagent";
      post(await answer(message));
      break;
    case "reply":
      questions.answered(message);
      break;
    case "ping":
      post({ type: "pong", bytes: process.memoryUsage().heapUsed });
      break;
  }
});
