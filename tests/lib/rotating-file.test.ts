import { expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FileSystem } from "../../src/core/platform.ts";
import { createRotatingFile } from "../../src/lib/rotating-file.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { tempFolder } from "../fakes/temp.ts";

/** A file that calls `meanwhile` each time before it looks at its end. */
function setUp(meanwhile: (path: string) => void) {
  const folder = tempFolder();
  const real = createFileSystem();
  const read: FileSystem["read"] = (path, range) => {
    meanwhile(path);
    return real.read(path, range);
  };
  const file = createRotatingFile({
    files: { ...real, read },
    locks: createLocks({ os: process.platform, folder }),
    folder,
    name: "usage",
    maxBytes: 10_000,
    keep: 8,
  });
  return { file, textOf: (name: string) => readFileSync(join(folder, name), "utf8") };
}

/** As another process does it. */
function rotate(path: string, number: number): void {
  renameSync(path, path.replace(".jsonl", `.${number}.jsonl`));
}

test("append() goes to the new file when another process rotates the old one at that moment", async () => {
  let rotations = 0;
  const { file, textOf } = setUp((path) => {
    if (rotations === 0) rotate(path, ++rotations);
  });
  await file.append("one\n");
  appendFileSync(file.path, "of another\n");
  await file.append("two\n");
  expect([textOf("usage.1.jsonl"), textOf("usage.jsonl")]).toEqual(["one\nof another\n", "two\n"]);
});

test("append() does not take the end of a new file for the end of the old one", async () => {
  let rotations = 0;
  const { file, textOf } = setUp((path) => {
    if (rotations > 0) return;
    rotate(path, ++rotations);
    writeFileSync(path, "a\n");
  });
  await file.append("one\n");
  appendFileSync(file.path, "of another\n");
  await file.append("two\n");
  expect([textOf("usage.1.jsonl"), textOf("usage.jsonl")]).toEqual(["one\nof another\n", "a\ntwo\n"]);
});

test("append() loses nothing when others rotate as fast as it looks", async () => {
  let rotations = 0;
  const { file, textOf } = setUp((path) => {
    rotate(path, ++rotations);
    writeFileSync(path, `new ${rotations}\n`);
  });
  await file.append("one\n");
  appendFileSync(file.path, "of another\n");
  await file.append("two\n");
  const all = ["usage.1.jsonl", "usage.2.jsonl", "usage.jsonl"].map(textOf).join("");
  const lines = all.split("\n").filter((line) => line !== "");
  expect(lines.sort()).toEqual(["new 1", "new 2", "of another", "one", "two"]);
});

test("append() of several processes loses nothing, however often they rotate", async () => {
  const folder = tempFolder();
  const program = join(import.meta.dir, "programs/append.ts");
  const [lines, maxBytes, keep] = [300, 200, 40];
  const names = ["a", "b", "c", "d"];
  const said = await Promise.all(
    names.map((name) => {
      const args = [folder, name, lines, maxBytes, keep].map(String);
      const child = Bun.spawn([process.execPath, program, ...args], { stdout: "pipe" });
      return new Response(child.stdout).text();
    }),
  );
  expect(said).toEqual(["", "", "", ""]);
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  expect(files.length).toBeGreaterThan(3);
  const found = files.flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  const wanted = names.flatMap((name) => Array.from({ length: lines }, (_, line) => `${name} ${line}`));
  expect(found.filter((line) => line !== "").sort()).toEqual(wanted.sort());
}, 60_000);

test("append() tells before it puts a full file away, and which one makes room", async () => {
  const folder = tempFolder();
  const told: (string | undefined)[] = [];
  const file = createRotatingFile({
    files: createFileSystem(),
    locks: createLocks({ os: process.platform, folder }),
    folder,
    name: "usage",
    maxBytes: 4,
    keep: 1,
    onRotation: async (dropped) => {
      told.push(dropped && readFileSync(dropped, "utf8"));
      await file.sync();
    },
  });
  for (const line of ["one\n", "two\n", "six\n"]) await file.append(line);
  expect(told).toEqual([undefined, "one\n"]);
  expect(readFileSync(file.path, "utf8")).toBe("six\n");
});

test("append() puts nothing away when whoever is told of it fails", async () => {
  const folder = tempFolder();
  let fails = true;
  const file = createRotatingFile({
    files: createFileSystem(),
    locks: createLocks({ os: process.platform, folder }),
    folder,
    name: "usage",
    maxBytes: 4,
    keep: 1,
    onRotation: () => (fails ? Promise.reject(new Error("no")) : Promise.resolve()),
  });
  await file.append("one\n");
  await expect(file.append("two\n")).rejects.toThrow("no");
  fails = false;
  await file.append("two\n");
  expect(
    readdirSync(folder)
      .sort()
      .map((name) => readFileSync(join(folder, name), "utf8")),
  ).toEqual(["one\n", "two\n"]);
});
