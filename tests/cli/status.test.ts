import { expect, test } from "bun:test";
import { command } from "../../src/cli/status.ts";
import type { CommandsInfo } from "../../src/core/app.ts";
import { UserError } from "../../src/core/errors.ts";
import type { SessionStore } from "../../src/core/session.ts";
import { makeFolder } from "../tools/fixture.ts";
import { createTestApp } from "./fixture.ts";

const unused = () => Promise.reject(new Error("The command used what it should not"));
const store: SessionStore = {
  open: unused,
  path: unused,
  exists: unused,
  async *read() {},
  list: async () => [],
  keys: async () => [],
};

async function statusWith(commands: CommandsInfo, json = false): Promise<string> {
  const app = createTestApp({ home: makeFolder() });
  await command.run?.({
    app: {
      ...app,
      sessions: async () => store,
      toolbox: async () => ({
        definitions: [],
        isReadOnly: () => true,
        problemOf: () => undefined,
        run: unused,
      }),
      commands: async () => commands,
      chooseModel: () => Promise.reject(new UserError("There is no model")),
    },
    positionals: [],
    options: { json },
    signal: new AbortController().signal,
  });
  return app.terminal.stdout;
}

test.each<[CommandsInfo["sandbox"], string]>([
  [{ kind: "bwrap", hasProc: true }, "guarded, in a sandbox (bwrap)"],
  [{ kind: "bwrap", hasProc: false }, "guarded, in a sandbox (bwrap, without /proc)"],
  [{ kind: "none", why: "bwrap: not installed" }, "guarded, no sandbox (bwrap: not installed)"],
  [
    { kind: "refused", why: "bwrap: does not work here: No permissions\u001b[31m" },
    "✗ refused, because tools.exec.sandbox is bwrap (bwrap: does not work here: No permissions)",
  ],
])("status says how commands are kept in: %j", async (sandbox, line) => {
  expect(await statusWith({ enabled: true, policy: "guarded", sandbox })).toContain(`\nCommands:  ${line}\n`);
});

test("status says when no command can be run", async () => {
  const off: CommandsInfo = { enabled: false, policy: "ask", sandbox: { kind: "none", why: "x" } };
  expect(await statusWith(off)).toContain("\nCommands:  none can be run (tools.exec.enable is false)\n");
});

test("status --json has the policy and the sandbox", async () => {
  const commands: CommandsInfo = { enabled: true, policy: "ask", sandbox: { kind: "bwrap", hasProc: true } };
  expect(JSON.parse(await statusWith(commands, true))).toMatchObject({ commands });
});
