/** A link that takes the place of a path between its check and its use, as a command that runs beside the tools can put it there. */

import { expect, test } from "bun:test";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { FileSystem } from "../../src/core/platform.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { createPinnedFiles } from "../../src/platform/pinned-files.ts";
import { applyPatch } from "../../src/tools/apply-patch.ts";
import { editFile } from "../../src/tools/edit-file.ts";
import { findFiles } from "../../src/tools/find-files.ts";
import { grep } from "../../src/tools/grep.ts";
import { listDir } from "../../src/tools/list-dir.ts";
import { readFile } from "../../src/tools/read-file.ts";
import { writeFile } from "../../src/tools/write-file.ts";
import { createFixture, system } from "./fixture.ts";

/** `place` becomes a link to `outside/…` as soon as it was found to be what it is. */
function setUp(place: "file.txt" | "folder") {
  const { base, workspace } = createFixture();
  for (const folder of [join(base, "outside/folder"), join(workspace, "folder")]) {
    mkdirSync(folder, { recursive: true });
    for (const path of ["folder/file.txt", "file.txt"])
      writeFileSync(join(folder, "..", path), folder.includes("outside") ? "a secret line\n" : "a line\n");
  }
  writeFileSync(join(base, "outside/folder/secret.txt"), "a secret line\n");
  const target = join(workspace, place);
  let isSwapped = false;
  const swapping: FileSystem = {
    ...system,
    async realPath(path) {
      const real = await system.realPath(path);
      if (path === target && !isSwapped) {
        isSwapped = true;
        if (place === "folder") renameSync(target, `${target}-moved`);
        else rmSync(target);
        symlinkSync(join(base, "outside", place), target);
      }
      return real;
    },
  };
  const pinned = createPinnedFiles({ os: process.platform });
  const { call } = createFixture({ files: { system: swapping, pinned, workspace, home: base } });
  const outside = () => [
    ...readdirSync(join(base, "outside"), { recursive: true }).sort(),
    readFileSync(join(base, "outside/file.txt"), "utf8"),
    readFileSync(join(base, "outside/folder/file.txt"), "utf8"),
  ];
  return { call, outside };
}

const patch = (path: string) => ({
  edits: [{ path, action: "replace", old_text: "a", new_text: "b" }],
});

const calls: readonly (readonly [AnyTool, "file.txt" | "folder", object])[] = [
  [readFile, "file.txt", { path: "file.txt" }],
  [writeFile, "file.txt", { path: "file.txt", content: "mine" }],
  [editFile, "file.txt", { path: "file.txt", old_text: "a", new_text: "b" }],
  [applyPatch, "file.txt", patch("file.txt")],
  [grep, "file.txt", { path: "file.txt", pattern: "line" }],
  [listDir, "folder", { path: "folder" }],
  [findFiles, "folder", { path: "folder" }],
  [grep, "folder", { path: "folder", pattern: "line" }],
  [writeFile, "folder", { path: "folder/new.txt", content: "mine" }],
  [readFile, "folder", { path: "folder/new.txt" }],
];

test.each(calls.map(([tool, ...rest]) => [tool.name, ...rest, tool] as const))(
  "%s does nothing behind a link that took the place of %s since the path was checked: %j",
  async (_, place, args, tool) => {
    const { call, outside } = setUp(place);
    const before = outside();
    const { ok, text } = await call(tool, args);
    expect(ok).toBe(false);
    expect(text).not.toContain("secret");
    expect(text).toMatch(/the path was changed meanwhile|there is no such f/);
    expect(outside()).toEqual(before);
  },
);
