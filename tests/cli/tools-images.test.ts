import { expect, test } from "bun:test";
import { command as sessions } from "../../src/cli/sessions.ts";
import { command as tools } from "../../src/cli/tools.ts";
import type { App } from "../../src/core/app.ts";
import type { StoredMessage } from "../../src/core/session.ts";
import type { ToolRun } from "../../src/core/tool-run.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

const media = [{ path: "/ws/media/tools/0a.png", mime: "image/png", name: "shot.png" }];

/** What `nanobot tools call read_file` prints for a picture, and on whose behalf it ran. */
async function call(options: Readonly<Record<string, boolean>>) {
  const app = createTestApp({ home: tempFolder() });
  const runs: ToolRun[] = [];
  const toolbox: App["toolbox"] = async () => ({
    definitions: [],
    isReadOnly: () => true,
    problemOf: () => undefined,
    async run(_call, run) {
      runs.push(run);
      const images = [{ mime: "image/png", data: "iVBORw0KGgo=", name: "shot.png" }] as const;
      return { ok: true, text: "A picture of 1 × 1", images, media };
    },
  });
  const code = await tools.subcommands?.["call"]?.run?.({
    app: {
      ...app,
      platform: { ...app.platform, ids: { next: () => "1" } },
      toolbox,
      askAtTerminal: async () => {},
    },
    positionals: ["read_file", '{"path":"shot.png"}'],
    options,
    signal: new AbortController().signal,
  });
  return { code, runs, stdout: app.terminal.stdout };
}

test("tools call prints the text, and where the images are", async () => {
  const { code, stdout, runs } = await call({});
  expect(stdout).toBe("A picture of 1 × 1\n[image: media/tools/0a.png] shot.png\n");
  expect(code).toBe(0);
  expect(runs).toMatchObject([{ sessionKey: "cli:tools", turn: "cli_1", sender: "user", origin: "chat" }]);
});

test("tools call --json tells where the images are, and not what they are", async () => {
  const { stdout } = await call({ json: true });
  expect(JSON.parse(stdout)).toEqual({ tool: "read_file", ok: true, text: "A picture of 1 × 1", media });
});

test("sessions show names the images of a tool's result", async () => {
  const app = createTestApp({ home: tempFolder() });
  const line: StoredMessage = {
    role: "tool",
    tool_call_id: "1",
    name: "read_file",
    content: "A picture",
    media,
  };
  await sessions.subcommands?.["show"]?.run?.({
    app: {
      ...app,
      sessions: async () => ({
        open: () => Promise.reject(new Error("The command used what it should not")),
        path: async () => "/sessions/a",
        exists: async () => true,
        async *read() {
          yield line;
        },
        list: async () => [],
        keys: async () => ["a"],
        files: async () => [],
        unconsolidated: async () => undefined,
        consolidated: async () => false,
      }),
    },
    positionals: ["a"],
    options: {},
    signal: new AbortController().signal,
  });
  expect(app.terminal.stdout).toBe("\ntool read_file\n[image: media/tools/0a.png] shot.png\nA picture\n");
});
