import { expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFileSystem } from "../../src/platform/files.ts";
import { createFakeClock } from "../fakes/clock.ts";
import {
  createWorld,
  fileOf,
  rememberAll,
  START,
  saves,
  say,
  signal,
  turnOf,
  type World,
} from "./fixture.ts";

const KEY = "telegram:1";
const all = { maxTokens: 100_000, keepTokens: 0, signal };

function notes({ workspace }: World): readonly string[] {
  const folder = join(workspace, ".nanobot", "memory");
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith("written-")) : [];
}

const entries = (world: World) => fileOf(world, "HISTORY.md").match(/^\[\d{4}-/gm)?.length ?? 0;

/**
 * A process whose history has the session, while a turn goes on in it, so that nothing is noted there. `end` ends the
 * process, and `turnEnds` the turn.
 */
async function createWritten() {
  const world = createWorld({ script: [saves("A blue boat.", "- Has a boat")] });
  await say(world, KEY, ...turnOf("I have a blue boat"));
  const turn = await world.sessions.open(KEY, { signal });
  const ended = new AbortController();
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  const settled = world.consolidation.settled(ended.signal);
  while (notes(world).length === 0) await world.clock.giveWay();
  // It waits for the session, and then for a while with nothing held.
  await world.clock.whenPending(1);
  await world.clock.advance(10_000);
  await world.clock.whenPending(1);
  return {
    world,
    turnEnds: () => turn.close(),
    archive: async () => {
      const path = await turn.archive();
      await turn.close();
      return path ?? "";
    },
    async end() {
      ended.abort();
      await settled;
    },
  };
}

test("createConsolidation() of another process tells nothing twice while a turn keeps the session from being marked", async () => {
  const { world, turnEnds, end } = await createWritten();
  const other = createWorld({ workspace: world.workspace, script: [saves("Told twice.")] });
  const remembering = rememberAll(other, KEY);
  await turnEnds();
  await remembering;
  expect(other.model.requests).toHaveLength(0);
  expect(await other.sessions.unconsolidated({ key: KEY }, all)).toBeUndefined();
  expect(fileOf(other, "HISTORY.md")).toBe("[2026-11-30 09:00] A blue boat.\n");
  await world.clock.advance(30_000);
  await end();
  expect(entries(world)).toBe(1);
  expect(notes(world)).toEqual([]);
});

test("createConsolidation() after a kill between the history and the mark tells nothing twice, and marks", async () => {
  const { world, turnEnds, end } = await createWritten();
  await end();
  await turnEnds();
  const next = createWorld({ workspace: world.workspace, script: [saves("And a cat.")] });
  await say(next, KEY, ...turnOf("I have a cat"));
  await rememberAll(next, KEY);
  expect(next.model.requests).toHaveLength(1);
  expect(next.model.requests[0]?.messages[1]?.content).not.toContain("blue boat");
  expect(fileOf(next, "HISTORY.md")).toBe(
    "[2026-11-30 09:00] A blue boat.\n\n[2026-11-30 09:00] And a cat.\n",
  );
  expect(fileOf(next, "MEMORY.md")).toBe("- Has a boat\n");
  expect(await next.sessions.unconsolidated({ key: KEY }, all)).toBeUndefined();
  expect(notes(next)).toEqual([]);
});

test("settled() that is called off while the history is being written tells nothing twice", async () => {
  const ended = new AbortController();
  const files = createFileSystem();
  const world = createWorld({
    script: [saves("A blue boat.", "- Has a boat")],
    files: {
      ...files,
      async openAppend(path, options) {
        if (path.endsWith("HISTORY.md")) ended.abort();
        return files.openAppend(path, options);
      },
    },
  });
  await say(world, KEY, ...turnOf("I have a blue boat"));
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  await world.consolidation.settled(ended.signal);
  expect(entries(world)).toBe(1);
  const next = createWorld({ workspace: world.workspace, script: [saves("Told twice.")] });
  await rememberAll(next, KEY);
  expect(entries(next)).toBe(1);
  expect(fileOf(next, "MEMORY.md")).toBe("- Has a boat\n");
  expect(await next.sessions.unconsolidated({ key: KEY }, all)).toBeUndefined();
});

test("archived() while its session waits to be marked tells nothing twice", async () => {
  const { world, archive, end } = await createWritten();
  const path = await archive();
  world.consolidation.archived({ key: KEY, path });
  while (notes(world).length > 0) await world.clock.giveWay();
  await world.clock.whenPending(1);
  await world.clock.advance(30_000);
  await world.consolidation.settled(signal);
  await end();
  expect(world.model.requests).toHaveLength(1);
  expect(entries(world)).toBe(1);
  expect(await world.sessions.unconsolidated({ archive: path }, all)).toBeUndefined();
  expect(notes(world)).toEqual([]);
});

test("createConsolidation() heeds no note that is damaged, or is of another session or another place", async () => {
  const clock = createFakeClock(START);
  for (const note of [
    "",
    "{",
    '{"key":"telegram:2","inode":INODE,"from":0,"to":10}',
    '{"key":"telegram:1","inode":INODE,"from":7,"to":10}',
    '{"key":"telegram:1","inode":INODE,"from":0,"to":0}',
    '{"key":"telegram:1","inode":INODE,"from":0,"to":"x"}',
    '{"key":"telegram:1","inode":1,"from":0,"to":10}',
    "[]",
  ]) {
    const world = createWorld({ clock, script: [saves("Before."), saves("A cat.")] });
    await say(world, KEY, ...turnOf("hello"));
    const { inode = 0 } = (await world.sessions.unconsolidated({ key: KEY }, all)) ?? {};
    await rememberAll(world, "cli:other");
    await say(world, "cli:other", ...turnOf("hello"));
    await rememberAll(world, "cli:other");
    writeFileSync(
      join(world.workspace, ".nanobot", "memory", `written-${inode % 64}.json`),
      note.replace("INODE", `${inode}`),
    );
    await rememberAll(world, KEY);
    expect(fileOf(world, "HISTORY.md")).toContain("A cat.");
    expect(await world.sessions.unconsolidated({ key: KEY }, all)).toBeUndefined();
    expect(notes(world)).toEqual([]);
  }
});
