import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { AuditEntry, AuditFilter, AuditLog, AuditRecord } from "../../src/core/audit.ts";
import type { AppendFile, FileSystem } from "../../src/core/platform.ts";
import { never } from "../../src/lib/abort.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { linesOf } from "../fakes/line-store.ts";
import { call, partsOf, setUp, told } from "./fixture.ts";

function listed(audit: AuditLog, filter: AuditFilter = {}): Promise<AuditRecord[]> {
  return Array.fromAsync(audit.list(filter, never));
}

/** Files whose appends wait until `open` is called, or fail with `error`; what was done is noted. */
function watchedFiles() {
  const gate = Promise.withResolvers<void>();
  const state = { done: [] as string[], error: undefined as Error | undefined, open: gate.resolve };
  const real = createFileSystem();
  const files: FileSystem = {
    ...real,
    async openAppend(path, options): Promise<AppendFile> {
      const file = await real.openAppend(path, options);
      return {
        ...file,
        async append(bytes) {
          state.done.push("append");
          await gate.promise;
          if (state.error) throw state.error;
          await file.append(bytes);
        },
        async sync() {
          await file.sync();
          state.done.push("sync");
        },
      };
    },
    async replace(path, bytes, options) {
      await real.replace(path, bytes, options);
      state.done.push("replace");
    },
  };
  return { files, state };
}

test("record() writes one line of JSON with everything that is known of the call", async () => {
  const { audit, lines } = setUp();
  const entry = call({
    decision: { kind: "refused", why: "no", by: "owner" },
    ok: false,
    error: "it did not work",
    exitCode: null,
    external: true,
  });
  audit.record(entry);
  await audit.flush();
  const [line = ""] = lines();
  expect(JSON.parse(line)).toEqual({
    n: 1,
    id: expect.stringMatching(/^[a-z0-9]{17}$/),
    time: "2026-11-30T09:00:00.000Z",
    ...entry,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("record() binds each line to the one before it by SHA-256", async () => {
  const { write, lines } = setUp();
  await write("a", "b");
  let before = "0".repeat(64);
  for (const line of lines()) {
    const [text = "", seal = ""] = line.split(',"hash":');
    before = createHash("sha256").update(before).update(text).digest("hex");
    expect(seal).toBe(`"${before}"}`);
  }
});

test("record() makes the folder and the files for nobody else", async () => {
  const { write, folder, path, headPath } = setUp();
  await write("a");
  expect([folder, path, headPath].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o600, 0o600]);
});

test("record() writes what came during a write in the next one", async () => {
  const { files, state } = watchedFiles();
  const { audit, lines } = setUp({ files });
  audit.record(call());
  while (!state.done.includes("append")) await new Promise((resolve) => setImmediate(resolve));
  for (let n = 0; n < 50; n++) audit.record(call());
  state.open();
  await audit.flush();
  expect(state.done.filter((what) => what === "append")).toHaveLength(2);
  expect(lines()).toHaveLength(51);
});

test("record() shortens long arguments, with the digest of the whole", async () => {
  const { audit } = setUp();
  const text = `{"content":"${"x".repeat(40_000)}"}`;
  audit.record(call({ arguments: text }));
  const [record] = await listed(audit);
  const digest = createHash("sha256").update(text).digest("hex");
  expect(record?.arguments).toBe(
    `${text.slice(0, 16_384)}[… ${text.length - 16_384} characters left out; SHA-256 of the whole: ${digest}]`,
  );
});

test("record() bounds everything that a model can make long", async () => {
  const { audit, lines } = setUp();
  const long = "\u0000🐈".repeat(100_000);
  audit.record(
    call({
      tool: long,
      sender: long,
      session: long,
      arguments: long,
      error: long,
      decision: { kind: "refused", why: long },
    }),
  );
  await audit.flush();
  expect(lines()[0]?.length).toBeLessThan(80_000);
  expect(told(await audit.verify(never))).toEqual([]);
});

test("record() keeps any text and number as far as it is well-formed and within bounds", async () => {
  const text = fc.string({ unit: "binary", maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ tool: text, sender: text, arguments: text, error: text, durationMs: fc.double() }),
      async (changes) => {
        const { audit, verify } = setUp();
        audit.record(call(changes));
        const [record] = await listed(audit);
        const { tool, sender, arguments: args, error } = changes;
        expect(record).toMatchObject({ tool, sender, arguments: args, error });
        expect((await verify()).ok).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

test("record() moves the anchor a second later, after the lines are on disk", async () => {
  const { files, state } = watchedFiles();
  state.open();
  const { audit, clock, head } = setUp({ files });
  audit.record(call());
  await clock.whenPending(1);
  expect(state.done).toEqual(["replace", "append"]);
  expect(head()).toMatchObject({ count: 0 });
  await clock.advance(999);
  expect(state.done).toHaveLength(2);
  await clock.advance(1);
  while (state.done.length < 4) await new Promise((resolve) => setImmediate(resolve));
  expect(state.done).toEqual(["replace", "append", "sync", "replace"]);
  expect(head()).toMatchObject({ v: 1, count: 1 });
});

test("record() moves the anchor once for all lines of a second", async () => {
  const { files, state } = watchedFiles();
  state.open();
  const { audit, clock, head, lines } = setUp({ files });
  for (let n = 1; n <= 5; n++) {
    audit.record(call());
    await clock.whenPending(1);
    await clock.advance(100);
    while (lines().length < n) await new Promise((resolve) => setImmediate(resolve));
  }
  await clock.advance(500);
  while (head().count < 5) await new Promise((resolve) => setImmediate(resolve));
  await audit.flush();
  // Before the first line, after the second, and at the end where the last line was not known to be written before.
  expect(state.done.filter((what) => what === "replace").length).toBeLessThanOrEqual(3);
});

test("flush() anchors what was recorded, and writes nothing when nothing was", async () => {
  const { audit, write, head, folder } = setUp();
  await audit.flush();
  expect(existsSync(folder)).toBe(false);
  await write("a", "b", "c");
  expect(head()).toMatchObject({ v: 1, count: 3, start: { count: 0 } });
});

test("record() warns once while it fails, and says how many calls were lost", async () => {
  const { files, state } = watchedFiles();
  state.error = new Error("disk full");
  state.open();
  const { audit, log, verify } = setUp({ files });
  for (let n = 0; n < 3; n++) {
    audit.record(call());
    await audit.flush();
  }
  expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
  state.error = undefined;
  audit.record(call({ tool: "after" }));
  audit.record(call({ tool: "last" }));
  expect(await listed(audit)).toEqual([
    expect.not.objectContaining({ lost: expect.anything() }),
    expect.objectContaining({ tool: "after", lost: 3 }),
  ]);
  expect(log.lines.at(-1)).toMatch(/^info .* 3$/);
  const { ok, problems } = await verify();
  expect([ok, problems]).toEqual([
    false,
    [
      {
        kind: "lost",
        file: ".nanobot/audit.jsonl",
        line: 1,
        detail: "before this was written, 3 calls could not be recorded",
      },
    ],
  ]);
});

test("record() says how many were lost in the next line, beside whatever else was found before it", async () => {
  const { files, state } = watchedFiles();
  state.open();
  const { write, path, headPath, verify, lines } = setUp({ files });
  await write("a");
  state.error = new Error("disk full");
  await write("b");
  state.error = undefined;
  rmSync(headPath);
  appendFileSync(path, '{"n":2,"to');
  await write("c");
  expect(JSON.parse(lines().at(-1) ?? "")).toMatchObject({
    n: 2,
    torn: expect.any(String),
    anchor: "missing",
    lost: 1,
    tool: "c",
  });
  expect(told(await verify())).toEqual(["missing .nanobot/audit.jsonl:3", "lost .nanobot/audit.jsonl:3"]);
  const changed = readFileSync(path, "utf8").replace('"lost":1,', "");
  writeFileSync(path, changed);
  expect(told(await verify())).toContain("changed .nanobot/audit.jsonl:3");
});

test("record() drops calls when too many wait for the disk, and the next line written counts them", async () => {
  const { files, state } = watchedFiles();
  const { audit, log, folder } = setUp({ files });
  const text = "x".repeat(16_000);
  for (let n = 0; n < 1_200; n++) audit.record(call({ arguments: text }));
  state.open();
  await audit.flush();
  const counts = partsOf(folder)
    .flatMap(linesOf)
    .map((line): number => JSON.parse(line).lost ?? 0);
  expect(counts.length).toBeLessThan(1_100);
  expect(counts.reduce((sum, lost) => sum + lost, counts.length)).toBe(1_200);
  expect(log.lines[0]).toMatch(/^warn Could not record .* the disk does not answer$/);
});

test("record() does not throw where the workspace cannot be written", async () => {
  const { audit, write, workspace, log } = setUp();
  writeFileSync(join(workspace, ".nanobot"), "in the way");
  await write("a");
  expect(log.lines).toHaveLength(1);
  expect(await audit.verify(never)).toMatchObject({ ok: true, lines: 0 });
});

test("record() leaves the log of a newer version alone", async () => {
  const { audit, write, folder, headPath, path, log } = setUp();
  mkdirSync(folder);
  const newer = '{"v":2,"count":0}\n';
  writeFileSync(headPath, newer);
  await write("a");
  expect([readFileSync(headPath, "utf8"), existsSync(path)]).toEqual([newer, false]);
  expect(log.lines).toEqual([expect.stringContaining("newer version")]);
  await expect(audit.verify(never)).rejects.toThrow("newer version");
});

test("record() goes on from the last line of another log", async () => {
  const one = setUp();
  const other = setUp({ workspace: one.workspace });
  await one.write("a");
  await other.write("b");
  await one.write("c");
  await other.write("d");
  expect((await listed(one.audit)).map(({ tool }) => tool)).toEqual(["d", "c", "b", "a"]);
  expect(await one.verify()).toMatchObject({ ok: true, lines: 4, unanchored: 0 });
});

test("record() begins a new file when the old one is full, and the chain goes on", async () => {
  const { write, folder, verify } = setUp({ maxBytes: 1_000 });
  for (const tool of ["a", "b", "c", "d", "e", "f"]) await write(tool);
  expect(partsOf(folder).length).toBeGreaterThan(2);
  expect(await verify()).toMatchObject({ ok: true, lines: 6, unanchored: 0 });
});

test("record() keeps the chain whole when the oldest file is removed", async () => {
  const { write, folder, head, verify } = setUp({ maxBytes: 500 });
  for (let n = 0; n < 30; n++) await write(`t${n}`);
  expect(partsOf(folder)).toHaveLength(9);
  expect(head()).toMatchObject({ count: 30, start: { count: 21 } });
  expect(await verify()).toMatchObject({ ok: true, lines: 9, unanchored: 0 });
});

test("record() keeps the chain whole when it is killed between the anchor and the removal of the oldest file", async () => {
  const real = createFileSystem();
  let renames = Number.POSITIVE_INFINITY;
  const files: FileSystem = {
    ...real,
    rename: (from, to) => (renames-- > 0 ? real.rename(from, to) : Promise.reject(new Error("killed"))),
  };
  const first = setUp({ maxBytes: 500, files });
  for (let n = 0; n < 12; n++) await first.write(`t${n}`);
  // However far the renaming comes.
  for (let done = 0; done < 9; done++) {
    renames = done;
    // A process that does not live to write again.
    await setUp({ workspace: first.workspace, maxBytes: 500, files }).write("lost");
    const next = setUp({ workspace: first.workspace, maxBytes: 500 });
    expect(await next.verify()).toMatchObject({ problems: [] });
    await next.write("a", "b");
    expect(await next.verify()).toMatchObject({ problems: [], unanchored: 0 });
  }
});

test("list() gives the newest first, over all files", async () => {
  const { audit, write } = setUp({ maxBytes: 500 });
  for (const tool of ["a", "b", "c", "d"]) await write(tool);
  expect((await listed(audit)).map(({ tool }) => tool)).toEqual(["d", "c", "b", "a"]);
});

test("list() filters by session, tool and time", async () => {
  const { audit, clock } = setUp();
  audit.record(call({ session: "a", tool: "exec" }));
  audit.record(call({ session: "b", tool: "exec" }));
  await clock.advance(10_000);
  audit.record(call({ session: "a", tool: "grep" }));
  const names = async (filter: AuditFilter) =>
    (await listed(audit, filter)).map(({ session, tool }) => `${session} ${tool}`);
  expect(await names({ session: "a" })).toEqual(["a grep", "a exec"]);
  expect(await names({ tool: "exec" })).toEqual(["b exec", "a exec"]);
  expect(await names({ since: clock.now() })).toEqual(["a grep"]);
  expect(await names({ since: clock.now() - 10_000, session: "b" })).toEqual(["b exec"]);
});

test("list() can be left early, and records go on", async () => {
  const { audit, write, folder } = setUp({ maxBytes: 500 });
  await write("a");
  await write("b");
  for await (const { tool } of audit.list({}, never)) {
    expect(tool).toBe("b");
    break;
  }
  await write("c");
  expect(partsOf(folder)).toHaveLength(3);
});

test("list() leaves damaged lines out", async () => {
  const { audit, write, path } = setUp();
  await write("a");
  appendFileSync(path, 'no JSON\n{"n":1}\n[]\n');
  expect((await listed(audit)).map(({ tool }) => tool)).toEqual(["a"]);
});

test("list() rejects with the reason of its signal", async () => {
  const { audit, write } = setUp();
  await write("a", "b");
  const abort = new AbortController();
  const reading = (async () => {
    for await (const _ of audit.list({}, abort.signal)) abort.abort(new Error("enough"));
  })();
  await expect(reading).rejects.toThrow("enough");
});

test("find() finds a record by its id and by the id of its call", async () => {
  const { audit, write } = setUp();
  await write("a", "b");
  const found = await audit.find("call_a", never);
  expect(found?.tool).toBe("a");
  expect(await audit.find(found?.id ?? "", never)).toEqual(found);
  expect(await audit.find("call", never)).toBeUndefined();
});

test("list() of a workspace without a log is empty", async () => {
  const { audit, folder } = setUp();
  expect(await listed(audit)).toEqual([]);
  expect(existsSync(folder)).toBe(false);
});

test("list() gives what was recorded just before", async () => {
  const { audit } = setUp();
  const entries: AuditEntry[] = [call({ tool: "a" }), call({ tool: "b" })];
  for (const entry of entries) audit.record(entry);
  expect((await listed(audit)).map(({ tool }) => tool)).toEqual(["b", "a"]);
});

test("record() closes the line that a crash cut short, and goes on behind the one before", async () => {
  const { write, workspace, path } = setUp();
  await write("a", "b");
  appendFileSync(path, '{"n":3,"id":"abc","too');
  const next = setUp({ workspace });
  expect(await next.verify()).toEqual({ ok: true, lines: 2, unanchored: 0, torn: true, problems: [] });
  await next.write("c");
  expect(await next.verify()).toEqual({ ok: true, lines: 3, unanchored: 0, torn: true, problems: [] });
  expect((await listed(next.audit)).map(({ tool }) => tool)).toEqual(["c", "b", "a"]);
});

test("record() closes what crash after crash has left", async () => {
  const { write, workspace, path } = setUp();
  await write("a");
  appendFileSync(path, '{"n":2,"to\n{"n":2,"id');
  const next = setUp({ workspace });
  await next.write("b");
  expect(await next.verify()).toMatchObject({ ok: true, lines: 2, torn: true });
});

test("record() goes on behind a line that lacks only its newline", async () => {
  const { audit, write, workspace, path, clock } = setUp();
  await write("a");
  audit.record(call({ tool: "b" }));
  await clock.whenPending(1);
  // Not anchored yet when it was killed.
  writeFileSync(path, readFileSync(path, "utf8").slice(0, -1));
  const next = setUp({ workspace });
  expect(await next.verify()).toEqual({ ok: true, lines: 2, unanchored: 1, torn: true, problems: [] });
  await next.write("c");
  expect(await next.verify()).toEqual({ ok: true, lines: 3, unanchored: 0, torn: true, problems: [] });
});

test("record() goes on in a new file when the one that is full was torn", async () => {
  const { write, workspace, path } = setUp({ maxBytes: 400 });
  await write("a");
  appendFileSync(path, '{"n":2,"to');
  const next = setUp({ workspace, maxBytes: 400 });
  await next.write("b");
  expect(partsOf(next.folder)).toHaveLength(2);
  expect(await next.verify()).toMatchObject({ ok: true, lines: 2, torn: true });
});

test("record() goes on behind what was anchored, when that is gone", async () => {
  const { write, workspace, path } = setUp();
  await write("a", "b", "c");
  rmSync(path);
  const next = setUp({ workspace });
  await next.write("d");
  expect(told(await next.verify())).toEqual(["missing .nanobot/audit.jsonl:1"]);
  expect(JSON.parse(next.lines()[0] ?? "")).toMatchObject({ n: 4, tool: "d" });
});

test("record() goes on behind what it has written itself, when that is cut off meanwhile", async () => {
  const { audit, clock, write, path, verify, lines } = setUp();
  await write("a");
  audit.record(call({ tool: "b" }));
  await clock.whenPending(1);
  writeFileSync(path, `${lines()[0]}\n`);
  await write("c");
  expect(told(await verify())).toEqual(["missing .nanobot/audit.jsonl:2"]);
});

test("record() says in the log that the anchor was gone, so that a new one does not hide it", async () => {
  for (const spoil of [rmSync, (path: string) => writeFileSync(path, "{}")]) {
    const { write, workspace, headPath } = setUp();
    await write("a", "b");
    spoil(headPath);
    const next = setUp({ workspace });
    await next.write("c");
    expect(next.head()).toMatchObject({ count: 3 });
    expect(told(await next.verify())).toEqual(["missing .nanobot/audit.jsonl:3"]);
  }
});
