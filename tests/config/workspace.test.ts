import { describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { createWorkspace, prepareWorkspace } from "../../src/config/workspace.ts";
import { createAssets } from "../../src/platform/assets.ts";
import { files, makeFolder, refusalOf } from "./fixture.ts";

const assets = createAssets(resolve(import.meta.dir, "../.."));
const templates = ["AGENTS.md", "HEARTBEAT.md", "SOUL.md", "TOOLS.md", "USER.md", "memory/MEMORY.md"];

function prepare(workspace: string) {
  return prepareWorkspace({ files, assets, workspace });
}

describe("prepareWorkspace()", () => {
  test("prepareWorkspace() makes the folder with every template", async () => {
    const workspace = join(makeFolder(), "deep", "workspace");
    expect(await prepare(workspace)).toEqual(templates);
    for (const template of templates) {
      expect(readFileSync(join(workspace, template), "utf8")).toBe(await assets.read("workspace", template));
      expect(statSync(join(workspace, template)).mode & 0o777).toBe(0o644);
    }
    expect(statSync(workspace).mode & 0o777).toBe(0o755);
    expect(statSync(join(workspace, "memory")).mode & 0o777).toBe(0o755);
  });

  test("prepareWorkspace() adds nothing the second time", async () => {
    const workspace = makeFolder();
    await prepare(workspace);
    expect(await prepare(workspace)).toEqual([]);
  });

  test("prepareWorkspace() adds what is missing and leaves a file as it is, even an empty one", async () => {
    const workspace = makeFolder();
    writeFileSync(join(workspace, "SOUL.md"), "I am somebody else");
    writeFileSync(join(workspace, "USER.md"), "");
    const added = await prepare(workspace);
    expect(added).toEqual(templates.filter((name) => name !== "SOUL.md" && name !== "USER.md"));
    expect(readFileSync(join(workspace, "SOUL.md"), "utf8")).toBe("I am somebody else");
    expect(readFileSync(join(workspace, "USER.md"), "utf8")).toBe("");
  });

  test("prepareWorkspace() leaves a folder, a link and a link to nothing in a template's place", async () => {
    const workspace = makeFolder();
    const elsewhere = join(makeFolder(), "tools.md");
    writeFileSync(elsewhere, "mine");
    mkdirSync(join(workspace, "SOUL.md"));
    symlinkSync(elsewhere, join(workspace, "TOOLS.md"));
    symlinkSync("nowhere", join(workspace, "USER.md"));
    expect(await prepare(workspace)).toEqual(["AGENTS.md", "HEARTBEAT.md", "memory/MEMORY.md"]);
    expect(statSync(join(workspace, "SOUL.md")).isDirectory()).toBe(true);
    expect(readFileSync(elsewhere, "utf8")).toBe("mine");
    expect(lstatSync(join(workspace, "USER.md")).isSymbolicLink()).toBe(true);
  });

  test("prepareWorkspace() leaves a file in the place of a folder", async () => {
    const workspace = makeFolder();
    writeFileSync(join(workspace, "memory"), "notes");
    expect(await prepare(workspace)).not.toContain("memory/MEMORY.md");
    expect(readFileSync(join(workspace, "memory"), "utf8")).toBe("notes");
  });

  test("prepareWorkspace() works in a folder that is a link", async () => {
    const real = makeFolder();
    const workspace = join(makeFolder(), "workspace");
    symlinkSync(real, workspace);
    expect(await prepare(workspace)).toEqual(templates);
    expect(readFileSync(join(real, "SOUL.md"), "utf8")).toContain("nanobot");
  });

  test("prepareWorkspace() refuses a file and a link to nothing in the workspace's place", async () => {
    const file = join(makeFolder(), "workspace");
    writeFileSync(file, "");
    expect(await refusalOf(prepare(file))).toContain("it is a file");
    const link = join(makeFolder(), "workspace");
    symlinkSync("nowhere", link);
    expect(await refusalOf(prepare(link))).toContain("it is a link to nothing");
  });
});

describe("the templates", () => {
  const read = (name: string) => assets.read("workspace", name);

  test("HEARTBEAT.md has no active task", async () => {
    const [, tasks = ""] = (await read("HEARTBEAT.md")).split("\n## Active Tasks\n");
    expect(tasks.replace(/<!--.*?-->/gs, "").trim()).toBe("");
  });

  test("MEMORY.md has headings and comments only", async () => {
    const text = (await read("memory/MEMORY.md")).replace(/<!--.*?-->/gs, "");
    expect(text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"))).toEqual([]);
  });

  test("SOUL.md says who it is", async () => {
    expect(await read("SOUL.md")).toContain("I am nanobot 🐈");
  });

  test("the memory skill has a header that says what it is", async () => {
    const [, header = ""] = (await assets.read("skills", "memory/SKILL.md")).split("---\n");
    expect(header).toContain("name: memory\n");
    expect(header).toContain("always: true\n");
    expect(header).toMatch(/^description: .+$/m);
  });
});

test("createWorkspace() makes a whole workspace once, however many start at the same moment", async () => {
  const workspace = join(makeFolder(), "deep", "workspace");
  const all = await Promise.all([1, 2, 3].map(() => createWorkspace({ files, assets, workspace })));
  expect(all.filter((added) => added.length > 0)).toHaveLength(1);
  expect(await createWorkspace({ files, assets, workspace })).toEqual([]);
  expect(readdirSync(join(workspace, ".."))).toEqual(["workspace"]);
  expect(readdirSync(workspace).sort()).toEqual(
    [...new Set(templates.map((path) => path.split("/")[0] ?? ""))].sort(),
  );
});
