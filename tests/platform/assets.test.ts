import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAssets } from "../../src/platform/assets.ts";
import { runtime } from "../../src/platform/bun.ts";

const root = mkdtempSync(join(tmpdir(), "nanobot-"));
mkdirSync(join(root, "skills/b/deep"), { recursive: true });
mkdirSync(join(root, "workspace"));
writeFileSync(join(root, "skills/b/deep/SKILL.md"), "dee—p");
writeFileSync(join(root, "skills/a.md"), "");
writeFileSync(join(root, "outside.md"), "");

const assets = createAssets(root);

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error: Error) => error.message,
  );
}

describe("list()", () => {
  test("gives the files below a tree by path, and no folders", async () => {
    expect(await assets.list("skills")).toEqual(["a.md", "b/deep/SKILL.md"]);
    expect(await assets.list("workspace")).toEqual([]);
  });

  test("finds the trees of this program", async () => {
    const own = createAssets(runtime.assetsRoot);
    expect((await own.list("skills")).length).toBeGreaterThan(0);
    expect((await own.list("workspace")).length).toBeGreaterThan(0);
  });
});

test("bytes() gives a file as it is", async () => {
  const bytes = Uint8Array.from([0, 255, 10, 13, 200]);
  writeFileSync(join(root, "skills/b/picture"), bytes);
  expect(new Uint8Array(await assets.bytes("skills", "b/picture"))).toEqual(bytes);
  rmSync(join(root, "skills/b/picture"));
});

describe("read()", () => {
  test("gives a file's text", async () => {
    expect(await assets.read("skills", "b/deep/SKILL.md")).toBe("dee—p");
  });

  test("refuses a path that leaves the tree", async () => {
    for (const read of [assets.read, assets.bytes])
      expect(await failure(read("skills", "b/../../outside.md"))).toContain("outside of");
  });
});
