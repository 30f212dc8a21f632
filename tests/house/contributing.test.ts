/** Follows CONTRIBUTING.md to the letter in a copy of the sources, so that what it says keeps working. */

import { expect, test } from "bun:test";
import { appendFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { tempFolder } from "../fakes/temp.ts";

const root = resolve(import.meta.dir, "../..");

/** The code block that follows the sentence naming `path`. */
function blockFor(text: string, path: string): string {
  const block = text.slice(text.indexOf(`\`${path}\`:`)).match(/```ts\n([\s\S]*?)```/)?.[1];
  if (block === undefined) throw new Error(`CONTRIBUTING.md has no code for ${path}`);
  return block;
}

test("CONTRIBUTING.md adds a tool with one file and one line", () => {
  const guide = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const copy = tempFolder();
  for (const name of ["src", "skills", "workspace", "package.json", "tsconfig.json"]) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

  const line = blockFor(guide, "src/tools/registry.ts");
  expect(line.trimEnd().split("\n")).toHaveLength(1);
  writeFileSync(join(copy, "src/tools/word-count.ts"), blockFor(guide, "src/tools/word-count.ts"));
  appendFileSync(join(copy, "src/tools/registry.ts"), line);

  const [, name = "", args = ""] = /scripts\/nanobot tools call (\w+) '([^']+)'/.exec(guide) ?? [];
  const run = (...words: string[]) =>
    Bun.spawnSync([process.execPath, join(copy, "src/main.ts"), ...words], {
      env: { ...process.env, NANOBOT_HOME: join(copy, "home") },
    });
  const called = run("tools", "call", name, args);
  expect(called.stdout.toString()).toMatch(/^\d+ words\n$/);
  expect(called.exitCode).toBe(0);
  expect(run("tools", "list").stdout.toString()).toContain("word_count");

  const types = Bun.spawnSync([process.execPath, "x", "--bun", "tsc", "--noEmit", "-p", copy], { cwd: root });
  expect(types.stdout.toString()).toBe("");
}, 60_000);
