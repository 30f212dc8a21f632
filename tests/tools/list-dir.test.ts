import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileSystem } from "../../src/core/platform.ts";
import { listDir } from "../../src/tools/list-dir.ts";
import { createFixture, system } from "./fixture.ts";

function fixtureWith(...paths: string[]) {
  const fixture = createFixture();
  for (const path of paths) {
    if (path.endsWith("/")) mkdirSync(join(fixture.workspace, path), { recursive: true });
    else fixture.put(path, "x");
  }
  return fixture;
}

test("listDir() lists the workspace, sorted, folders with a slash and links with @", async () => {
  const { call, workspace } = fixtureWith("b.txt", "a/x.txt", "c.txt");
  symlinkSync("/etc", join(workspace, "link"));
  expect(await call(listDir, {})).toEqual({ ok: true, text: "a/\nb.txt\nc.txt\nlink@" });
});

test("listDir() shows the tree when asked to", async () => {
  const { call } = fixtureWith("b.txt", "a/x/deep.txt", "a/y.txt", "empty/", "a-b.txt");
  expect((await call(listDir, { path: ".", recursive: true })).text).toBe(
    "a-b.txt\na/\na/x/\na/x/deep.txt\na/y.txt\nb.txt\nempty/",
  );
});

test("listDir() names paths below the folder it was asked for", async () => {
  const { call } = fixtureWith("a/x/deep.txt", "b.txt");
  expect((await call(listDir, { path: "a/", recursive: true })).text).toBe("x/\nx/deep.txt");
});

test("listDir() leaves out what tools leave behind, and says so", async () => {
  const { call } = fixtureWith("a.txt", ".git/HEAD", "src/node_modules/x.js", "src/b.ts", "dist/x");
  expect((await call(listDir, { recursive: true })).text).toBe(
    "a.txt\nsrc/\nsrc/b.ts\n\n(Left out: .git, dist, node_modules)",
  );
  expect((await call(listDir, {})).text).toBe("a.txt\nsrc/\n\n(Left out: .git, dist)");
});

test("listDir() shows files whose names are those of such folders", async () => {
  const { call } = fixtureWith("build", "dist", ".coverage", ".git", "src/build/x");
  expect((await call(listDir, { recursive: true })).text).toBe(
    ".coverage\n.git\nbuild\ndist\nsrc/\n\n(Left out: build)",
  );
});

test("listDir() shows such a folder when it is asked for by name", async () => {
  const { call } = fixtureWith("dist/x");
  expect((await call(listDir, { path: "dist" })).text).toBe("x");
});

test("listDir() does not mention nanobot's own folder", async () => {
  const { call } = fixtureWith(".nanobot/inbox.jsonl", "a.txt");
  expect((await call(listDir, { recursive: true })).text).toBe("a.txt");
  expect((await call(listDir, { path: ".nanobot" })).text).toContain("closed to tools");
});

test("listDir() says that a folder is empty, or that the rest was left out", async () => {
  const { call } = fixtureWith("empty/", "only/build/x");
  expect((await call(listDir, { path: "empty" })).text).toBe("(The folder is empty)");
  expect((await call(listDir, { path: "only" })).text).toBe(
    "(Nothing else is in the folder)\n(Left out: build)",
  );
});

test("listDir() says how many more there are", async () => {
  const { call } = fixtureWith(
    ...Array.from({ length: 205 }, (_, index) => `f${String(index).padStart(3, "0")}`),
  );
  const { text } = await call(listDir, {});
  expect(text.split("\n").slice(199)).toEqual([
    "f199",
    "",
    "(5 more. List a folder below, or raise max_entries up to 1000)",
  ]);
  expect((await call(listDir, { max_entries: 3 })).text).toStartWith("f000\nf001\nf002\n\n(202 more.");
});

test("listDir() shows the upper levels first when there is too much", async () => {
  const { call } = fixtureWith("a/1/x", "a/2/x", "b/1/x", "c");
  const { text } = await call(listDir, { recursive: true, max_entries: 3 });
  expect(text).toStartWith("a/\nb/\nc\n\n(6 more.");
});

test("listDir() shows no more than 1,000 entries and ends its work early", async () => {
  let listed = 0;
  // Every folder holds 10 folders, without end.
  const endless: FileSystem = {
    ...system,
    async list() {
      listed++;
      const entries = Array.from({ length: 10 }, (_, index) => ({
        name: `d${index}`,
        kind: "directory" as const,
      }));
      return { entries, more: false };
    },
  };
  const { call } = createFixture({ files: { system: endless } });
  const { text } = await call(listDir, { recursive: true, max_entries: 1_000_000 });
  expect(text.split("\n").filter((line) => line.endsWith("/"))).toHaveLength(1000);
  expect(text).toContain("(At least 20000 more.");
  expect(listed).toBeLessThanOrEqual(2_200);
});

test("listDir() says so when a folder has more than it was told of", async () => {
  const crowded: FileSystem = {
    ...system,
    list: async () => ({ entries: [{ name: "a", kind: "file" }], more: true }),
  };
  const { call } = createFixture({ files: { system: crowded } });
  expect((await call(listDir, {})).text).toBe(
    "a\n\n(There is more than one call looks at. Name a folder below with path)",
  );
});

test("listDir() goes on past a folder that it cannot read", async () => {
  const { call, workspace } = fixtureWith("a/x", "b/x");
  const refusing: FileSystem = {
    ...system,
    async list(path, options) {
      if (path === join(workspace, "a")) throw Object.assign(new Error("EACCES"), { code: "EACCES" });
      return system.list(path, options);
    },
  };
  const other = createFixture({ files: { system: refusing, workspace } });
  expect((await other.call(listDir, { recursive: true })).text).toBe("a/\nb/\nb/x\n\n(Not readable: a)");
  expect((await other.call(listDir, { path: "a" })).text).toBe('Cannot list "a": permission denied');
  expect((await call(listDir, { path: "a" })).text).toBe("x");
});

test("listDir() never follows a link", async () => {
  const { call, workspace } = fixtureWith("a/x");
  symlinkSync("..", join(workspace, "a", "up"));
  symlinkSync("/etc", join(workspace, "etc"));
  expect((await call(listDir, { recursive: true })).text).toBe("a/\na/up@\na/x\netc@");
  expect((await call(listDir, { path: "etc" })).text).toContain("leads outside the workspace");
});

test("listDir() keeps a name with a line break on one line", async () => {
  const { call } = fixtureWith("a\nb.txt");
  expect((await call(listDir, {})).text).toBe('"a\\nb.txt"');
});

test("listDir() refuses what is no folder", async () => {
  const { call } = fixtureWith("a.txt");
  expect(await call(listDir, { path: "a.txt" })).toEqual({
    ok: false,
    text: 'Cannot list "a.txt": it is not a folder; use read_file',
  });
  expect((await call(listDir, { path: "none" })).text).toBe('Cannot list "none": there is no such folder');
});

test("listDir() says that it cannot list a folder outside the workspace", async () => {
  const { call } = fixtureWith("a.txt");
  expect((await call(listDir, { path: "/etc" })).text).toStartWith('Cannot list "/etc": ');
});

test("listDir() names nothing that is closed, as find_files does not", async () => {
  const { base, call, workspace, put } = createFixture({
    files: { allowedPaths: ["~/own"], hidden: ["~/own/config.json", "private"] },
  });
  mkdirSync(join(base, "own/notes"), { recursive: true });
  for (const name of ["config.json", "config.json.bak-1", "notes/a.txt", ".nanobot-1-0a.tmp"])
    writeFileSync(join(base, "own", name), "x");
  put("private/b.txt", "x");
  put("c.txt", "x");
  symlinkSync("private", join(workspace, "link"));
  expect((await call(listDir, { path: "~/own", recursive: true })).text).toBe("notes/\nnotes/a.txt");
  expect((await call(listDir, { recursive: true })).text).toBe("c.txt\nlink@");
});
