/** `nanobot tools call` against the loop: the same call gives the same result, for every tool there is. */

import { describe, expect, test } from "bun:test";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import { ask, endToEnd, type Home, modelAt, newHome, run, sessionOf, startModel } from "./harness.ts";

endToEnd();

/** Of each tool a call that does something, and one that is refused or fails. Nothing in them leaves this machine. */
const calls: Readonly<Record<string, readonly JsonObject[]>> = {
  apply_patch: [
    { edits: [{ path: "notes.md", action: "replace", old_text: "milk", new_text: "oats" }] },
    { edits: [{ path: "notes.md", action: "replace", old_text: "never there", new_text: "x" }] },
  ],
  cron: [{ action: "list" }, { action: "add", message: "tea", tz: "UTC" }],
  edit_file: [
    { path: "notes.md", old_text: "milk", new_text: "oats" },
    { path: "../outside.md", old_text: "a", new_text: "b" },
  ],
  exec: [{ command: "wc -l < notes.md" }, { command: "rm -rf ." }],
  find_files: [{ glob: "*.md", path: "folder" }, { path: "nowhere" }],
  grep: [{ pattern: "milk", path: "folder", output_mode: "content" }, { pattern: "(" }],
  list_dir: [{ path: "folder" }, { path: "nowhere" }],
  list_exec_sessions: [{}],
  memory_search: [{ query: "milk" }, { query: "" }],
  message: [{ content: "hi", channel: "telegram", chat_id: "1" }, { content: "" }],
  read_file: [{ path: "notes.md" }, { path: "/etc/passwd" }],
  // By hand nothing works in the background.
  spawn: [{}, { task: 5, wait: "perhaps" }],
  web_fetch: [{ url: "http://127.0.0.1:9/" }, { url: "file:///etc/passwd" }],
  web_search: [{ query: "weather" }, { query: "" }],
  write_file: [
    { path: "new.md", content: "text" },
    { path: ".nanobot/audit.jsonl", content: "text" },
  ],
  write_stdin: [{ session_id: "none", chars: "y\n" }],
};

/** A search engine that the guard refuses, so that no test asks the world. */
const tools = { web: { search: { provider: "searxng", baseUrl: "http://127.0.0.1:9" } } };

async function homeWith(config: object): Promise<Home> {
  const home = newHome({ ...config, tools });
  // Makes the workspace.
  await run(["tools", "call", "list_dir", '{"path":"."}'], { home });
  mkdirSync(join(home.workspace, "folder"), { recursive: true });
  for (const path of ["notes.md", "folder/list.md"]) {
    const full = join(home.workspace, path);
    writeFileSync(full, "milk\nbread\n");
    utimesSync(full, 1_700_000_000, 1_700_000_000);
  }
  return home;
}

/** Without what names the place where it happened. */
function anywhere(text: string, home: Home): string {
  return text.replaceAll(home.folder, "<home>");
}

describe("nanobot tools call", () => {
  test("is tried with every tool", async () => {
    const { stdout } = await run(["tools", "list", "--json"], { home: newHome() });
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
    expect(Object.keys(calls).sort()).toEqual(names);
  });

  test.each(Object.keys(calls))("gives what the loop gives for %s", async (name) => {
    for (const args of calls[name] ?? []) {
      const server = await startModel([{ toolCalls: [{ name, arguments: args }] }, { text: "Done." }]);
      const inLoop = await homeWith(modelAt(server.url));
      const byHand = await homeWith({});
      expect((await ask("go", inLoop)).stderr).toBe("");
      const lines = await sessionOf(inLoop);
      const { stdout } = await run(["tools", "call", name, JSON.stringify(args)], { home: byHand });
      const result = lines.find(({ role }) => role === "tool")?.content ?? "";
      expect(anywhere(stdout, byHand)).toBe(`${anywhere(result, inLoop)}\n`);
    }
  });
});
