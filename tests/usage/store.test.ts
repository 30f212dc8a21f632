import { expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { UserError } from "../../src/core/errors.ts";
import type { AppendFile } from "../../src/core/platform.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { tempFolder } from "../fakes/temp.ts";
import { call, readAll, setUp, signal } from "./fixture.ts";

/** Files whose appends wait until `open` is called, or fail with `error`. */
function slowFiles() {
  const gate = Promise.withResolvers<void>();
  const state = { appends: 0, error: undefined as Error | undefined, open: gate.resolve };
  const real = createFileSystem();
  const openAppend = async (path: string, options: { mode: number }): Promise<AppendFile> => {
    const file = await real.openAppend(path, options);
    return {
      ...file,
      async append(bytes) {
        state.appends++;
        await gate.promise;
        if (state.error) throw state.error;
        await file.append(bytes);
      },
    };
  };
  return { files: { ...real, openAppend }, state };
}

test("record() writes one line of JSON with the documented keys", async () => {
  const { store, lines } = setUp();
  store.record(call({ cost: 0.25, estimated: true, failed: true }));
  await store.flush();
  expect(lines().map((line) => JSON.parse(line))).toEqual([
    {
      time: "2026-11-30T09:00:00.000Z",
      session: "cli:direct",
      origin: "chat",
      model: "large",
      provider: "acme",
      input: 100,
      output: 10,
      cached: 40,
      reasoning: 5,
      latency_ms: 1200,
      cost: 0.25,
      estimated: true,
      failed: true,
    },
  ]);
});

test("record() makes the folder and the file for nobody else", async () => {
  const { store, folder, path } = setUp();
  store.record(call());
  await store.flush();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("record() writes by itself within a second", async () => {
  const { store, clock, path } = setUp();
  store.record(call());
  await clock.advance(999);
  expect(existsSync(path)).toBe(false);
  await clock.advance(1);
  while (!existsSync(path)) await new Promise((resolve) => setImmediate(resolve));
});

test("record() joins what comes at one moment into one write", async () => {
  const { files, state } = slowFiles();
  state.open();
  const { store, lines } = setUp({ files });
  for (let n = 0; n < 50; n++) store.record(call({ input: n }));
  await store.flush();
  expect(state.appends).toBe(1);
  expect(lines()).toHaveLength(50);
});

test("record() keeps a call whose numbers are no numbers", async () => {
  const { store } = setUp();
  store.record(call({ input: Number.NaN, output: -1, cost: Number.POSITIVE_INFINITY }));
  expect(await readAll(store)).toEqual([call({ input: 0, output: 0 })]);
});

test("record() warns once while it fails and says how many calls were lost", async () => {
  const { files, state } = slowFiles();
  state.error = new Error("disk full");
  state.open();
  const { store, log, lines } = setUp({ files });
  for (let n = 0; n < 3; n++) {
    store.record(call());
    await store.flush();
  }
  expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
  state.error = undefined;
  store.record(call({ session: "after" }));
  await store.flush();
  expect(lines().map((line) => JSON.parse(line).session)).toEqual(["after"]);
  expect(log.lines.at(-1)).toMatch(/^info .* 3$/);
});

test("record() warns again when it fails again", async () => {
  const { files, state } = slowFiles();
  state.open();
  const { store, log } = setUp({ files });
  for (const error of [new Error("first"), undefined, new Error("second")]) {
    state.error = error;
    store.record(call());
    await store.flush();
  }
  expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(2);
});

test("record() drops calls when too many wait for the disk", async () => {
  const { files, state } = slowFiles();
  const { store, log, lines } = setUp({ files });
  for (let n = 0; n < 10_100; n++) store.record(call());
  state.open();
  await store.flush();
  expect(lines()).toHaveLength(10_000);
  expect(log.lines).toHaveLength(2);
});

test("record() does not throw where the workspace cannot be written", async () => {
  const { store, workspace, log } = setUp();
  writeFileSync(join(workspace, ".nanobot"), "in the way");
  store.record(call());
  await store.flush();
  expect(log.lines).toHaveLength(1);
});

test("record() begins a new line after a torn one", async () => {
  const { store, folder, path } = setUp();
  mkdirSync(folder);
  writeFileSync(path, '{"time":"2026-11-');
  store.record(call());
  expect(await readAll(store)).toEqual([call()]);
});

test("record() begins a new line when another process tore one since", async () => {
  const { store, path } = setUp();
  store.record(call({ input: 1 }));
  await store.flush();
  appendFileSync(path, '{"time":"2026-11-');
  store.record(call({ input: 2 }));
  store.record(call({ input: 3 }));
  expect((await readAll(store)).map(({ input }) => input)).toEqual([1, 2, 3]);
});

test("record() follows the file when another process has rotated it", async () => {
  const { store, folder, path, lines } = setUp();
  store.record(call({ input: 1 }));
  await store.flush();
  renameSync(path, join(folder, "usage.1.jsonl"));
  store.record(call({ input: 2 }));
  await store.flush();
  expect(lines("usage.1.jsonl")).toHaveLength(1);
  expect(lines()).toHaveLength(1);
});

test("record() makes the file again when it was removed", async () => {
  const { store, folder, lines } = setUp();
  store.record(call());
  await store.flush();
  rmSync(folder, { recursive: true });
  store.record(call());
  await store.flush();
  expect(lines()).toHaveLength(1);
});

test("record() of two stores on one folder loses nothing, over rotations", async () => {
  const workspace = tempFolder();
  const stores = [setUp({ workspace, maxBytes: 4000 }), setUp({ workspace, maxBytes: 4000 })];
  for (let round = 0; round < 20; round++) {
    for (const [index, { store }] of stores.entries())
      store.record(call({ session: `${index}`, input: round }));
    if (round % 3 === 0) await Promise.all(stores.map(({ store }) => store.flush()));
  }
  await Promise.all(stores.map(({ store }) => store.flush()));
  const found = (await readAll(setUp({ workspace }).store)).map(
    ({ session, input }) => `${session}:${input}`,
  );
  const wanted = Array.from({ length: 20 }, (_, round) => [`0:${round}`, `1:${round}`]).flat();
  expect(found.sort()).toEqual(wanted.sort());
  expect(stores[0]?.names()).toContain("usage.1.jsonl");
});

test("record() rotates a full file, keeps eight, and read() gives what is left oldest first", async () => {
  const { store, names } = setUp({ maxBytes: 300 });
  for (let n = 0; n < 12; n++) {
    store.record(call({ input: n }));
    await store.flush();
  }
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `usage.${n}.jsonl`);
  expect(names()).toEqual([...numbers, "usage.jsonl"]);
  expect((await readAll(store)).map(({ input }) => input)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test("record() fills the number that a killed rotation left free", async () => {
  const { store, folder, names } = setUp({ maxBytes: 300 });
  mkdirSync(folder);
  for (const n of [1, 3])
    writeFileSync(join(folder, `usage.${n}.jsonl`), `${JSON.stringify(call({ input: n }))}\n`);
  for (const input of [10, 11]) {
    store.record(call({ input }));
    await store.flush();
  }
  expect(names()).toEqual(["usage.1.jsonl", "usage.2.jsonl", "usage.3.jsonl", "usage.jsonl"]);
  expect((await readAll(store)).map(({ input }) => input)).toEqual([3, 1, 10, 11]);
});

test("record() does not wait for somebody who reads, and rotates after", async () => {
  const { store, names } = setUp({ maxBytes: 300 });
  store.record(call());
  const reading = store.read({ signal })[Symbol.asyncIterator]();
  await reading.next();
  store.record(call());
  await store.flush();
  expect(names()).toEqual(["usage.jsonl"]);
  await reading.return?.();
  store.record(call());
  await store.flush();
  expect(names()).toEqual(["usage.1.jsonl", "usage.jsonl"]);
});

test("read() gives what was recorded a moment ago", async () => {
  const { store } = setUp();
  store.record(call());
  expect(await readAll(store)).toEqual([call()]);
});

test("read() gives nothing where nothing was recorded, and makes nothing", async () => {
  const { store, folder } = setUp();
  expect(await readAll(store)).toEqual([]);
  expect(() => statSync(folder)).toThrow();
});

test("read() leaves out what is older than since", async () => {
  const { store } = setUp();
  for (const time of ["2026-11-30T09:00:00Z", "2026-11-30T09:00:01Z"]) store.record(call({ time }));
  const found = await readAll(store, Date.parse("2026-11-30T09:00:01Z"));
  expect(found.map(({ time }) => time)).toEqual(["2026-11-30T09:00:01Z"]);
});

test("read() does not open files that were full before since", async () => {
  const opened: string[] = [];
  const real = createFileSystem();
  const files = {
    ...real,
    stream(path: string, options: { signal: AbortSignal }) {
      opened.push(path);
      return real.stream(path, options);
    },
  };
  const { store, folder, path } = setUp({ files, maxBytes: 300 });
  for (let n = 0; n < 2; n++) {
    store.record(call());
    await store.flush();
  }
  const before = new Date("2026-11-01T00:00:00Z");
  utimesSync(join(folder, "usage.1.jsonl"), before, before);
  await readAll(store, Date.parse("2026-11-02T00:00:00Z"));
  expect(opened).toEqual([path]);
});

test("read() costs a damaged line that line, and says how many there were", async () => {
  const { store, folder, path, log } = setUp();
  mkdirSync(folder);
  const good = JSON.stringify(call());
  const damaged = ["{", "[]", "null", "\0\0", `${good.slice(0, -1)},"input":-1}`, `"${"x".repeat(200_000)}"`];
  writeFileSync(path, `${[good, ...damaged, "", good].join("\n")}\n`);
  expect(await readAll(store)).toEqual([call(), call()]);
  expect(log.lines).toEqual([expect.stringContaining(`${damaged.length}`)]);
});

test("read() stops when it is aborted", async () => {
  const { store } = setUp();
  store.record(call());
  await store.flush();
  const abort = new AbortController();
  abort.abort(new Error("enough"));
  await expect(Array.fromAsync(store.read({ signal: abort.signal }))).rejects.toThrow("enough");
});

test("summarise() counts what is stored since a time", async () => {
  const { store } = setUp();
  for (const time of ["2026-11-29T09:00:00Z", "2026-11-30T09:00:00Z"]) store.record(call({ time }));
  const since = Date.parse("2026-11-30T00:00:00Z");
  const { groups } = await store.summarise({ by: "day", since, signal });
  expect(groups).toMatchObject([{ name: "2026-11-30", calls: 1, input: 100 }]);
});

test("summarise() tells the user what the system refused to read", async () => {
  const { store, path } = setUp();
  mkdirSync(path, { recursive: true });
  await expect(store.summarise({ by: "day", signal })).rejects.toBeInstanceOf(UserError);
});
