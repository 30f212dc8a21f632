import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { findFiles } from "../../src/tools/find-files.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";
import { createFixture } from "./fixture.ts";

function fixtureWith(...paths: string[]) {
  const fixture = createFixture();
  for (const path of paths) fixture.put(path, "x");
  return fixture;
}

test("findFiles() finds every file below the workspace, by path", async () => {
  const { call } = fixtureWith("b.txt", "a/x.txt", "a/y/z.txt", ".hidden");
  expect(await call(findFiles, {})).toEqual({ ok: true, text: ".hidden\na/x.txt\na/y/z.txt\nb.txt" });
});

test("findFiles() takes words in any case and order", async () => {
  const { call } = fixtureWith("src/UserStore.ts", "src/user.ts", "store.ts");
  expect((await call(findFiles, { query: "store user" })).text).toBe("src/UserStore.ts");
  expect((await call(findFiles, { query: "src/user" })).text).toBe("src/UserStore.ts\nsrc/user.ts");
});

test("findFiles() takes a glob, a type and a folder, and all of them together", async () => {
  const { call } = fixtureWith("a.ts", "sub/b.ts", "sub/c.tsx", "sub/d.js", "sub/deep/e.ts");
  expect((await call(findFiles, { glob: "*.ts" })).text).toBe("a.ts\nsub/b.ts\nsub/deep/e.ts");
  expect((await call(findFiles, { glob: "sub/*.ts" })).text).toBe("sub/b.ts");
  expect((await call(findFiles, { path: "sub", glob: "*/*.ts" })).text).toBe("sub/deep/e.ts");
  expect((await call(findFiles, { type: "ts", query: "c" })).text).toBe("sub/c.tsx");
  expect((await call(findFiles, { path: "sub", type: "ts", glob: "[a-b].*" })).text).toBe("sub/b.ts");
});

test("findFiles() finds folders when asked to", async () => {
  const { call, workspace } = fixtureWith("test/a.txt", "src/test/b.txt");
  mkdirSync(join(workspace, "empty"));
  expect((await call(findFiles, { include_dirs: true, glob: "test" })).text).toBe("src/test/\ntest/");
  expect((await call(findFiles, { include_dirs: true, query: "empty" })).text).toBe("empty/");
  expect((await call(findFiles, { query: "empty" })).text).toStartWith("(Nothing found");
});

test("findFiles() shows the newest first when asked to", async () => {
  const { call, put } = createFixture();
  for (const [index, name] of ["b", "c", "a"].entries()) utimesSync(put(name, "x"), 1e9 + index, 1e9 + index);
  expect((await call(findFiles, { sort: "modified" })).text).toBe("a\nc\nb");
});

test("findFiles() goes on where the page before ended", async () => {
  const { call } = fixtureWith("a", "b", "c", "d", "e");
  expect((await call(findFiles, { head_limit: 2 })).text).toBe("a\nb\n\n(3 more. Go on with offset=2)");
  expect((await call(findFiles, { head_limit: 2, offset: 4 })).text).toBe("e");
  expect((await call(findFiles, { offset: 5 })).text).toBe("(There are only 5. Use an offset below that)");
  expect((await call(findFiles, { head_limit: 0 })).text).toBe("a\nb\nc\nd\ne");
});

test("findFiles() shows 200 files, and never more than 1,000", async () => {
  const { call } = fixtureWith(...Array.from({ length: 1_100 }, (_, index) => `f${index}`));
  const shown = async (args: object) => (await call(findFiles, args)).text.match(/^f/gm)?.length;
  expect(await shown({})).toBe(200);
  expect(await shown({ head_limit: 0 })).toBe(1_000);
  expect(await shown({ head_limit: 5_000 })).toBe(1_000);
});

test("findFiles() leaves out what tools leave behind, and says so", async () => {
  const { call } = fixtureWith("a.txt", ".git/HEAD", "node_modules/m/a.txt", "src/build");
  expect((await call(findFiles, {})).text).toBe("a.txt\nsrc/build\n\n(Left out: .git, node_modules)");
  expect((await call(findFiles, { path: "node_modules" })).text).toBe("node_modules/m/a.txt");
});

test("findFiles() neither follows links nor shows what is closed", async () => {
  const fixture = createFixture({ files: { hidden: [".nanobot", "config.json"] } });
  for (const path of ["a.txt", ".nanobot/x", "config.json", "config.json.bak-1"]) fixture.put(path, "x");
  writeFileSync(join(fixture.base, "out.txt"), "x");
  symlinkSync(fixture.base, join(fixture.workspace, "up"));
  symlinkSync(join(fixture.base, "out.txt"), join(fixture.workspace, "out"));
  Bun.spawnSync(["mkfifo", join(fixture.workspace, "pipe")]);
  expect((await fixture.call(findFiles, {})).text.split("\n")).toEqual(["a.txt"]);
  expect((await fixture.call(findFiles, { path: "up" })).text).toContain("outside the workspace");
  expect((await fixture.call(findFiles, { path: ".." })).ok).toBe(false);
});

test("findFiles() keeps a name with a line break on one line", async () => {
  const { call } = fixtureWith("a\nb.txt");
  expect((await call(findFiles, { glob: "a*.txt" })).text).toBe('"a\\nb.txt"');
  expect((await call(findFiles, { glob: "b.txt" })).text).toStartWith("(Nothing found");
});

test("findFiles() says what is wrong", async () => {
  const { call } = fixtureWith("a.txt");
  expect((await call(findFiles, { path: "a.txt" })).text).toBe(
    'Cannot find files in "a.txt": it is not a folder',
  );
  expect((await call(findFiles, { path: "no" })).text).toBe(
    'Cannot find files in "no": there is no such folder',
  );
  expect((await call(findFiles, { glob: "../*" })).text).toContain("name another folder with path");
  expect((await call(findFiles, { glob: "[" })).text).toContain('its "[" is not closed');
  expect((await call(findFiles, { glob: "{" })).text).toContain('its "{" is not closed');
  expect((await call(findFiles, { type: "klingon" })).text).toContain("it is not known");
});

test("findFiles() shows nothing but files of the workspace, whatever the glob", async () => {
  const { call, base } = fixtureWith("a", "b/a", "b/c/a");
  writeFileSync(join(base, "a"), "x");
  const glob = fc.string({
    unit: fc.constantFrom("a", "b", "/", ".", "..", "*", "**", "?", "[a-b]", "{a,b}", "!"),
  });
  await fc.assert(
    fc.asyncProperty(glob, async (text) => {
      const { ok, text: found } = await call(findFiles, { glob: text });
      const lines = found.split("\n").filter((line) => ok && !line.startsWith("("));
      expect(["a", "b/a", "b/c/a"]).toEqual(expect.arrayContaining(lines));
    }),
  );
});

test("findFiles() works behind the wrapper, with arguments as models write them", async () => {
  const { context, put, workspace } = createFixture();
  put("a.txt", "x");
  put("b.txt", "x");
  const toolbox = createTestToolbox({
    tools: [findFiles],
    workspace,
    ports: () => context.ports,
    maxResultChars: 16_000,
  });
  const run = (args: string) =>
    toolbox.run({ id: "1", name: "find_files", arguments: args }, testRun({ signal: context.signal }));
  expect(await run('{"head_limit": "1", "include_dirs": "false", "query": null}')).toEqual({
    ok: true,
    text: "a.txt\n\n(1 more. Go on with offset=1)",
  });
  expect((await run('{"sort": "size"}')).ok).toBe(false);
});
