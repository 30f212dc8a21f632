/** Prints the keys it gets as JSON lines; `q` ends a round, of which it does as many as it is told. */

import { createPlatform } from "../../../src/platform/index.ts";

const { terminal } = await createPlatform();
const [rounds = "1", ending = "return"] = process.argv.slice(2);

for (let round = 1; round <= Number(rounds); round++) {
  const abort = new AbortController();
  const keys = terminal.keys(abort.signal);
  const first = keys[Symbol.asyncIterator]().next();
  terminal.out(`<ready ${round}>`);
  for (let step = await first; !step.done; step = await keys[Symbol.asyncIterator]().next()) {
    const key = step.value;
    terminal.out(`${JSON.stringify(key)}\n`);
    if (key.name === "q" && ending === "exit") process.exit(0);
    if (key.name === "q" && ending === "throw") throw new Error("as asked");
    if (key.name === "q") abort.abort();
  }
  terminal.out(`<over ${round}>`);
}
await terminal.flush();
