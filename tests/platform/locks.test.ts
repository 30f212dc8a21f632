import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocks } from "../../src/platform/locks.ts";

const program = join(import.meta.dir, "programs/lock.ts");
const root = mkdtempSync(join(tmpdir(), "nanobot-"));
const never = new AbortController().signal;
/** Processes take their time on a busy machine. */
const PATIENCE_MS = 120_000;
const bun = [process.execPath];
const denoPath = Bun.which("deno");
const deno = [denoPath ?? "", "run", "-A", "--no-check"];
let count = 0;

afterAll(() => rmSync(root, { recursive: true, force: true }));

function freshName(): string {
  return `${root} lock ${count++}`;
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "none",
    (reason: unknown) => reason,
  );
}

/** Resolves when the program says that it has the lock. */
async function startHolder(runtime: string[], os: string, folder: string, what: string, name: string) {
  const child = Bun.spawn([...runtime, program, os, folder, what, name], { stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("held\n");
  return child;
}

// The socket files of other systems work on Linux as well.
for (const os of ["linux", "darwin"]) {
  const folder = join(root, os);
  const locks = createLocks({ os, folder });

  describe(`acquire() on ${os}`, () => {
    test("lets one of many callers in this process in at a time, in their order", async () => {
      const name = freshName();
      const order: number[] = [];
      let inside = 0;
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const lock = await locks.acquire(name, never);
          expect(++inside).toBe(1);
          await settle();
          order.push(index);
          inside--;
          await lock.release();
        }),
      );
      expect(order).toEqual(Array.from({ length: 100 }, (_, index) => index));
    });

    test("holds names apart", async () => {
      const held = [await locks.acquire(freshName(), never), await locks.acquire(freshName(), never)];
      await Promise.all(held.map((lock) => lock.release()));
    });

    test("takes a name of any length and alphabet", async () => {
      const lock = await locks.acquire(`/${"ü".repeat(5000)}/../\0\n`, never);
      await lock.release();
    });

    test("rejects with the reason when aborted before and while it waits in this process", async () => {
      const name = freshName();
      expect(await failure(locks.acquire(name, AbortSignal.abort("before")))).toBe("before");
      const lock = await locks.acquire(name, never);
      const abort = new AbortController();
      const waiting = failure(locks.acquire(name, abort.signal));
      const next = locks.acquire(name, never);
      abort.abort("while");
      expect(await waiting).toBe("while");
      await lock.release();
      await (await next).release();
      const free = await locks.tryAcquire(name);
      expect(free).toBeDefined();
      await free?.release();
    });

    test(
      "rejects with the reason when aborted while it waits for another process, and lets the next one wait",
      async () => {
        const name = freshName();
        const child = await startHolder(bun, os, folder, "hold", name);
        const abort = new AbortController();
        const waiting = failure(locks.acquire(name, abort.signal));
        const next = locks.acquire(name, never);
        await settle();
        abort.abort("enough");
        expect(await waiting).toBe("enough");
        child.kill("SIGKILL");
        await (await next).release();
      },
      PATIENCE_MS,
    );

    test(
      "gets the lock of a process that was killed",
      async () => {
        const name = freshName();
        const child = await startHolder(bun, os, folder, "hold", name);
        expect(await locks.tryAcquire(name)).toBeUndefined();
        const waiting = locks.acquire(name, never);
        child.kill("SIGKILL");
        await (await waiting).release();
      },
      PATIENCE_MS,
    );

    test(
      "excludes other processes",
      async () => {
        const file = join(root, `count-${os}`);
        writeFileSync(file, "0");
        const children = Array.from({ length: 4 }, () =>
          Bun.spawn([...bun, program, os, folder, "count", file, file, "50"]),
        );
        for (let time = 0; time < 50; time++) {
          const lock = await locks.acquire(file, never);
          const value = Number(readFileSync(file, "utf8"));
          await settle();
          writeFileSync(file, String(value + 1));
          await lock.release();
        }
        expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0, 0, 0]);
        expect(readFileSync(file, "utf8")).toBe("250");
      },
      PATIENCE_MS,
    );

    test(
      "lets another process in although this one always has somebody waiting",
      async () => {
        const file = join(root, `fair-${os}`);
        writeFileSync(file, "0");
        const child = Bun.spawn([...bun, program, os, folder, "count", file, file, "5"]);
        let isOver = false;
        const over = child.exited.then(() => {
          isOver = true;
        });
        const busy = Array.from({ length: 3 }, async () => {
          while (!isOver) {
            const lock = await locks.acquire(file, never);
            await settle();
            await lock.release();
          }
        });
        await Promise.all([over, ...busy]);
        expect(readFileSync(file, "utf8")).toBe("5");
      },
      PATIENCE_MS,
    );

    test(
      "keeps no process alive by a lock that it holds",
      async () => {
        const child = await startHolder(bun, os, folder, "keep", freshName());
        expect(await child.exited).toBe(0);
      },
      PATIENCE_MS,
    );

    test.skipIf(denoPath === null)(
      "excludes a process on the other runtime (skipped where deno is not in PATH)",
      async () => {
        const name = freshName();
        const child = await startHolder(deno, os, folder, "hold", name);
        expect(await locks.tryAcquire(name)).toBeUndefined();
        const waiting = locks.acquire(name, never);
        child.kill("SIGKILL");
        const lock = await waiting;
        const file = join(root, `deno-${os}`);
        writeFileSync(file, "0");
        const counting = Bun.spawn([...deno, program, os, folder, "count", name, file, "1"]);
        await lock.release();
        expect(await counting.exited).toBe(0);
        expect(readFileSync(file, "utf8")).toBe("1");
      },
      PATIENCE_MS,
    );
  });

  describe(`tryAcquire() on ${os}`, () => {
    test("gives undefined while somebody in this process holds the name, and the lock after", async () => {
      const name = freshName();
      const lock = await locks.tryAcquire(name);
      expect(lock).toBeDefined();
      expect(await locks.tryAcquire(name)).toBeUndefined();
      await lock?.release();
      const again = await locks.tryAcquire(name);
      expect(again).toBeDefined();
      await again?.release();
    });

    test("gives the lock to one of several others, whose names are apart from this process's", async () => {
      const name = freshName();
      const others = Array.from({ length: 5 }, () => createLocks({ os, folder }));
      const got = await Promise.all(others.map((other) => other.tryAcquire(name)));
      const held = got.filter((lock) => lock !== undefined);
      expect(held.length).toBe(1);
      await held[0]?.release();
    });
  });

  describe(`release() on ${os}`, () => {
    test("frees the name before it resolves, and may be called twice", async () => {
      const name = freshName();
      const lock = await locks.acquire(name, never);
      await Promise.all([lock.release(), lock.release()]);
      const other = await createLocks({ os, folder }).tryAcquire(name);
      expect(other).toBeDefined();
      await lock.release();
      expect(await locks.tryAcquire(name)).toBeUndefined();
      await other?.release();
    });
  });
}

test(
  "acquire() on darwin leaves no socket file behind, also none of the dead",
  async () => {
    const folder = mkdtempSync(join(root, "files-"));
    const name = freshName();
    const child = await startHolder(bun, "darwin", folder, "hold", name);
    child.kill("SIGKILL");
    await child.exited;
    expect(readdirSync(folder).length).toBe(1);
    const lock = await createLocks({ os: "darwin", folder }).acquire(name, never);
    await lock.release();
    expect(readdirSync(folder)).toEqual([]);
  },
  PATIENCE_MS,
);

test("acquire() on darwin clears away what a process left that was killed while it made a sign", async () => {
  const folder = mkdtempSync(join(root, "files-"));
  const [old, young] = [join(folder, "u-old"), join(folder, "u-young")];
  writeFileSync(old, "");
  writeFileSync(young, "");
  utimesSync(old, 0, 0);
  const lock = await createLocks({ os: "darwin", folder }).acquire(freshName(), never);
  await lock.release();
  expect(readdirSync(folder)).toEqual(["u-young"]);
});
