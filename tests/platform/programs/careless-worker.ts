/** The thread that does the jobs, with a promise beside them that fails and that nobody looks at. */

import { parentPort } from "node:worker_threads";
import "../../../src/worker.ts";

parentPort?.on("message", () => void Promise.reject(new Error("nobody looked")));
