/** That nothing is done behind a link that came since a path was resolved, at whatever moment it came. */

import { describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { PinnedFiles } from "../../src/core/tool.ts";
import { createPinnedFiles } from "../../src/platform/pinned-files.ts";
import { bytes, createTempFiles, failureCode } from "./temp-files.ts";

const { freshFolder } = createTempFiles();
const never = new AbortController().signal;

/** A folder of the workspace, and one outside that holds the same names, and more. */
function setUp() {
  const base = realpathSync(freshFolder());
  const [inside, outside] = [join(base, "ws"), join(base, "outside")];
  for (const folder of [inside, outside]) {
    mkdirSync(join(folder, "sub"), { recursive: true });
    writeFileSync(join(folder, "file"), folder === inside ? "plain" : "a secret");
  }
  writeFileSync(join(outside, "other"), "a secret");
  return {
    inside,
    outside,
    /** As anybody can do who may write beside the folder. */
    swapFolder(): void {
      renameSync(inside, join(base, "moved"));
      symlinkSync(outside, inside);
    },
    moved: join(base, "moved"),
  };
}

function isUntouched(outside: string): boolean {
  return (
    readdirSync(outside).sort().join() === "file,other,sub" &&
    readdirSync(join(outside, "sub")).length === 0 &&
    readFileSync(join(outside, "file"), "utf8") === "a secret" &&
    (statSync(join(outside, "sub")).mode & 0o777) === startMode
  );
}

const startMode = (() => {
  const folder = freshFolder();
  mkdirSync(join(folder, "sub"));
  return statSync(join(folder, "sub")).mode & 0o777;
})();

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) text += new TextDecoder().decode(chunk);
  return text;
}

/** Each operation on what is called `file`, or on its folder. */
const operations: Readonly<Record<string, (files: PinnedFiles, folder: string) => Promise<unknown>>> = {
  stat: (files, folder) => files.stat(join(folder, "file")),
  linkStats: (files, folder) => files.linkStats(folder, ["file", "other"]),
  list: (files, folder) => files.list(folder, { limit: 10 }),
  read: (files, folder) => files.read(join(folder, "file")),
  stream: (files, folder) => readAll(files.stream(join(folder, "file"), { signal: never })),
  replace: (files, folder) => files.replace(join(folder, "file"), bytes("new"), { mode: 0o640 }),
  makeFolder: (files, folder) => files.makeFolder(join(folder, "sub/a/b"), { mode: 0o700 }),
  remove: (files, folder) => files.remove(join(folder, "sub")),
};
const names = Object.keys(operations).map((name) => [name] as const);

describe.each(["linux", "darwin"])("createPinnedFiles() as on %s", (os) => {
  test.each(names)("%s() refuses a folder that became a link", async (name) => {
    const { inside, outside, swapFolder } = setUp();
    swapFolder();
    const doing = operations[name]?.(createPinnedFiles({ os }), inside) ?? Promise.resolve();
    expect(await failureCode(doing)).toBe("ESTALE");
    expect(isUntouched(outside)).toBe(true);
  });

  test.each(["stat", "read", "stream", "replace"].map((name) => [name] as const))(
    "%s() refuses a file that became a link",
    async (name) => {
      const { inside, outside } = setUp();
      rmSync(join(inside, "file"));
      symlinkSync(join(outside, "file"), join(inside, "file"));
      const doing = operations[name]?.(createPinnedFiles({ os }), inside) ?? Promise.resolve();
      expect(await failureCode(doing)).toBe("ESTALE");
      expect(isUntouched(outside)).toBe(true);
      expect(readdirSync(inside).sort()).toEqual(["file", "sub"]);
    },
  );

  test("makeFolder() takes a link for no folder", async () => {
    const { inside, outside } = setUp();
    symlinkSync(outside, join(inside, "link"));
    const files = createPinnedFiles({ os });
    expect(await failureCode(files.makeFolder(join(inside, "link"), { mode: 0o711 }))).toBe("ESTALE");
    expect(await failureCode(files.makeFolder(join(inside, "link/x"), { mode: 0o711 }))).toBe("ESTALE");
    expect(isUntouched(outside)).toBe(true);
  });

  test("remove() removes a link, and linkStats() tells it", async () => {
    const { inside, outside } = setUp();
    symlinkSync(outside, join(inside, "link"));
    const files = createPinnedFiles({ os });
    expect((await files.linkStats(inside, ["link", "none"])).map((stat) => stat?.kind)).toEqual([
      "link",
      undefined,
    ]);
    await files.remove(join(inside, "link"));
    expect([existsSync(join(inside, "link")), isUntouched(outside)]).toEqual([false, true]);
  });

  test("read() gives the old or the new of a file that is replaced over and over", async () => {
    const { inside } = setUp();
    const files = createPinnedFiles({ os });
    let isWriting = true;
    const writing = (async () => {
      for (let round = 0; round < 20; round++) {
        await files.replace(join(inside, "file"), bytes("plain"), { mode: 0o600 });
      }
      isWriting = false;
    })();
    while (isWriting) {
      expect(new TextDecoder().decode(await files.read(join(inside, "file")))).toBe("plain");
    }
    await writing;
  });

  test("replace() and makeFolder() do not follow a link that comes in the last moment", async () => {
    const { inside, outside } = setUp();
    const target = join(inside, "new");
    let isDone = false;
    const files = createPinnedFiles({
      os,
      onHeld() {
        if (!isDone) symlinkSync(join(outside, "made"), target);
        isDone = true;
      },
    });
    expect(await failureCode(files.replace(target, bytes("new"), { mode: 0o600 }))).toBe("ESTALE");
    rmSync(target);
    isDone = false;
    expect(await failureCode(files.makeFolder(target, { mode: 0o700 }))).toBe("ESTALE");
    expect(isUntouched(outside)).toBe(true);
  });
});

describe("createPinnedFiles(), where a descriptor tells its path", () => {
  const held = ["linkStats", "list", "replace", "makeFolder", "remove"].map((name) => [name] as const);

  test.skipIf(process.platform !== "linux").each(held)(
    "%s() stays in the folder that was checked when a link takes its place right after (skipped but on Linux)",
    async (name) => {
      const { inside, outside, moved, swapFolder } = setUp();
      let isDone = false;
      const files = createPinnedFiles({
        os: "linux",
        onHeld() {
          if (!isDone) swapFolder();
          isDone = true;
        },
      });
      const doing = operations[name]?.(files, inside) ?? Promise.resolve();
      const result = await doing.catch((error: unknown) => error);
      expect(isUntouched(outside)).toBe(true);
      expect(JSON.stringify(result) ?? "").not.toContain("other");
      if (name === "remove") expect(existsSync(join(moved, "sub"))).toBe(false);
      expect(lstatSync(inside).isSymbolicLink()).toBe(true);
    },
  );
});
