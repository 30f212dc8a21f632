import { expect, test } from "bun:test";
import { command } from "../../src/cli/tools.ts";
import type { ToolCall } from "../../src/core/model.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

/** Runs `nanobot tools call` with what is piped in. */
async function call(
  positionals: readonly string[],
  { stdin = "", stdinIsTty = false, left = 0 }: { stdin?: string; stdinIsTty?: boolean; left?: number } = {},
) {
  const app = createTestApp({ home: tempFolder(), stdin, stdinIsTty });
  const calls: ToolCall[] = [];
  const asked: string[] = [];
  const code = await command.subcommands?.["call"]?.run?.({
    app: {
      ...app,
      platform: { ...app.platform, ids: { next: () => "1" } },
      askAtTerminal: async () => {},
      toolbox: async () => ({
        definitions: [],
        isReadOnly: () => true,
        problemOf: () => undefined,
        async run(one) {
          calls.push(one);
          return { ok: true, text: "done" };
        },
      }),
      async commandsLeft(session) {
        asked.push(session);
        return left;
      },
    },
    positionals,
    options: {},
    signal: new AbortController().signal,
  });
  return {
    code,
    args: calls.map((one) => one.arguments),
    asked,
    out: app.terminal.stdout,
    err: app.terminal.stderr,
  };
}

const piped = '{"path":"a.md"}';

test.each([
  ["what is piped in, without an argument", ["read_file"], { stdin: piped }, piped],
  ["what is piped in, for -", ["read_file", "-"], { stdin: piped }, piped],
  ["what is typed, for - on a terminal", ["read_file", "-"], { stdin: piped, stdinIsTty: true }, piped],
  ["the argument, whatever is piped in", ["read_file", "{}"], { stdin: piped }, "{}"],
  ["no arguments, where nothing is piped in", ["read_file"], { stdin: "\n" }, "{}"],
  ["no arguments, without one on a terminal", ["read_file"], { stdin: piped, stdinIsTty: true }, "{}"],
] as const)("tools call takes %s", async (_, positionals, options, wanted) => {
  expect((await call(positionals, options)).args).toEqual([wanted]);
});

test("tools call says that a session does not outlive it", async () => {
  expect(await call(["exec", "{}"], { left: 1 })).toMatchObject({
    code: 0,
    asked: ["cli:tools"],
    out: "done\n",
    err: "The session ends with this command: only a conversation keeps one\n",
  });
  expect((await call(["exec", "{}"])).err).toBe("");
});
