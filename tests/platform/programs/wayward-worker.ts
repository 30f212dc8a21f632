/** A thread that does what the address of its page says, in the place of the program that reads pages. */

import { parentPort } from "node:worker_threads";
import type { StartMessage } from "../../../src/lib/worker-protocol.ts";

function answer(text: string): void {
  const output = { title: "", text, extractor: "html", truncated: false };
  parentPort?.postMessage({ type: "done", output });
}

const ways: Readonly<Record<string, (html: string) => void>> = {
  echo: answer,
  environment: () => answer(JSON.stringify({ ...process.env })),
  throw: () => {
    throw new Error("it came apart");
  },
  reject: () => void Promise.reject(new Error("nobody looked")),
  exit: () => process.exit(7),
  loop: () => {
    for (;;);
  },
  chatter: (html) => {
    console.log("to stdout");
    console.error("to stderr");
    answer(html);
  },
  silence: () => {},
};

parentPort?.on("message", ({ input }: StartMessage) => {
  if ("url" in input) ways[input.url]?.(input.html);
});
