import { describe, expect, test } from "bun:test";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createFileSystem } from "../../src/platform/files.ts";
import { createTempFiles, failureCode, systems } from "./temp-files.ts";

const files = createFileSystem();
const { fresh, freshFolder, freshFifo } = createTempFiles();
const never = new AbortController().signal;

function text(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

/** Descriptors of this process that point at `path`. */
function openDescriptors(path: string): number {
  const links = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return realpathSync(`/proc/self/fd/${fd}`);
    } catch {
      // Closed since it was listed, as the listing's own is.
      return "";
    }
  });
  return links.filter((link) => link === path).length;
}

describe.each(systems)("%s, stat()", (_, files) => {
  test("says what a file is", async () => {
    const path = fresh();
    writeFileSync(path, "hello");
    const { ino, mtimeMs } = statSync(path);
    const found = await files.stat(path);
    expect(found).toMatchObject({ kind: "file", bytes: 5, inode: ino });
    expect(Math.round(found?.modifiedMs ?? 0)).toBe(Math.round(mtimeMs));
  });

  test("gives undefined for nothing, and for what would lie below a file", async () => {
    const path = fresh();
    expect(await files.stat(path)).toBeUndefined();
    writeFileSync(path, "");
    expect(await files.stat(join(path, "below"))).toBeUndefined();
  });

  test("says other for a FIFO", async () => {
    expect((await files.stat(freshFifo()))?.kind).toBe("other");
  });
});

describe.each(systems)("%s, list()", (_, files) => {
  test("gives the first entries by name and says that there are more", async () => {
    const path = freshFolder();
    for (const name of ["c", "a", "d", "b"]) writeFileSync(join(path, name), "");
    expect(await files.list(path, { limit: 2 })).toEqual({
      entries: [
        { name: "a", kind: "file" },
        { name: "b", kind: "file" },
      ],
      more: true,
    });
  });

  test("gives every kind, and no more when all fit", async () => {
    const path = freshFolder();
    writeFileSync(join(path, "1"), "");
    mkdirSync(join(path, "2"));
    symlinkSync("1", join(path, "3"));
    expect(Bun.spawnSync(["mkfifo", join(path, "4")]).exitCode).toBe(0);
    const { entries, more } = await files.list(path, { limit: 4 });
    expect(entries.map((entry) => entry.kind)).toEqual(["file", "directory", "link", "other"]);
    expect(more).toBe(false);
  });

  test("rejects with ENOENT for nothing", async () => {
    expect(await failureCode(files.list(fresh(), { limit: 1 }))).toBe("ENOENT");
  });
});

describe.each(systems)("%s, read()", (_, files) => {
  test("gives any range as slicing the whole would", async () => {
    const path = fresh();
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.nat(400),
        fc.nat(400),
        async (content, start, end) => {
          writeFileSync(path, content);
          const expected = end > start ? content.slice(start, end) : new Uint8Array(0);
          expect(await files.read(path, { start, end })).toEqual(expected);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("gives the whole without a range", async () => {
    const path = fresh();
    writeFileSync(path, "a—b\0");
    expect(text(await files.read(path))).toBe("a—b\0");
  });

  test("refuses a FIFO without waiting for a writer", async () => {
    expect(await failureCode(files.read(freshFifo()))).toBe("EINVAL");
  });

  test("refuses a device", async () => {
    expect(await failureCode(files.read("/dev/zero"))).toBe("EINVAL");
  });

  test("refuses a folder", async () => {
    expect(await failureCode(files.read(freshFolder()))).toBe("EISDIR");
  });

  test("rejects with ENOENT for nothing", async () => {
    expect(await failureCode(files.read(fresh()))).toBe("ENOENT");
  });
});

describe.each(systems)("%s, stream()", (_, files) => {
  const size = 200_000;

  test("gives all from the start on in bounded chunks", async () => {
    const path = fresh();
    const content = crypto.getRandomValues(new Uint8Array(size / 4));
    writeFileSync(path, Buffer.concat([content, content, content, content]));
    const chunks = await collect(files.stream(path, { start: 10, signal: never }));
    expect(Buffer.concat(chunks).equals(readFileSync(path).subarray(10))).toBe(true);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(65_536);
  });

  test("closes the file when the reader leaves early", async () => {
    const path = fresh();
    writeFileSync(path, Buffer.alloc(size));
    for await (const _ of files.stream(path, { signal: never })) {
      expect(openDescriptors(path)).toBe(1);
      break;
    }
    expect(openDescriptors(path)).toBe(0);
  });

  test("stops with the reason of the signal and closes the file", async () => {
    const path = fresh();
    writeFileSync(path, Buffer.alloc(size));
    const abort = new AbortController();
    const reading = (async () => {
      for await (const _ of files.stream(path, { signal: abort.signal })) abort.abort("enough");
    })();
    expect(await failureCode(reading)).toBe("enough");
    expect(openDescriptors(path)).toBe(0);
  });

  test("refuses a FIFO without waiting for a writer", async () => {
    expect(await failureCode(collect(files.stream(freshFifo(), { signal: never })))).toBe("EINVAL");
  });
});

describe("stat()", () => {
  test("follows a link, which linkStat() does not", async () => {
    const target = freshFolder();
    const link = fresh("link");
    symlinkSync(target, link);
    expect((await files.stat(link))?.kind).toBe("directory");
    expect((await files.linkStat(link))?.kind).toBe("link");
  });
});

describe("realPath()", () => {
  test("resolves links on the way", async () => {
    const target = freshFolder();
    writeFileSync(join(target, "file"), "");
    const link = fresh("link");
    symlinkSync(target, link);
    expect(await files.realPath(join(link, "file"))).toBe(realpathSync(join(target, "file")));
  });
});
