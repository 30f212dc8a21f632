import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { never } from "../../src/lib/abort.ts";
import { tempFolder } from "../fakes/temp.ts";
import { partsOf, setUp } from "./fixture.ts";

const program = join(import.meta.dir, "programs/record.ts");

function start(workspace: string, name: string, count: number, maxBytes: number) {
  const args = [workspace, name, `${count}`, `${maxBytes}`];
  return Bun.spawn([process.execPath, program, ...args], { stdout: "pipe" });
}

test("record() of several processes keeps one chain and loses nothing, over rotations", async () => {
  const workspace = tempFolder();
  const names = ["a", "b", "c"];
  const count = 150;
  const children = names.map((name) => start(workspace, name, count, 40_000));
  const said = await Promise.all(children.map(({ stdout }) => new Response(stdout).text()));
  expect(said).toEqual(["", "", ""]);
  const { audit, folder, verify } = setUp({ workspace });
  expect(partsOf(folder).length).toBeGreaterThan(2);
  expect(await verify()).toEqual({
    ok: true,
    lines: names.length * count,
    unanchored: 0,
    torn: false,
    problems: [],
  });
  const calls = (await Array.fromAsync(audit.list({}, never))).map((record) => record.call);
  const wanted = names.flatMap((name) => Array.from({ length: count }, (_, number) => `${name} ${number}`));
  expect(calls.sort()).toEqual(wanted.sort());
}, 60_000);

test("record() of several processes of which some are killed leaves a chain that is whole", async () => {
  const workspace = tempFolder();
  const { verify, folder, head } = setUp({ workspace });
  let lines = 0;
  for (let round = 0; round < 6; round++) {
    const lasting = start(workspace, "lasting", 100, 40_000);
    const killed = start(workspace, "killed", 1_000_000, 40_000);
    await lasting.exited;
    killed.kill("SIGKILL");
    await killed.exited;
    const verdict = await verify();
    expect(verdict).toMatchObject({ ok: true, problems: [] });
    // As long as no file had to make room for another one.
    if (head().start.count === 0) expect(verdict.lines).toBeGreaterThanOrEqual(lines + 100);
    lines = verdict.lines;
  }
  expect(readdirSync(folder)).toContain("audit.head");
}, 120_000);
