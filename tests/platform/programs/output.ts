/** Writes as it is told: `big` 4 MiB to each output and leaves, `head` until the reader has gone, `resize` the width. */

import process from "node:process";
import { createPlatform } from "../../../src/platform/index.ts";

const { terminal } = await createPlatform();
const [what = "", limit = ""] = process.argv.slice(2);

if (what === "big") {
  const line = `${"é".repeat(511)}.\n`;
  for (let count = 0; count < 4096; count++) terminal.out(line);
  terminal.err("end\n");
  await terminal.flush();
  process.exit(0);
}

if (what === "head") {
  for (let count = 0; count < 1000; count++) terminal.out(`${"x".repeat(1000)}\n`);
  await terminal.flush();
  terminal.err("still here\n");
}

if (what === "resize") {
  const off = terminal.onResize(() => {
    terminal.out(`<now ${terminal.columns}>`);
    off();
  });
  terminal.out(
    `<at ${terminal.columns} ${terminal.stdinIsTty} ${terminal.stdoutIsTty} ${terminal.stderrIsTty}>`,
  );
  for await (const key of terminal.keys(new AbortController().signal)) if (key.name === "q") break;
}

if (what === "state") {
  const { stdinIsTty, stdoutIsTty, stderrIsTty, columns } = terminal;
  terminal.err(JSON.stringify({ stdinIsTty, stdoutIsTty, stderrIsTty, columns }));
}

if (what === "read") {
  try {
    terminal.out(JSON.stringify(await terminal.readAll(Number(limit), new AbortController().signal)));
  } catch (error) {
    terminal.out(error instanceof Error ? `${error.name}: ${error.message}` : "?");
  }
}
