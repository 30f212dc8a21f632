import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createPromptSource } from "../../src/agent/prompt-source.ts";
import { createWorkspaceFiles } from "../../src/lib/workspace-files.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createPinnedFiles } from "../../src/platform/pinned-files.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

const templates: Readonly<Record<string, string>> = {
  "AGENTS.md": "unedited agents",
  "USER.md": "unedited user",
  "memory/MEMORY.md": "unedited memory",
  "SOUL.md": "the soul as it comes",
};

function setUp() {
  const workspace = tempFolder();
  mkdirSync(join(workspace, "memory"));
  const write = (name: string, text: string) => writeFileSync(join(workspace, name), text);
  for (const [name, text] of Object.entries(templates)) write(name, text);
  const log = createFakeLog();
  const system = createFileSystem();
  const pinned = createPinnedFiles({ os: process.platform });
  const message = createPromptSource({
    files: createWorkspaceFiles({ system, pinned, workspace, home: undefined, restrict: true }),
    assets: { list: async () => Object.keys(templates), read: async (_, path) => templates[path] ?? "" },
    log,
    facts: { os: "linux", arch: "x64", runtime: "Test 1", workspace },
  });
  const prompt = async () => (await message()).content;
  return { workspace, write, log, message, prompt };
}

test("createPromptSource() leaves unedited forms out, and keeps the soul", async () => {
  const { prompt } = setUp();
  const text = await prompt();
  expect(text).toContain("## SOUL.md\n\nthe soul as it comes");
  expect(text).not.toContain("unedited");
});

test("createPromptSource() takes an edit in with the next prompt, in the order of the layers", async () => {
  const { prompt, write } = setUp();
  const before = await prompt();
  write("memory/MEMORY.md", "The user likes tea.");
  write("AGENTS.md", "Be careful.");
  write("IDENTITY.md", "I am somebody.");
  const layers = (await prompt()).split("\n\n---\n\n");
  expect(layers.map((layer) => layer.split("\n")[0])).toEqual([
    before.split("\n")[0] ?? "",
    "## AGENTS.md",
    "## SOUL.md",
    "## IDENTITY.md",
    "# Memory",
  ]);
});

test("createPromptSource() gives the same message as long as no file changes", async () => {
  const { message, write } = setUp();
  const before = await message();
  expect(await message()).toBe(before);
  write("SOUL.md", "another soul");
  expect(await message()).not.toEqual(before);
});

test("createPromptSource() does not follow a link out of the workspace, and says so once", async () => {
  const { prompt, workspace, log } = setUp();
  const secret = join(tempFolder(), "secret.txt");
  writeFileSync(secret, "root:secret");
  symlinkSync(secret, join(workspace, "TOOLS.md"));
  expect(await prompt()).not.toContain("root:secret");
  expect(await prompt()).not.toContain("root:secret");
  expect(log.lines.filter((line) => line.includes("TOOLS.md"))).toHaveLength(1);
});

test("createPromptSource() cuts a file that is too long and says where the rest is", async () => {
  const { prompt, write } = setUp();
  write("memory/MEMORY.md", "fact ".repeat(20_000));
  const text = await prompt();
  expect(text.length).toBeLessThan(40_000);
  expect(text).toContain("[Cut: memory/MEMORY.md is longer. Read the rest with read_file.]");
});
