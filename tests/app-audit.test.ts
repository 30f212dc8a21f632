import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApp } from "../src/app.ts";
import type { InboundId } from "../src/core/messages.ts";
import type { StoredMessage } from "../src/core/session.ts";
import { never } from "../src/lib/abort.ts";
import { createPlatform } from "../src/platform/index.ts";
import { tempFolder } from "./fakes/temp.ts";
import { testRun } from "./fakes/toolbox.ts";

async function newApp(env: Record<string, string> = {}) {
  const home = tempFolder();
  const platform = { ...(await createPlatform()), env: { NANOBOT_HOME: home, ...env } };
  const flags = { config: undefined, workspace: undefined, verbose: false };
  const app = createApp({ platform, version: "1", flags });
  await app.prepareWorkspace();
  return { app, path: join(home, "workspace/.nanobot/audit.jsonl") };
}

const run = testRun({ sessionKey: "cli:tools" });

test("flush() has every call of a tool in the audit log, anchored and without secrets", async () => {
  const { app, path } = await newApp({ MY_API_KEY: "secret-of-mine-1234" });
  const toolbox = await app.toolbox();
  const args = JSON.stringify({ path: "secret-of-mine-1234.md" });
  await toolbox.run({ id: "call_1", name: "read_file", arguments: args }, run);
  await toolbox.run({ id: "call_2", name: "list_dir", arguments: '{"path":"."}' }, run);
  await app.flush();
  expect(readFileSync(path, "utf8")).not.toContain("secret-of-mine");
  const audit = await app.audit();
  expect(await audit.verify(never)).toMatchObject({ ok: true, lines: 2, unanchored: 0 });
  expect(await Array.fromAsync(audit.list({}, never))).toMatchObject([
    { call: "call_2", tool: "list_dir", ok: true, sender: "user", decision: { kind: "ran" } },
    { call: "call_1", tool: "read_file", ok: false, error: expect.stringContaining("[masked]") },
  ]);
  writeFileSync(path, readFileSync(path, "utf8").replace('"tool":"list_dir"', '"tool":"list_dix"'));
  expect(await audit.verify(never)).toMatchObject({ ok: false, problems: [{ kind: "changed", line: 2 }] });
});

test("replay() runs the loop on a recorded turn with the tools there are, and executes none", async () => {
  const { app } = await newApp();
  const session = await (await app.sessions()).open("cli:direct", { signal: never });
  const turn = "cli:1" as InboundId;
  const called = (name: string, args: object) => ({
    id: "call_6a4e2a1d4bd4b9d2_0_0",
    type: "function" as const,
    function: { name, arguments: JSON.stringify(args) },
  });
  const lines = (call: ReturnType<typeof called>): readonly StoredMessage[] => [
    { role: "user", content: "write it", turn, inbound: turn },
    { role: "assistant", content: "", tool_calls: [call], turn },
    { role: "tool", tool_call_id: call.id, name: call.function.name, content: "done", turn },
    { role: "assistant", content: "It is written.", turn },
  ];
  await session.append(lines(called("write_file", { path: "new.md", content: "x" })), { sync: false });
  await session.close();
  const { systemPromptNow, messages, differences } = await app.replay(
    { key: "cli:direct", dry: true },
    never,
  );
  expect(systemPromptNow.length).toBeGreaterThan(100);
  expect(messages).toHaveLength(4);
  // The id is made up, and nothing else.
  expect(differences?.map(({ detail }) => detail)).toEqual(["The id of call 1 differs"]);
  const { workspace } = await app.paths();
  expect(await app.platform.files.stat(join(workspace, "new.md"))).toBeUndefined();
});
