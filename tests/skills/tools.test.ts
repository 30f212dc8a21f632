/** What the model's tools can do with the built-in skills: by the paths that the prompt names, and by plain ones. */

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { exec } from "../../src/tools/exec.ts";
import { findFiles } from "../../src/tools/find-files.ts";
import { grep } from "../../src/tools/grep.ts";
import { listDir } from "../../src/tools/list-dir.ts";
import { readFile } from "../../src/tools/read-file.ts";
import { writeFile } from "../../src/tools/write-file.ts";
import { createFixture } from "../tools/fixture.ts";
import { described, put, setUp } from "./fixture.ts";

async function prepare() {
  let standIn = async (_path: string): Promise<string | undefined> => undefined;
  const fixture = createFixture({
    files: { readable: ".nanobot/skills", standIn: (path) => standIn(path) },
  });
  const { skills, workspace } = setUp({
    workspace: fixture.workspace,
    own: { "mine/SKILL.md": described("mine") },
    builtIn: {
      "github/SKILL.md": described("github", "Issues and such."),
      "github/references/api.md": "# The needle",
      "github/scripts/list.sh": '#!/bin/sh\ncat "$(dirname "$0")/../references/api.md"\n',
    },
  });
  standIn = skills.standIn;
  const path = (await skills.list()).find(({ name }) => name === "github")?.path ?? "";
  return { ...fixture, path, folder: path.slice(0, -"/SKILL.md".length), workspace };
}

describe("the model's tools", () => {
  test("read a built-in skill by the path of the prompt, and by its plain path", async () => {
    const { call, path } = await prepare();
    for (const one of [path, "skills/github/SKILL.md"]) {
      expect((await call(readFile, { path: one, force: true })).text).toContain("Issues and such.");
    }
    expect((await call(readFile, { path: "skills/github/references/api.md" })).text).toContain("needle");
    expect((await call(readFile, { path: "skills/mine/SKILL.md" })).text).toContain("About mine.");
    expect(await call(readFile, { path: "skills/mine/references/api.md" })).toMatchObject({ ok: false });
    expect(await call(readFile, { path: "skills/none/SKILL.md" })).toMatchObject({ ok: false });
  });

  test("look around in its folder, and search it", async () => {
    const { call, folder } = await prepare();
    for (const path of [folder, "skills/github"]) {
      expect((await call(listDir, { path })).text).toContain("scripts");
      expect((await call(findFiles, { path, glob: "*.sh" })).text).toContain("list.sh");
      expect((await call(grep, { path, pattern: "needle" })).text).toContain("api.md");
    }
  });

  test("run its scripts", async () => {
    const { call, folder } = await prepare();
    for (const command of [`${folder}/scripts/list.sh`, `sh ${folder}/scripts/list.sh`]) {
      expect((await call(exec, { command })).text).toContain("# The needle");
    }
    expect((await call(exec, { command: "./scripts/list.sh", working_dir: folder })).text).toContain(
      "# The needle",
    );
  });

  test("write nothing there, and make a skill of one's own in its place", async () => {
    const { call, path, folder, workspace } = await prepare();
    for (const one of [path, `${folder}/new.md`])
      expect(await call(writeFile, { path: one, content: "x" })).toMatchObject({ ok: false });
    expect(
      await call(writeFile, { path: "skills/github/SKILL.md", content: described("github", "Mine.") }),
    ).toMatchObject({ ok: true });
    expect((await call(readFile, { path: "skills/github/SKILL.md" })).text).toContain("Mine.");
    put(join(workspace, "skills/github/notes.md"), "x");
    expect(await call(readFile, { path: "skills/github/references/api.md" })).toMatchObject({ ok: false });
  });
});
