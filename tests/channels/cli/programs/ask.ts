/** Asks one question at the terminal it runs in, and prints the answer. */

import { createTerminalAsker } from "../../../../src/channels/cli/terminal-asker.ts";
import { createPlatform } from "../../../../src/platform/index.ts";
import { testRun } from "../../../fakes/toolbox.ts";

const { terminal, clock } = await createPlatform();
const interrupted: string[] = [];
const ask = createTerminalAsker({ terminal, clock, color: false, onInterrupt: () => interrupted.push("c") });
const question = {
  id: "c1",
  tool: "exec",
  what: process.argv[2] ?? "",
  reason: "it deletes",
  run: testRun(),
};
const answer = await ask?.(question, new AbortController().signal);
terminal.out(`<answer ${JSON.stringify(answer ?? "nobody")} ${interrupted.join("")}>\n`);
await terminal.flush();
