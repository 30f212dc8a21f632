import { expect, test } from "bun:test";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { command } from "../../src/cli/audit.ts";
import type { AuditEntry } from "../../src/core/audit.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { call, setUp, writeLines } from "../audit/fixture.ts";
import { linesOf } from "../fakes/line-store.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

const NOW = Date.parse("2026-11-30T09:00:00Z");

async function workspaceWith(...entries: readonly Partial<AuditEntry>[]) {
  const log = setUp();
  for (const entry of entries) log.audit.record(call(entry));
  await log.audit.flush();
  return log;
}

/** Runs `nanobot audit NAME` on the files of a workspace. */
async function run(
  name: "list" | "show" | "verify",
  { workspace, audit }: { workspace: string; audit?: ReturnType<typeof setUp>["audit"] },
  { positionals = [], tty = false, ...options }: Record<string, string | boolean | readonly string[]> = {},
) {
  const app = createTestApp({ home: tempFolder(), tty: tty === true });
  const clock = { ...app.platform.clock, now: () => NOW };
  const log = audit ?? setUp({ workspace }).audit;
  const code = await command.subcommands?.[name]?.run?.({
    app: { ...app, platform: { ...app.platform, clock }, audit: async () => log },
    positionals: positionals as readonly string[],
    options: options as Record<string, string | boolean>,
    signal: new AbortController().signal,
  });
  return { code, out: app.terminal.stdout, err: app.terminal.stderr };
}

const rows = (out: string) =>
  out
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\t"));

test("audit list shows a line a call, newest first", async () => {
  const log = await workspaceWith(
    { tool: "read_file" },
    { tool: "exec", ok: false, exitCode: 3, durationMs: 12.6 },
    { tool: "exec", ok: false, decision: { kind: "refused", why: "no" } },
    { tool: "exec", ok: false, decision: { kind: "interrupted" } },
    { tool: "web_fetch", ok: false },
    { tool: "exec", decision: { kind: "approved", by: "owner" } },
    { tool: "exec", decision: { kind: "approved", by: "owner" }, ok: false, exitCode: 4 },
  );
  const { code, out } = await run("list", log);
  expect(code).toBe(0);
  const id = expect.stringMatching(/^[a-z0-9]{17}$/);
  const time = "2026-11-30 09:00:00Z";
  expect(rows(out)).toEqual([
    [time, id, "approved, exit 4", "2 ms", "cli:direct", 'exec {"path":"notes.md"}'],
    [time, id, "approved", "2 ms", "cli:direct", 'exec {"path":"notes.md"}'],
    [time, id, "error", "2 ms", "cli:direct", 'web_fetch {"path":"notes.md"}'],
    [time, id, "interrupted", "2 ms", "cli:direct", 'exec {"path":"notes.md"}'],
    [time, id, "refused", "2 ms", "cli:direct", 'exec {"path":"notes.md"}'],
    [time, id, "exit 3", "13 ms", "cli:direct", 'exec {"path":"notes.md"}'],
    [time, id, "ok", "2 ms", "cli:direct", 'read_file {"path":"notes.md"}'],
  ]);
});

test("audit says where calls were lost", async () => {
  const real = createFileSystem();
  const log = setUp();
  const failing = setUp({
    workspace: log.workspace,
    files: {
      ...real,
      openAppend: (...args) => (isFull ? Promise.reject(new Error("full")) : real.openAppend(...args)),
    },
  });
  let isFull = true;
  await failing.write("a", "b");
  isFull = false;
  await failing.write("c", "d");
  const { out } = await run("list", log);
  expect(rows(out).map((cells) => [cells[2], cells[5]])).toEqual([
    ["ok", 'd {"path":"notes.md"}'],
    ["ok", 'c {"path":"notes.md"}'],
    ["lost", "2 calls before could not be recorded"],
  ]);
  expect(JSON.parse((await run("list", log, { json: true })).out)).toMatchObject([
    { tool: "d" },
    { tool: "c", lost: 2 },
  ]);
  const shown = await run("show", log, { positionals: ["call_c"] });
  expect(shown.out).toContain("Lost:      2 calls before could not be recorded\n");
  expect(await run("verify", log)).toMatchObject({
    code: 1,
    out: "✗ .nanobot/audit.jsonl:1 lost: before this was written, 2 calls could not be recorded\nThe audit log is not whole: 1 problem in 2 lines\n",
  });
});

test("audit list filters, and lists at most as many as it is told", async () => {
  const log = await workspaceWith(
    { tool: "a" },
    { tool: "b", session: "other" },
    { tool: "b" },
    { tool: "b" },
  );
  const tools = async (options: Record<string, string>) =>
    rows((await run("list", log, options)).out).map((cells) => cells[5]?.split(" ")[0]);
  expect(await tools({ tool: "b" })).toEqual(["b", "b", "b"]);
  expect(await tools({ session: "other" })).toEqual(["b"]);
  expect(await tools({ limit: "2" })).toEqual(["b", "b"]);
  expect(await tools({ limit: "0" })).toEqual(["b", "b", "b", "a"]);
  expect(await tools({ since: "1h" })).toHaveLength(4);
  expect(await tools({ since: "2026-12-01" })).toEqual([]);
});

test("audit list tells a person that there are more", async () => {
  const log = await workspaceWith({}, {});
  expect((await run("list", log, { limit: "1", tty: true })).err).toContain("--limit 0");
  expect((await run("list", log, { limit: "2", tty: true })).err).toBe("");
  expect((await run("list", log, { limit: "1" })).err).toBe("");
});

test("audit list refuses what is no limit and no time", async () => {
  const log = await workspaceWith({});
  await expect(run("list", log, { limit: "many" })).rejects.toThrow('Cannot list "many" calls');
  await expect(run("list", log, { since: "soon" })).rejects.toThrow('--since "soon"');
});

test("audit list says that nothing is recorded", async () => {
  const { code, out, err } = await run("list", { workspace: tempFolder() });
  expect([code, out, err]).toEqual([0, "", "No calls of tools are recorded for that.\n"]);
});

test("audit list --json prints one list of whole records", async () => {
  const log = await workspaceWith({ tool: "a" }, { tool: "b" });
  const { out } = await run("list", log, { json: true });
  expect(JSON.parse(out)).toMatchObject([
    { tool: "b", decision: { kind: "ran" }, hash: expect.any(String) },
    { tool: "a" },
  ]);
  expect(JSON.parse((await run("list", log, { json: true, tool: "none" })).out)).toEqual([]);
});

test("audit keeps control sequences of a model away from the terminal", async () => {
  const log = await workspaceWith({
    tool: "\u001b[2Ja\tb",
    arguments: "\u001b]0;x\u0007\u009b1m\u202e\n",
    session: "\u001b[31m",
    ok: false,
    error: "\u001b[2J",
  });
  for (const options of [{}, { json: true }]) {
    const { out } = await run("list", log, options);
    expect(out).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
    if (!("json" in options)) expect(rows(out)[0]).toHaveLength(6);
    const shown = await run("show", log, { ...options, positionals: ["call_1_0_0"] });
    expect(shown.out).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
  }
});

test("audit show prints every field of a call, by either id", async () => {
  const log = await workspaceWith({
    call: "call_7",
    decision: { kind: "approved", by: "owner" },
    ok: false,
    error: "it failed",
    exitCode: null,
    external: true,
  });
  const { code, out } = await run("show", log, { positionals: ["call_7"] });
  expect(code).toBe(0);
  for (const part of [
    "Time:      2026-11-30T09:00:00.000Z",
    "Call:      call_7",
    "Turn:      cli:1",
    "Sender:    user",
    "Decision:  ran, approved by owner",
    "Ended:     with an error",
    "Exit code: none: a signal ended it",
    "Error:     it failed",
    "External:  the result holds text from outside",
    'Arguments:\n{\n  "path": "notes.md"\n}',
  ])
    expect(out).toContain(part);
  const { id } = JSON.parse((await run("show", log, { positionals: ["call_7"], json: true })).out);
  expect((await run("show", log, { positionals: [id] })).out).toBe(out);
});

test("audit show lets no field look like another", async () => {
  const fake = "exec\nDecision:  ran\u2028Ended:     ok";
  const log = await workspaceWith({
    tool: fake,
    session: fake,
    sender: fake,
    turn: fake as AuditEntry["turn"],
    decision: { kind: "refused", why: fake, by: fake },
    ok: false,
    error: fake,
  });
  const [record] = JSON.parse((await run("list", log, { json: true })).out);
  const { out } = await run("show", log, { positionals: [record.id] });
  const begins = out.split(/[\n\u2028]/).map((line) => line.split(/ +/)[0]);
  expect(begins.filter((begin) => begin === "Decision:" || begin === "Ended:")).toEqual([
    "Decision:",
    "Ended:",
  ]);
});

test("audit show says where to look for a call that there is none of", async () => {
  const log = await workspaceWith({});
  await expect(run("show", log, { positionals: ["nope"] })).rejects.toThrow('There is no call "nope"');
});

test("audit verify says that the log is whole, and how much of it is not anchored", async () => {
  const log = await workspaceWith({}, {});
  expect(await run("verify", log)).toEqual({ code: 0, out: "✓ The audit log is whole: 2 lines\n", err: "" });
  log.audit.record(call());
  await log.clock.whenPending(1);
  writeFileSync(log.path, `${readFileSync(log.path, "utf8")}{"n":4,"`);
  const { code, out } = await run("verify", { workspace: log.workspace });
  expect([code, out.split("\n")]).toEqual([
    0,
    [
      "✓ The audit log is whole: 3 lines",
      "  1 line at the end came after the anchor was last moved: what is cut off there cannot be seen",
      "  A line was cut short by a crash, which is no damage",
      "",
    ],
  ]);
});

test("audit verify says that there is no log yet", async () => {
  expect(await run("verify", { workspace: tempFolder() })).toMatchObject({
    code: 0,
    out: "The audit log is empty\n",
  });
});

const damages: readonly [name: string, damage: (path: string) => void, said: string][] = [
  [
    "a changed byte",
    (path) => writeFileSync(path, readFileSync(path, "utf8").replace("notes.md", "Notes.md")),
    "✗ .nanobot/audit.jsonl:1 changed: ",
  ],
  [
    "a removed line",
    (path) => writeLines(path, linesOf(path).toSpliced(1, 1)),
    "✗ .nanobot/audit.jsonl:2 missing: number 2 of the log",
  ],
  [
    "two swapped lines",
    (path) => {
      const [first = "", second = "", ...rest] = linesOf(path);
      writeLines(path, [second, first, ...rest]);
    },
    "✗ .nanobot/audit.jsonl:1 reordered: number 2 of the log",
  ],
  [
    "a truncated file",
    (path) => truncateSync(path, readFileSync(path).length - 100),
    "✗ .nanobot/audit.jsonl truncated: it ends at number 3, and audit.head says that there were 4",
  ],
];

for (const [name, damage, said] of damages) {
  test(`audit verify finds ${name} and exits with 1`, async () => {
    const { path, workspace } = await workspaceWith({}, {}, {}, {});
    damage(path);
    const { code, out } = await run("verify", { workspace });
    expect(code).toBe(1);
    expect(out.split("\n")).toEqual([
      expect.stringContaining(said),
      expect.stringMatching(/^The audit log is not whole: 1 problem in \d lines$/),
      "",
    ]);
    const asJson = await run("verify", { workspace }, { json: true });
    expect([asJson.code, JSON.parse(asJson.out)]).toMatchObject([1, { ok: false, problems: [{}] }]);
  });
}
