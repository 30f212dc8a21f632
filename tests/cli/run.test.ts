/** What holds for every command, whichever it is. */

import { describe, expect, test } from "bun:test";
import type { Command } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/registry.ts";
import { runCli } from "../../src/cli/run.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const app = createTestApp({ home: tempFolder(), env });
  const code = await runCli({
    argv,
    terminal: app.terminal,
    signal: new AbortController().signal,
    createApp: async () => app,
    flush: async () => {},
    mask: (text) => text,
  });
  return { code, out: app.terminal.stdout, err: app.terminal.stderr };
}

/** Every command that runs something, by its words. */
async function leaves(): Promise<ReadonlyMap<string, Command>> {
  const found = new Map<string, Command>();
  const collect = (words: string, command: Command) => {
    if (command.run !== undefined) found.set(words, command);
    for (const [name, sub] of Object.entries(command.subcommands ?? {})) collect(`${words} ${name}`, sub);
  };
  for (const [name, load] of Object.entries(commands)) collect(name, (await load()).command);
  return found;
}

const below = { NANOBOT_TOOL: "1" };

describe("runCli() below a tool of the agent", () => {
  test.each([
    [["pairing", "approve", "ABCD1234"]],
    [["pairing", "deny", "ABCD1234"]],
    [["pairing", "revoke", "12345"]],
    [["outbox", "retry", "--all"]],
    [["outbox", "drop", "--all"]],
    [["gateway"]],
    [["run", "--offline"]],
    [["onboard"]],
    [["agent", "-m", "/pairing approve ABCD1234"]],
    [["tools", "call", "exec", "{}"]],
    [["channels", "test", "telegram", "--send", "12345"]],
    [["--verbose", "pairing", "approve", "ABCD1234"]],
  ])("refuses %j", async (argv) => {
    const { code, out, err } = await run(argv, below);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("from a command of the agent: it is for the owner");
  });

  test("refuses whatever value the mark has", async () => {
    for (const value of ["", "0", "false"]) {
      const { err } = await run(["outbox", "drop", "--all"], { NANOBOT_TOOL: value });
      expect(err).toContain("it is for the owner");
    }
  });

  test("runs what only reads, and shows help", async () => {
    expect(await run(["config", "path"], below)).toMatchObject({ code: 0, err: "" });
    expect(await run(["pairing", "approve", "--help"], below)).toMatchObject({ code: 0, err: "" });
  });
});

test("runCli() lets the owner run what is the owner's", async () => {
  const { err } = await run(["gateway", "--port", "none"]);
  expect(err).toContain("Read --port");
});

test("commands are open below a tool only where they are known to read", async () => {
  const open = [...(await leaves())]
    .filter(([, command]) => command.ownerOnly !== true)
    .map(([words]) => words);
  expect(open.sort()).toEqual([
    "audit list",
    "audit show",
    "audit verify",
    "channels list",
    "channels status",
    "config check",
    "config path",
    "config schema",
    "cron list",
    "memory diff",
    "memory history",
    "memory search",
    "memory show",
    "memory versions",
    "outbox list",
    "pairing list",
    "providers",
    "sessions list",
    "sessions path",
    "sessions replay",
    "sessions show",
    "skills check",
    "skills list",
    "skills new",
    "skills show",
    "status",
    "tasks list",
    "tools list",
    "usage",
  ]);
});
