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
  const today = { day: "2026-11-30" };
  const skills = { prompt: { active: "", summary: "" } };
  const system = createFileSystem();
  const pinned = createPinnedFiles({ os: process.platform });
  const message = createPromptSource({
    files: createWorkspaceFiles({ system, pinned, workspace, home: undefined, restrict: true }),
    assets: {
      list: async () => Object.keys(templates),
      read: async (_, path) => templates[path] ?? "",
      bytes: async () => new Uint8Array(),
    },
    log,
    facts: { os: "linux", arch: "x64", runtime: "Test 1", workspace },
    today: () => today.day,
    skills: { prompt: async () => skills.prompt },
  });
  const prompt = async () => (await message()).content;
  return { workspace, write, log, message, prompt, today, skills };
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

test("createPromptSource() takes the notes of the day in, and those of another day out", async () => {
  const { prompt, write, today } = setUp();
  write("memory/2026-11-30.md", "The plumber comes.");
  write("memory/2026-12-01.md", "The plumber came.");
  expect(await prompt()).toContain("# Notes of today (memory/2026-11-30.md)\n\nThe plumber comes.");
  expect(await prompt()).not.toContain("came.");
  today.day = "2026-12-01";
  expect(await prompt()).toContain("# Notes of today (memory/2026-12-01.md)\n\nThe plumber came.");
  expect(await prompt()).not.toContain("comes.");
});

test("createPromptSource() puts skills before what is remembered, and nothing for none", async () => {
  const { prompt, write, skills } = setUp();
  expect(await prompt()).not.toContain("# Skills");
  write("memory/MEMORY.md", "The user likes tea.");
  skills.prompt = { active: "Always do this.", summary: "- **tmux** — windows" };
  const text = await prompt();
  const places = ["# Active Skills\n\nAlways do this.", "# Skills\n\n- **tmux**", "# Memory"].map((part) =>
    text.indexOf(part),
  );
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual([...places].sort((one, other) => one - other));
});

test("createPromptSource() never carries the history, however large it is", async () => {
  const { prompt, write } = setUp();
  write("memory/HISTORY.md", `[2026-11-30 10:00] start\n\n${"x".repeat(200_000)}\n`.repeat(10));
  write("memory/MEMORY.md", "fact\n".repeat(100_000));
  const text = await prompt();
  expect(text).not.toContain("xxxx");
  expect(text.length).toBeLessThan(40_000);
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
