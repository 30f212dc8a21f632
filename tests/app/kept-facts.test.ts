/** What the file tools of the whole program may do to memory, and what of it is kept. */

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApp } from "../../src/app.ts";
import { createPlatform } from "../../src/platform/index.ts";
import { tempFolder } from "../fakes/temp.ts";
import { testRun } from "../fakes/toolbox.ts";

const run = testRun({ sessionKey: "cli:tools" });

async function newApp() {
  const home = tempFolder();
  const platform = { ...(await createPlatform()), env: { NANOBOT_HOME: home } };
  const app = createApp({
    platform,
    version: "1",
    flags: { config: undefined, workspace: undefined, verbose: false },
  });
  await app.prepareWorkspace();
  const workspace = join(home, "workspace");
  const facts = join(workspace, "memory/MEMORY.md");
  writeFileSync(facts, "- drinks tea\n");
  const toolbox = await app.toolbox();
  let calls = 0;
  async function call(name: string, args: object) {
    const id = `call_${++calls}`;
    return toolbox.run({ id, name, arguments: JSON.stringify(args) }, run);
  }
  async function versions() {
    const memory = await app.memory();
    const found = await memory.versions();
    return Promise.all(found.map(({ id }) => memory.version(id)));
  }
  return { app, call, versions, workspace, facts };
}

const path = "memory/MEMORY.md";

test.each([
  ["write_file", { path, content: "gone\n" }],
  ["write_file", { path: "memory/../memory//MEMORY.md", content: "gone\n" }],
  ["edit_file", { path, old_text: "- drinks tea", new_text: "gone" }],
  ["apply_patch", { edits: [{ path, action: "replace", old_text: "- drinks tea", new_text: "gone" }] }],
])("toolbox() keeps a version of MEMORY.md before %s %j replaces it", async (name, args) => {
  const { call, versions, facts } = await newApp();
  expect(await call(name, args)).toMatchObject({ ok: true });
  expect(readFileSync(facts, "utf8")).toBe("gone\n");
  expect(await versions()).toEqual(["- drinks tea\n"]);
});

test("toolbox() keeps no version of MEMORY.md when it says the same, is new, or another file is written", async () => {
  const { call, versions, workspace, facts } = await newApp();
  await call("write_file", { path, content: "- drinks tea\n" });
  await call("write_file", { path: "memory/2026-12-01.md", content: "x" });
  await call("write_file", { path: "MEMORY.md", content: "x" });
  await call("write_file", { path: "MEMORY.md", content: "y" });
  expect(await versions()).toEqual([]);
  renameSync(facts, join(workspace, "moved.md"));
  expect(await call("write_file", { path, content: "- new\n" })).toMatchObject({ ok: true });
  expect(await versions()).toEqual([]);
  expect(existsSync(join(workspace, ".nanobot/memory"))).toBe(false);
});

test("toolbox() keeps a version of MEMORY.md in a folder that is a link, by whatever name it is written", async () => {
  const { call, versions, workspace } = await newApp();
  renameSync(join(workspace, "memory"), join(workspace, "elsewhere"));
  symlinkSync("elsewhere", join(workspace, "memory"));
  await call("write_file", { path: "elsewhere/MEMORY.md", content: "gone\n" });
  await call("write_file", { path, content: "gone as well\n" });
  expect(await versions()).toEqual(["gone\n", "- drinks tea\n"]);
});

test("toolbox() does not write MEMORY.md where no version of it can be kept, and says what to do", async () => {
  const { call, workspace, facts } = await newApp();
  writeFileSync(facts, "x".repeat(300 * 1024));
  const { ok, text } = await call("write_file", { path, content: "short\n" });
  expect(ok).toBe(false);
  expect(text).toContain("larger than 256 KiB, so that no version of it can be kept; nothing was changed");
  expect(readFileSync(facts).length).toBe(300 * 1024);
  renameSync(facts, join(workspace, "memory/old.md"));
  expect(await call("write_file", { path, content: "short\n" })).toMatchObject({ ok: true });
});

test.each(["memory/HISTORY.md", "memory/history.md", "memory/history.jsonl", "memory"])(
  "toolbox() lets no file tool write %s, whether it is there or not",
  async (closed) => {
    const { call, workspace } = await newApp();
    const history = join(workspace, "memory/HISTORY.md");
    for (const isThere of [false, true]) {
      if (isThere) writeFileSync(history, "[2026-11-30 09:00] They met.\n");
      for (const [name, args] of [
        ["write_file", { path: closed, content: "gone" }],
        ["edit_file", { path: closed, old_text: "", new_text: "gone" }],
        ["apply_patch", { edits: [{ path: closed, action: "add", new_text: "gone" }] }],
      ] as const) {
        const { ok, text } = await call(name, args);
        expect([name, ok, text]).toEqual([
          name,
          false,
          expect.stringContaining("only nanobot itself writes"),
        ]);
      }
    }
    expect(readFileSync(history, "utf8")).toBe("[2026-11-30 09:00] They met.\n");
    expect(await call("read_file", { path: "memory/HISTORY.md" })).toMatchObject({ ok: true });
  },
);

test("toolbox() lets file tools write where memory is missing", async () => {
  const { call, workspace } = await newApp();
  renameSync(join(workspace, "memory"), join(workspace, "moved"));
  expect(await call("write_file", { path: "memory/2026-12-01.md", content: "x" })).toMatchObject({
    ok: true,
  });
  mkdirSync(join(workspace, "other"));
  expect(await call("write_file", { path: "other/HISTORY.md", content: "x" })).toMatchObject({ ok: true });
});
