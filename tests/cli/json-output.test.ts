import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "../../src/cli/command.ts";
import { command as sessionsCommand } from "../../src/cli/sessions.ts";
import { command as statusCommand } from "../../src/cli/status.ts";
import { command as toolsCommand } from "../../src/cli/tools.ts";
import type { App } from "../../src/core/app.ts";
import { UserError } from "../../src/core/errors.ts";
import type { SessionStore, StoredMessage } from "../../src/core/session.ts";
import { createTestApp } from "./fixture.ts";

/** CSI in one character: JSON leaves it raw, and terminals obey it. */
const CSI = "\u009b";

const unused = () => Promise.reject(new Error("The command used what it should not"));

const store: SessionStore = {
  open: unused,
  path: async (key) => `/sessions/${key}`,
  exists: async (key) => key === CSI,
  async *read(): AsyncGenerator<StoredMessage> {
    yield { role: "user", content: `${CSI}2J` };
  },
  list: async () => [{ key: CSI, path: CSI, updatedAt: "2026-01-01", bytes: 1, preview: CSI }],
  keys: async () => [CSI],
  files: async () => [],
  unconsolidated: async () => undefined,
  consolidated: async () => false,
};

async function output(run: Command["run"], positionals: readonly string[] = []): Promise<string> {
  const app = createTestApp({ home: mkdtempSync(join(tmpdir(), "nanobot-")) });
  const definitions = [{ name: "t", description: CSI, parameters: {} }];
  const toolbox: App["toolbox"] = async () => ({
    definitions,
    isReadOnly: () => true,
    problemOf: () => undefined,
    run: async () => ({ ok: true, text: CSI }),
  });
  const refuse = async () => {
    throw new UserError(CSI);
  };
  const ids = { next: () => "1" };
  await run?.({
    app: {
      ...app,
      platform: { ...app.platform, ids },
      sessions: async () => store,
      toolbox,
      askAtTerminal: async () => {},
      commands: async () => ({ enabled: true, policy: "guarded", sandbox: { kind: "none", why: CSI } }),
      chooseModel: refuse,
    },
    positionals,
    options: { json: true },
    signal: new AbortController().signal,
  });
  return app.terminal.stdout;
}

const commands: readonly [name: string, run: Command["run"], positionals: readonly string[]][] = [
  ["sessions list", sessionsCommand.subcommands?.["list"]?.run, []],
  ["sessions show", sessionsCommand.subcommands?.["show"]?.run, [CSI]],
  ["sessions path", sessionsCommand.subcommands?.["path"]?.run, [CSI]],
  ["status", statusCommand.run, []],
  ["tools list", toolsCommand.subcommands?.["list"]?.run, []],
  ["tools call", toolsCommand.subcommands?.["call"]?.run, ["t", "{}"]],
];
for (const [name, run, positionals] of commands) {
  test(`${name} --json prints no control character`, async () => {
    const text = await output(run, positionals);
    expect(text).toContain("\\u009b");
    expect(text).not.toContain(CSI);
    expect(JSON.stringify(JSON.parse(text))).toContain(CSI);
  });
}

test("sessions show names the nearest key for one that is not there", async () => {
  const show = sessionsCommand.subcommands?.["show"]?.run;
  await expect(output(show, ["nothing-like-it"])).rejects.toThrow('There is no session "nothing-like-it"');
});

test("sessions show names the files beside a message", async () => {
  const show = sessionsCommand.subcommands?.["show"]?.run;
  const app = createTestApp({ home: mkdtempSync(join(tmpdir(), "nanobot-")) });
  const media = [{ path: "/ws/media/cli/0a.png", mime: "image/png" }, `${CSI}a.pdf`];
  await show?.({
    app: {
      ...app,
      sessions: async () => ({
        ...store,
        async *read(): AsyncGenerator<StoredMessage> {
          yield { role: "user", content: "Look", media };
        },
      }),
    },
    positionals: [CSI],
    options: {},
    signal: new AbortController().signal,
  });
  expect(app.terminal.stdout).toBe("\nuser\n[image: media/cli/0a.png]\n[file: a.pdf]\nLook\n");
});
