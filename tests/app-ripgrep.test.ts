/** That no program is started for grep where the owner has switched commands off. */

import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApp } from "../src/app.ts";
import type { FileSystem, Processes } from "../src/core/platform.ts";
import { createPlatform } from "../src/platform/index.ts";
import { tempFolder } from "./fakes/temp.ts";
import { testRun } from "./fakes/toolbox.ts";

test.each([
  [true, ["/usr/bin/rg"]],
  [false, []],
])("toolbox() lets grep start ripgrep where tools.exec.enable is %j: %j", async (enable, expected) => {
  const home = tempFolder();
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  writeFileSync(join(home, "config.json"), JSON.stringify({ tools: { exec: { enable } } }));
  for (let index = 0; index < 1_001; index++) writeFileSync(join(workspace, `${index}.txt`), "x\n");
  const platform = await createPlatform();
  const started: string[] = [];
  const processes: Processes = {
    ...platform.processes,
    async run({ file }) {
      started.push(file);
      throw Object.assign(new Error("not here"), { code: "ENOENT" });
    },
  };
  const program = { kind: "file", bytes: 1, modifiedMs: 0, mode: 0o755, inode: 1 } as const;
  const files: FileSystem = {
    ...platform.files,
    stat: async (path) => (path === "/usr/bin/rg" ? program : platform.files.stat(path)),
  };
  const app = createApp({
    platform: { ...platform, processes, files, env: { NANOBOT_HOME: home, PATH: workspace } },
    version: "1",
    flags: { config: undefined, workspace: undefined, verbose: false },
  });
  const toolbox = await app.toolbox();
  const args = JSON.stringify({ pattern: "x", output_mode: "count", head_limit: 1 });
  const { text } = await toolbox.run({ id: "1", name: "grep", arguments: args }, testRun());
  expect(text).toContain("(1000 more.");
  expect(started).toEqual(expected);
  await app.flush();
});
