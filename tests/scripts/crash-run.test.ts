import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Happening } from "../../scripts/lib/crash/moments.ts";
import { runCrashTest } from "../../scripts/lib/crash/run.ts";
import { tempFolder } from "../fakes/temp.ts";

setDefaultTimeout(60_000);

const program = join(import.meta.dir, "programs/stand-in-gateway.ts");

/** How many violations there are of each kind, when a stand-in is killed a few times. */
async function violationsOf(
  happening: Happening,
  ...faults: readonly string[]
): Promise<ReadonlyMap<string, number>> {
  const { violations } = await runCrashTest({
    command: [process.execPath, program, ...faults],
    folder: tempFolder(),
    seed: 1,
    mode: "plain",
    kills: 4,
    rate: 15,
    chats: 8,
    hasTelegram: false,
    say: () => {},
    patienceMs: 1_600,
    choose: () => ({ kind: "at", happening, times: 4 }),
  });
  return Map.groupBy(violations, ({ kind }) => kind)
    .entries()
    .reduce((counts, [kind, those]) => counts.set(kind, those.length), new Map<string, number>());
}

test.concurrent("runCrashTest() finds nothing wrong with a program that keeps the promise", async () => {
  expect(await violationsOf("answered")).toEqual(new Map());
});

test.concurrent("runCrashTest() finds what a program loses that accepts before it keeps", async () => {
  expect((await violationsOf("accepted", "--fault", "forget")).get("lost")).toBeGreaterThan(0);
});

test.concurrent("runCrashTest() finds calls that a program runs again", async () => {
  expect((await violationsOf("answered", "--fault", "again")).get("run twice")).toBeGreaterThan(0);
});

test.concurrent("runCrashTest() finds answers that come twice because their key changes", async () => {
  expect((await violationsOf("delivering", "--fault", "keyless")).get("doubled")).toBeGreaterThan(0);
});
