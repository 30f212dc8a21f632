/** Every call of a tool is on record when the program ends, however it ends, and the record shows what was done to it. */

import { expect, test } from "bun:test";
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditRecord, AuditVerdict } from "../../src/core/audit.ts";
import {
  ask,
  endToEnd,
  type Home,
  modelAt,
  newHome,
  newMilestone,
  REACH_MILESTONE,
  run,
  start,
  startModel,
} from "./harness.ts";

endToEnd();

const logOf = (home: Home) => join(home.workspace, ".nanobot/audit.jsonl");

async function records(home: Home, ...options: readonly string[]): Promise<readonly AuditRecord[]> {
  return JSON.parse((await run(["audit", "list", "--json", ...options], { home })).stdout);
}

async function verify(home: Home): Promise<readonly [code: number, verdict: AuditVerdict]> {
  const { code, stdout } = await run(["audit", "verify", "--json"], { home });
  return [code, JSON.parse(stdout)];
}

async function homeWithCalls(): Promise<Home> {
  const names = ["a", "b", "c", "d"];
  const calls = names.map((name) => ({
    name: "write_file",
    arguments: { path: `${name}.md`, content: name },
  }));
  const server = await startModel([{ toolCalls: calls }, { text: "Written." }]);
  const home = newHome(modelAt(server.url));
  expect((await ask("write four notes", home)).code).toBe(0);
  return home;
}

test("nanobot audit shows what a turn did, and sessions replay finds it repeatable", async () => {
  const home = await homeWithCalls();
  const found = await records(home, "--tool", "write_file");
  expect(found.map((record) => JSON.parse(record.arguments).path)).toEqual(["d.md", "c.md", "b.md", "a.md"]);
  expect(await verify(home)).toMatchObject([0, { ok: true, lines: 4, unanchored: 0 }]);
  const [last] = found;
  const shown = await run(["audit", "show", last?.call ?? ""], { home });
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining(`Id:        ${last?.id}`)]);
  const replayed = await run(["sessions", "replay", "cli:direct", "--turn", last?.turn ?? "", "--dry"], {
    home,
  });
  expect([replayed.code, replayed.stdout]).toEqual([
    0,
    expect.stringContaining("The loop would do the same now"),
  ]);
});

test("nanobot audit verify finds a changed byte, a removed line, two swapped lines and a truncated file", async () => {
  const home = await homeWithCalls();
  const path = logOf(home);
  const whole = readFileSync(path, "utf8");
  const [one = "", two = "", three = "", four = ""] = whole.split("\n");
  for (const [damage, problem] of [
    [() => writeFileSync(path, whole.replace("b.md", "x.md")), { kind: "changed", line: 2 }],
    [() => writeFileSync(path, [one, three, four, ""].join("\n")), { kind: "missing", line: 2 }],
    [() => writeFileSync(path, [one, three, two, four, ""].join("\n")), { kind: "reordered", line: 2 }],
    [() => truncateSync(path, whole.length - 10), { kind: "truncated" }],
  ] as const) {
    damage();
    expect(await verify(home)).toMatchObject([1, { ok: false, problems: [problem] }]);
    writeFileSync(path, whole);
  }
  expect((await verify(home))[0]).toBe(0);
});

test("nanobot agent records a call that was interrupted by a kill, in the turn that finds it", async () => {
  const command = `touch begun; ${REACH_MILESTONE}; while [ -e begun ]; do sleep 0.05; done`;
  const server = await startModel([
    { toolCalls: [{ name: "exec", arguments: { command } }] },
    { text: "Where were we?" },
  ]);
  const home = newHome(modelAt(server.url));
  const milestone = newMilestone(home);
  const program = start(["agent", "-m", "wait a minute"], { home });
  await milestone.reached;
  program.signal("SIGKILL");
  await program.outcome;
  // The command has outlived whoever ran it.
  rmSync(join(home.workspace, "begun"));
  expect(await records(home)).toEqual([]);
  await ask("and now?", home);
  expect(await records(home)).toMatchObject([
    { tool: "exec", arguments: JSON.stringify({ command }), decision: { kind: "interrupted" }, ok: false },
  ]);
  expect(await verify(home)).toMatchObject([0, { lines: 1 }]);
});
