import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createMediaStore } from "../../src/agent/media.ts";
import { UserError } from "../../src/core/errors.ts";
import type { MediaSource } from "../../src/core/media.ts";
import type { FileSystem } from "../../src/core/platform.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { PNG, pngOf } from "../fakes/images.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

const MIB = 1024 * 1024;
const DAY_MS = 24 * 60 * 60 * 1000;

function setUp({ workspace = tempFolder(), now = Date.now(), replaced = {} as Partial<FileSystem> } = {}) {
  const clock = createFakeClock(now);
  const log = createFakeLog();
  const files = { ...createFileSystem(), ...replaced };
  return { workspace, clock, log, store: createMediaStore({ files, clock, log, workspace }) };
}

/** Fails the test when anything is read. */
const unread: Partial<FileSystem> = {
  read: async (path) => {
    throw new Error(`Read ${path}`);
  },
};

function fileOf(bytes: Uint8Array | string, name = "my picture.txt"): string {
  const path = join(tempFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

test("save() copies a file under the digest of its content, named and typed by its bytes, for its owner only", async () => {
  const { store, workspace } = setUp();
  const media = await store.save({ channel: "cli", path: fileOf(PNG) });
  expect(media.path).toMatch(/\/media\/cli\/[0-9a-f]{32}\.png$/);
  expect(media).toEqual({ path: media.path, mime: "image/png", name: "my picture.txt" });
  expect(media.path.startsWith(workspace)).toBe(true);
  expect(readFileSync(media.path)).toEqual(PNG);
  const modes = [media.path, join(workspace, "media/cli"), join(workspace, "media")];
  expect(modes.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700, 0o700]);
});

test("save() keeps the same content once, whatever it is called", async () => {
  const { store, workspace } = setUp();
  const first = await store.save({ channel: "cli", path: fileOf(PNG, "a.png") });
  const second = await store.save({ channel: "cli", bytes: PNG, name: "b.png" });
  expect(second).toEqual({ ...first, name: "b.png" });
  expect(readdirSync(join(workspace, "media/cli"))).toHaveLength(1);
});

test("save() puts back what somebody wrote over a kept file", async () => {
  const { store } = setUp();
  const { path } = await store.save({ channel: "cli", bytes: PNG });
  writeFileSync(path, "something else");
  await store.save({ channel: "cli", bytes: PNG });
  expect(readFileSync(path)).toEqual(PNG);
});

test("save() does not write through a link in the place of a kept file", async () => {
  const { store } = setUp();
  const { path } = await store.save({ channel: "cli", bytes: PNG });
  const outside = fileOf("untouched");
  await createFileSystem().remove(path);
  symlinkSync(outside, path);
  await store.save({ channel: "cli", bytes: PNG });
  expect([readFileSync(outside, "utf8"), readFileSync(path).equals(PNG)]).toEqual(["untouched", true]);
});

for (const link of ["media", "media/cli"]) {
  test(`save() refuses a link in the place of ${link}/, and writes nothing behind it`, async () => {
    const { store, workspace } = setUp();
    const outside = tempFolder();
    if (link !== "media") mkdirSync(join(workspace, "media"));
    symlinkSync(outside, join(workspace, link));
    await expect(store.save({ channel: "cli", bytes: PNG })).rejects.toThrow(/a link leads elsewhere$/);
    expect(readdirSync(outside)).toEqual([]);
  });
}

test("save() keeps the files of a channel below media/, whatever the channel is called", async () => {
  const { store, workspace } = setUp();
  const { path } = await store.save({ channel: "../../x", bytes: PNG });
  expect(path.startsWith(join(workspace, "media/"))).toBe(true);
  expect(readdirSync(workspace)).toEqual(["media"]);
});

test("save() takes a broken image for a file, and refuses it where only images are wanted", async () => {
  const { store } = setUp();
  const broken = { channel: "cli", bytes: PNG.subarray(0, -12), name: "a.png" };
  expect(await store.save(broken)).toMatchObject({ mime: "application/octet-stream", name: "a.png" });
  await expect(store.save({ ...broken, imagesOnly: true })).rejects.toThrow(
    'Cannot attach "a.png": the image is not whole, its end is missing',
  );
});

const refusals: readonly (readonly [what: string, make: () => string, reason: string])[] = [
  ["what is not there", () => join(tempFolder(), "none"), "there is nothing there"],
  ["a folder", tempFolder, "it is a folder"],
  ["an empty file", () => fileOf(""), "it is empty"],
  ["a device", () => "/dev/zero", "it is a device, a pipe or a socket, not a regular file"],
  ["a file of the kernel", () => "/proc/self/status", "it is empty"],
  [
    "a FIFO",
    () => {
      const path = join(tempFolder(), "fifo");
      execFileSync("mkfifo", [path]);
      return path;
    },
    "it is a device, a pipe or a socket, not a regular file",
  ],
  [
    "a sparse file of 3 GB",
    () => {
      const path = fileOf("");
      truncateSync(path, 3_000_000_000);
      return path;
    },
    "it has 2861.03 MiB, and the most is 20 MiB",
  ],
];
for (const [what, make, reason] of refusals) {
  test(`save() refuses ${what} without reading it`, async () => {
    const { store, workspace } = setUp({ replaced: unread });
    const path = make();
    const refused = store.save({ channel: "cli", path });
    await expect(refused).rejects.toThrow(new UserError(`Cannot attach "${path}": ${reason}`));
    expect(readdirSync(workspace)).toEqual([]);
  });
}

test("save() refuses a file that grew after it was looked at, and reads no more than a byte too much", async () => {
  const real = createFileSystem();
  let read = 0;
  const { store } = setUp({
    replaced: {
      async stat(path) {
        const stat = await real.stat(path);
        return stat && { ...stat, bytes: 1_000 };
      },
      async read(path, range) {
        const bytes = await real.read(path, range);
        read = bytes.length;
        return bytes;
      },
    },
  });
  const path = fileOf(pngOf(21 * MIB));
  await expect(store.save({ channel: "cli", path })).rejects.toThrow("the most is 20 MiB");
  expect(read).toBe(20 * MIB + 1);
});

for (const [what, size, isTaken] of [
  ["20 MiB", 20 * MIB, true],
  ["a byte more than 20 MiB", 20 * MIB + 1, false],
  ["nothing", 0, false],
] as const) {
  test(`save() ${isTaken ? "takes" : "refuses"} ${what} of bytes`, async () => {
    const saved = setUp().store.save({ channel: "cli", bytes: Buffer.alloc(size, 1) });
    expect(await saved.then(() => true).catch((error: unknown) => !(error instanceof UserError))).toBe(
      isTaken,
    );
  });
}

for (const [what, bytes, reason] of [
  ["a document", Buffer.from("%PDF-1.7"), "it is no PNG, JPEG, GIF or WebP image"],
  ["text called .png", Buffer.from("hello"), "it is no PNG, JPEG, GIF or WebP image"],
  ["an image no vendor takes", pngOf(3.75 * MIB + 1), "it has 3.76 MiB, and the most is 3.75 MiB"],
] as const) {
  test(`save() with imagesOnly refuses ${what} and keeps nothing`, async () => {
    const { store, workspace } = setUp();
    const path = fileOf(bytes, "a.png");
    const refused = store.save({ channel: "cli", path, imagesOnly: true });
    await expect(refused).rejects.toThrow(new UserError(`Cannot attach "${path}": ${reason}`));
    expect(readdirSync(workspace)).toEqual([]);
  });
}

test("save() cleans the name: no path, no controls, at most 100 characters, none rather than an empty one", async () => {
  const { store } = setUp();
  const nameOf = async (name: string) => (await store.save({ channel: "cli", bytes: PNG, name })).name;
  expect(await nameOf("../../etc/pass\nwd")).toBe("pass wd");
  expect(await nameOf("C:\\pictures\\\u202egnp.a\x1b[31m.png")).toBe("gnp.a.png");
  expect(await nameOf("a/")).toBeUndefined();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 300 }), async (text) => {
      const name = (await nameOf(text)) ?? "x";
      expect(name.length).toBeGreaterThan(0);
      expect(name.length).toBeLessThanOrEqual(100);
      expect(name).not.toMatch(/[\x00-\x1f\x7f-\x9f/\\]/);
      expect(name.isWellFormed()).toBe(true);
    }),
    { numRuns: 30 },
  );
});

function age(path: string, now: number, days: number): void {
  utimesSync(path, new Date(now - days * DAY_MS), new Date(now - days * DAY_MS));
}

const contentOf = (mark: number): MediaSource => ({ channel: `c${mark % 2}`, bytes: pngOf(100, mark) });

test("tidy() removes files after 30 days, and leaves what is newer, links and folders", async () => {
  const now = Date.now();
  const { store, workspace } = setUp({ now });
  const [old, young] = [await store.save(contentOf(1)), await store.save(contentOf(2))];
  age(old.path, now, 31);
  age(young.path, now, 29);
  const outside = tempFolder();
  const foreign = join(outside, "old.png");
  writeFileSync(foreign, PNG);
  age(foreign, now, 40);
  symlinkSync(outside, join(workspace, "media/linked"));
  mkdirSync(join(workspace, "media/c1/folder"));
  const { store: next } = setUp({ workspace, now });
  await next.tidy();
  expect([old.path, young.path, foreign].map((path) => existsSync(path))).toEqual([false, true, true]);
  expect(existsSync(join(workspace, "media/c1/folder"))).toBe(true);
});

test("tidy() removes the oldest beyond 1 GiB", async () => {
  const now = Date.now();
  const { store, workspace } = setUp({ now });
  const paths: string[] = [];
  for (let day = 1; day <= 4; day++) {
    const { path } = await store.save(contentOf(day));
    truncateSync(path, 300 * MIB);
    age(path, now, day);
    paths.push(path);
  }
  await setUp({ workspace, now }).store.tidy();
  expect(paths.map((path) => existsSync(path))).toEqual([true, true, true, false]);
});

test("tidy() looks once a day, and saving does it too", async () => {
  const now = Date.now();
  const { store, clock } = setUp({ now });
  const { path } = await store.save(contentOf(1));
  age(path, now, 40);
  await store.tidy();
  await store.save(contentOf(2));
  expect(existsSync(path)).toBe(true);
  await clock.advance(DAY_MS);
  await store.save(contentOf(2));
  expect(existsSync(path)).toBe(false);
});

test("tidy() has nothing to do where there is no media/, or a link to elsewhere", async () => {
  const { store, workspace } = setUp();
  await store.tidy();
  const outside = tempFolder();
  const foreign = join(outside, "cli/old.png");
  mkdirSync(join(outside, "cli"));
  writeFileSync(foreign, PNG);
  age(foreign, Date.now(), 40);
  symlinkSync(outside, join(workspace, "media"));
  await setUp({ workspace }).store.tidy();
  expect(existsSync(foreign)).toBe(true);
});

test("save() works although old files cannot be removed, and logs it", async () => {
  const list = async () => {
    throw new Error("the disk failed");
  };
  const { store, workspace } = setUp();
  await store.save(contentOf(1));
  const { store: next, log } = setUp({ workspace, replaced: { list } });
  await next.save(contentOf(2));
  expect(log.lines).toEqual(["warn Could not remove old media Error: the disk failed"]);
  expect(readdirSync(join(workspace, "media")).sort()).toEqual(["c0", "c1"]);
});
