import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../src/core/errors.ts";
import { keptBefore } from "../../src/lib/kept-before.ts";
import { makeFolder, system, unpinned } from "../tools/fixture.ts";

/** What was there, and what was about to take its place, each time that something was kept. */
function setUp(fail?: Error) {
  const folder = makeFolder();
  const path = join(folder, "memory/MEMORY.md");
  mkdirSync(join(folder, "memory"));
  writeFileSync(path, "before");
  const kept: string[] = [];
  const files = keptBefore(unpinned(system), {
    system,
    path,
    async keep(next) {
      if (fail !== undefined) throw fail;
      const text = next && Buffer.from(next).toString();
      kept.push(`${readFileSync(path, "utf8")} → ${text}`);
    },
  });
  return { files, folder, path, kept };
}

test("keptBefore() keeps the file before it is replaced or removed", async () => {
  const { files, path, kept } = setUp();
  await files.replace(path, Buffer.from("after"), { mode: 0o600 });
  expect(readFileSync(path, "utf8")).toBe("after");
  await files.remove(path);
  expect(existsSync(path)).toBe(false);
  expect(kept).toEqual(["before → after", "after → undefined"]);
});

test("keptBefore() keeps it before a folder around it is removed", async () => {
  const { files, folder, kept } = setUp();
  await files.remove(join(folder, "memory"));
  expect(kept).toEqual(["before → undefined"]);
});

test("keptBefore() keeps nothing for other files", async () => {
  const { files, folder, kept } = setUp();
  mkdirSync(join(folder, "other"));
  for (const name of ["MEMORY.md", "other/MEMORY.md", "memory/MEMORY.md.bak", "memory/2026-12-01.md"]) {
    await files.replace(join(folder, name), Buffer.from("x"), { mode: 0o600 });
    await files.remove(join(folder, name));
  }
  expect(kept).toEqual([]);
});

test.each([
  ["a refusal", new UserError('Cannot use "x": it is too large')],
  ["a bug", new Error("not a function")],
])("keptBefore() changes nothing when keeping fails with %s", async (_, failure) => {
  const { files, path } = setUp(failure);
  const replaced = files.replace(path, Buffer.from("after"), { mode: 0o600 });
  await expect(replaced).rejects.toThrow(failure.message);
  await expect(files.remove(path)).rejects.toThrow(failure.message);
  expect(readFileSync(path, "utf8")).toBe("before");
});
