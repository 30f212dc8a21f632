import { expect, test } from "bun:test";
import { join } from "node:path";
import process from "node:process";
import { createPairing } from "../../src/access/pairing.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";
import { realFiles, realLocks } from "./fixture.ts";

const program = join(import.meta.dir, "programs/pair.ts");

function start(workspace: string, name: string, count: number) {
  return Bun.spawn([process.execPath, program, workspace, name, `${count}`], { stdout: "pipe" });
}

function open(workspace: string) {
  const log = createFakeLog();
  const pairing = createPairing({
    files: realFiles,
    locks: realLocks(workspace),
    clock: createFakeClock(),
    log,
    workspace,
  });
  return { pairing, log };
}

test("createPairing() of several processes loses nobody who was let in", async () => {
  const workspace = tempFolder();
  const names = ["a", "b", "c"];
  const count = 30;
  const children = names.map((name) => start(workspace, name, count));
  const said = await Promise.all(children.map(({ stdout }) => new Response(stdout).text()));
  expect(said).toEqual(["", "", ""]);
  const { approved } = await open(workspace).pairing.list();
  const wanted = names.flatMap((name) => Array.from({ length: count }, (_, number) => `${name} ${number}`));
  expect(approved.map(({ senderId }) => senderId).sort()).toEqual(wanted.sort());
}, 60_000);

test("createPairing() of several processes of which some are killed leaves a file that is whole", async () => {
  const workspace = tempFolder();
  const { pairing, log } = open(workspace);
  let approved = 0;
  for (let round = 0; round < 6; round++) {
    const killed = start(workspace, "killed", 1_000_000);
    const lasting = start(workspace, `lasting ${round}`, 10);
    expect(await new Response(lasting.stdout).text()).toBe("");
    killed.kill("SIGKILL");
    await killed.exited;
    const found = (await pairing.list()).approved.filter(({ channel }) => channel.startsWith("lasting"));
    expect(found.length).toBe(approved + 10);
    approved = found.length;
  }
  expect(log.lines).toEqual([]);
}, 120_000);
