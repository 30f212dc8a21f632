import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createFileSystem } from "../../src/platform/files.ts";
import { bytes, createTempFiles, failureCode, systems } from "./temp-files.ts";

const files = createFileSystem();
const { fresh, freshFolder, freshFifo } = createTempFiles();
const oldUmask = process.umask();

beforeAll(() => void process.umask(0o077));
afterAll(() => void process.umask(oldUmask));

function modeOf(path: string): number {
  return statSync(path).mode & 0o7777;
}

describe.each(systems)("%s, replace()", (_, files) => {
  test("makes a file with the mode it was given, against the umask", async () => {
    const path = fresh();
    await files.replace(path, bytes("new"), { mode: 0o664 });
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(modeOf(path)).toBe(0o664);
  });

  test("puts another file in the place of the old one", async () => {
    const path = fresh();
    const other = fresh();
    writeFileSync(path, "old");
    linkSync(path, other);
    await files.replace(path, bytes("new"), { mode: 0o600 });
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(readFileSync(other, "utf8")).toBe("old");
  });

  test("takes a name as long as a name can be", async () => {
    const path = join(freshFolder(), "n".repeat(255));
    await files.replace(path, bytes("new"), { mode: 0o600 });
    expect(readFileSync(path, "utf8")).toBe("new");
  });

  test("leaves nothing but the file behind", async () => {
    const path = freshFolder();
    await files.replace(join(path, "file"), bytes("1"), { mode: 0o600 });
    await files.replace(join(path, "file"), bytes("2"), { mode: 0o600 });
    expect(readdirSync(path)).toEqual(["file"]);
  });

  test("refuses to put a file in the place of a folder", async () => {
    const path = freshFolder();
    expect(await failureCode(files.replace(path, bytes("new"), { mode: 0o600 }))).toBe("EISDIR");
  });

  test("removes its temporary file and keeps the old one when the disk takes no more", () => {
    const path = freshFolder();
    writeFileSync(join(path, "file"), "old");
    const source = join(import.meta.dir, "../../src/platform/files.ts");
    const script = `
      const { createFileSystem } = await import(${JSON.stringify(source)});
      const replacing = createFileSystem().replace("file", new Uint8Array(100_000), { mode: 0o600 });
      console.log(await replacing.catch((error) => error.code));`;
    // A limit on the size of files fails like a full disk, halfway through.
    const shell = `trap '' XFSZ; ulimit -f 16; exec "$0" -e "$1"`;
    const { stdout } = Bun.spawnSync(["sh", "-c", shell, process.execPath, script], { cwd: path });
    expect(stdout.toString()).toBe("EFBIG\n");
    expect(readdirSync(path)).toEqual(["file"]);
    expect(readFileSync(join(path, "file"), "utf8")).toBe("old");
  });

  test("refuses to put a file in the place of a FIFO", async () => {
    const path = freshFifo();
    expect(await failureCode(files.replace(path, bytes("new"), { mode: 0o600 }))).toBe("EINVAL");
    expect(lstatSync(path).isFIFO()).toBe(true);
  });

  test("lets every reader see the old or the new file whole", async () => {
    const path = fresh();
    const [old, young] = [Buffer.alloc(20_000, "a"), Buffer.alloc(30_000, "b")];
    await files.replace(path, old, { mode: 0o600 });
    for (const next of [young, old, young]) {
      let isWriting = true;
      const writing = files.replace(path, next, { mode: 0o600 }).then(() => {
        isWriting = false;
      });
      while (isWriting) {
        const seen = Buffer.from(await files.read(path));
        expect(seen.equals(old) || seen.equals(young)).toBe(true);
      }
      await writing;
    }
  });
});

describe("openAppend()", () => {
  test("makes the file with the mode it was given, against the umask", async () => {
    const path = fresh();
    await (await files.openAppend(path, { mode: 0o640 })).close();
    expect(modeOf(path)).toBe(0o640);
  });

  test("leaves content and mode of a file that is there", async () => {
    const path = fresh();
    writeFileSync(path, "old ");
    chmodSync(path, 0o644);
    const file = await files.openAppend(path, { mode: 0o600 });
    await file.append(bytes("new"));
    await file.close();
    expect(readFileSync(path, "utf8")).toBe("old new");
    expect(modeOf(path)).toBe(0o644);
  });

  test("appends in the order of the calls, whatever their number", async () => {
    const path = fresh();
    const file = await files.openAppend(path, { mode: 0o600 });
    const lines = Array.from({ length: 500 }, (_, index) => `${index}\n`);
    await Promise.all(lines.map((line) => file.append(bytes(line))));
    await file.close();
    expect(readFileSync(path, "utf8")).toBe(lines.join(""));
  });

  test("appends after what another writer appended meanwhile", async () => {
    const path = fresh();
    const [one, two] = [
      await files.openAppend(path, { mode: 0o600 }),
      await files.openAppend(path, { mode: 0o600 }),
    ];
    await one.append(bytes("1"));
    await two.append(bytes("2"));
    await one.append(bytes("3"));
    await Promise.all([one.close(), two.close()]);
    expect(readFileSync(path, "utf8")).toBe("123");
  });

  test("syncs for every caller", async () => {
    const path = fresh();
    const file = await files.openAppend(path, { mode: 0o600 });
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        await file.append(bytes("x"));
        await file.sync();
      }),
    );
    await file.close();
    expect(statSync(path).size).toBe(100);
  });

  test("closes only when all is written, and rejects after", async () => {
    const path = fresh();
    const file = await files.openAppend(path, { mode: 0o600 });
    const writing = file.append(bytes("late"));
    await file.close();
    await writing;
    expect(readFileSync(path, "utf8")).toBe("late");
    expect(await failureCode(file.append(bytes("x")))).toBe("EBADF");
  });

  test("refuses a device", async () => {
    expect(await failureCode(files.openAppend("/dev/null", { mode: 0o600 }))).toBe("EINVAL");
  });

  test("refuses a FIFO without waiting for a reader", async () => {
    expect(await failureCode(files.openAppend(freshFifo(), { mode: 0o600 }))).toBe("ENXIO");
  });

  test("rejects for a link to nothing instead of trying for ever", async () => {
    const link = fresh("link");
    symlinkSync(fresh(), link);
    expect(await failureCode(files.openAppend(link, { mode: 0o600 }))).toBe("ENOENT");
  });
});

describe.each(systems)("%s, makeFolder()", (_, files) => {
  test("makes missing parents, each with the mode it was given, against the umask", async () => {
    const path = join(fresh("folder"), "b", "c");
    await files.makeFolder(path, { mode: 0o755 });
    expect([modeOf(path), modeOf(join(path, "..")), modeOf(join(path, "../.."))]).toEqual([
      0o755, 0o755, 0o755,
    ]);
  });

  test("leaves the mode of folders that are there", async () => {
    const path = freshFolder();
    chmodSync(path, 0o711);
    await files.makeFolder(join(path, "below"), { mode: 0o700 });
    await files.makeFolder(path, { mode: 0o700 });
    expect(modeOf(path)).toBe(0o711);
  });

  test("rejects with EEXIST where a file is, and with ENOTDIR below one", async () => {
    const path = fresh();
    writeFileSync(path, "");
    expect(await failureCode(files.makeFolder(path, { mode: 0o700 }))).toBe("EEXIST");
    expect(await failureCode(files.makeFolder(join(path, "below"), { mode: 0o700 }))).toBe("ENOTDIR");
  });

  test("makes one folder for many callers at once", async () => {
    const path = join(fresh("folder"), "b", "c");
    await Promise.all(Array.from({ length: 20 }, () => files.makeFolder(path, { mode: 0o700 })));
    expect(modeOf(path)).toBe(0o700);
  });
});

describe("rename()", () => {
  test("moves a file to another folder", async () => {
    const from = fresh();
    const to = join(freshFolder(), "moved");
    writeFileSync(from, "x");
    await files.rename(from, to);
    expect([existsSync(from), readFileSync(to, "utf8")]).toEqual([false, "x"]);
  });
});

describe.each(systems)("%s, remove()", (_, files) => {
  test("removes a folder with all that is in it, but not what a link in it leads to", async () => {
    const outside = fresh();
    writeFileSync(outside, "kept");
    const path = freshFolder();
    mkdirSync(join(path, "below"));
    symlinkSync(outside, join(path, "below", "link"));
    await files.remove(path);
    expect([existsSync(path), existsSync(outside)]).toEqual([false, true]);
  });

  test("is fine with nothing, also below a file", async () => {
    const path = fresh();
    await files.remove(path);
    writeFileSync(path, "");
    await files.remove(join(path, "below"));
    expect(existsSync(path)).toBe(true);
  });
});

describe("replace() and links", () => {
  test("replaces what a chain of links leads to and keeps the links", async () => {
    const path = freshFolder();
    writeFileSync(join(path, "config"), "old");
    symlinkSync("config", join(path, "inner"));
    symlinkSync(join(path, "inner"), join(path, "outer"));
    await files.replace(join(path, "outer"), bytes("new"), { mode: 0o600 });
    expect(lstatSync(join(path, "outer")).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(path, "inner")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(path, "config"), "utf8")).toBe("new");
  });

  test("makes the file that a link to nothing names", async () => {
    const path = freshFolder();
    symlinkSync("missing", join(path, "link"));
    await files.replace(join(path, "link"), bytes("new"), { mode: 0o600 });
    expect(lstatSync(join(path, "missing")).isFile()).toBe(true);
  });

  test("rejects with ELOOP for links in a circle", async () => {
    const path = fresh("circle");
    symlinkSync(path, path);
    expect(await failureCode(files.replace(path, bytes(""), { mode: 0o600 }))).toBe("ELOOP");
  });
});

describe("makeFolder() of any path", () => {
  test("is fine with a link to a folder", async () => {
    const link = fresh("link");
    symlinkSync(freshFolder(), link);
    await files.makeFolder(link, { mode: 0o700 });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  test("rejects for an empty path instead of trying for ever", async () => {
    expect(await failureCode(files.makeFolder("", { mode: 0o700 }))).toBe("ENOENT");
  });
});
