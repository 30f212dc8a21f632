import { expect, test } from "bun:test";
import { command } from "../../src/cli/status.ts";
import type { App, CommandsInfo } from "../../src/core/app.ts";
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
  files: async () => [],
  unconsolidated: async () => undefined,
  consolidated: async () => false,
};

const anyCommands: CommandsInfo = {
  enabled: true,
  policy: "guarded",
  sandbox: { kind: "bwrap", hasProc: true },
};

async function statusWith(
  commands: CommandsInfo,
  json = false,
  gateway: Partial<Pick<App, "askGateway" | "channels">> = {},
): Promise<string> {
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
      ...gateway,
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

const running = {
  version: "0.1.0",
  pid: 7,
  startedAt: "2026-12-01T09:00:00.000Z",
  address: "http://127.0.0.1:18790",
  journal: null,
  outbox: 0,
};

test.each([
  [{}, "running at http://127.0.0.1:18790 (pid 7, since 2026-12-01T09:00:00.000Z)"],
  [
    { outbox: 2, journal: "the disk is full\u001b[31m" },
    "running at http://127.0.0.1:18790 (pid 7, since 2026-12-01T09:00:00.000Z, 2 not delivered) ✗ the disk is full",
  ],
])("status says that a gateway runs, and how it is: %j", async (more, line) => {
  const askGateway = async () => ({ running: true, value: { ...running, ...more } }) as const;
  expect(await statusWith(anyCommands, false, { askGateway })).toContain(`\nGateway:   ${line}\n`);
  expect(JSON.parse(await statusWith(anyCommands, true, { askGateway })).gateway).toMatchObject({
    running: true,
    pid: 7,
  });
});

test("status says that no gateway runs, or that one does not answer", async () => {
  expect(await statusWith(anyCommands)).toContain("\nGateway:   not running\n");
  const askGateway = () => Promise.reject(new UserError("The gateway does not answer"));
  expect(await statusWith(anyCommands, false, { askGateway })).toContain(
    "\nGateway:   ✗ The gateway does not answer\n",
  );
});

test("status names the channels that are enabled, and what is wrong with one", async () => {
  expect(await statusWith(anyCommands)).toContain("\nChannels:  none is enabled\n");
  const channels = async () => [
    { name: "telegram", enabled: true, exists: true, problem: undefined },
    { name: "slack", enabled: true, exists: false, problem: "There is no channel" },
    { name: "webhook", enabled: false, exists: true, problem: undefined },
  ];
  expect(await statusWith(anyCommands, false, { channels })).toContain(
    "\nChannels:  telegram, slack ✗ There is no channel\n",
  );
});
