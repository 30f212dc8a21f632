/** A command that only the owner may allow, in the compiled program: on a terminal, and where nobody is. */

import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { endToEnd, type Home, inTerminal, modelAt, newHome, run, startModel } from "./harness.ts";

endToEnd();

const COMMAND = "touch made";
const PROMPT = "Run it? [y/N] ";
/** Colours would stand between a margin and its text. */
const PLAIN = { NO_COLOR: "1" };
const ARGUMENTS = JSON.stringify({ command: COMMAND });

function asking(url = "http://127.0.0.1:9/v1"): Home {
  return newHome({ ...modelAt(url), tools: { exec: { policy: "ask", sandbox: "none" } } });
}

const isMade = ({ workspace }: Home) => existsSync(join(workspace, "made"));

async function model() {
  const toolCalls = [{ name: "exec", arguments: { command: COMMAND } }];
  return startModel([{ toolCalls }, { text: "all is done" }]);
}

describe("nanobot agent under tools.exec.policy ask", () => {
  test.each([
    { name: "y", keys: "y\r", made: true },
    { name: "n", keys: "n\r", made: false },
    { name: "Enter", keys: "\r", made: false },
  ])("asks in a chat and obeys $name", async ({ keys, made }) => {
    const server = await model();
    const home = asking(server.url);
    const terminal = inTerminal(["agent"], home, PLAIN);
    await terminal.until("/help, /exit");
    await terminal.until("› ");
    // What is typed ahead is a message, and no answer.
    terminal.type("make it\r");
    await terminal.until(`│ ${COMMAND}`);
    await terminal.until(PROMPT);
    expect(isMade(home)).toBe(false);
    terminal.type(keys);
    await terminal.until("all is done");
    await terminal.until("› ");
    terminal.type("\x04");
    expect(await terminal.exited).toBe(0);
    expect(isMade(home)).toBe(made);
  });

  test("asks for one message on a terminal, and ends with 130 on Ctrl-C", async () => {
    for (const { keys, code, made } of [
      { keys: "y\r", code: 0, made: true },
      { keys: "\x03", code: 130, made: false },
    ]) {
      const home = asking((await model()).url);
      const terminal = inTerminal(["agent", "-m", "make it"], home, PLAIN);
      await terminal.until(PROMPT);
      terminal.type(keys);
      expect(await terminal.exited).toBe(code);
      expect(isMade(home)).toBe(made);
    }
  });

  test("runs nothing where nobody can be asked, and says what would allow it", async () => {
    const server = await model();
    const home = asking(server.url);
    const { code } = await run(["agent", "-m", "make it"], { home });
    expect(code).toBe(0);
    expect(isMade(home)).toBe(false);
    expect(server.requests[1]?.text).toContain("nobody can be asked here");
    expect(server.requests[1]?.text).toContain("tools.exec.allowPatterns");
  });
});

describe("nanobot tools call under tools.exec.policy ask", () => {
  test.each([
    { name: "y", keys: "y\r", code: 0, made: true },
    { name: "n", keys: "n\r", code: 1, made: false },
    { name: "Ctrl-C", keys: "\x03", code: 130, made: false },
  ])("asks on a terminal and obeys $name", async ({ keys, code, made }) => {
    const home = asking();
    const terminal = inTerminal(["tools", "call", "exec", ARGUMENTS], home, PLAIN);
    await terminal.until(`│ ${COMMAND}`);
    await terminal.until(PROMPT);
    terminal.type(keys);
    expect(await terminal.exited).toBe(code);
    expect(isMade(home)).toBe(made);
  });

  test("refuses in a pipe, and says what would allow it", async () => {
    const home = asking();
    const { code, stdout } = await run(["tools", "call", "exec", ARGUMENTS], { home });
    expect(code).toBe(1);
    expect(stdout).toStartWith("Error: not allowed: ");
    expect(stdout).toContain("nobody can be asked here");
    expect(isMade(home)).toBe(false);
  });
});
