import { expect, test } from "bun:test";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock, type FakeClock } from "../fakes/clock.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createWorld, fileOf, rememberAll, START, saves, say, shown, signal, turnOf } from "./fixture.ts";

const KEY = "telegram:1";
const TURNS = 20_000;

/** A session as the original left it: years of it, and nothing in memory. */
function writeOriginal(workspace: string): void {
  mkdirSync(join(workspace, "sessions"), { recursive: true });
  const lines: object[] = [{ _type: "metadata", key: KEY, metadata: {}, last_consolidated: 0 }];
  for (let turn = 0; turn < TURNS; turn++) {
    const timestamp = turn < TURNS / 2 ? "2024-02-01T10:00:00.5" : "2026-10-05T11:00:00";
    lines.push({ role: "user", content: `Question ${turn}, ${"and so on ".repeat(10)}`, timestamp });
    lines.push({ role: "assistant", content: `Answer ${turn}, ${"and so on ".repeat(30)}`, timestamp });
  }
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(join(workspace, "sessions", "telegram_1.jsonl"), text);
}

test("createConsolidation() asks few questions about years that were copied here, and says what it passed over", async () => {
  const workspace = tempFolder();
  writeOriginal(workspace);
  const world = createWorld({ workspace, promptTokens: 100_000 });
  world.model.push(...Array.from({ length: 100 }, (_, index) => saves(`Part ${index}.`)));
  await say(world, KEY, ...turnOf("hello again"));
  await rememberAll(world, KEY);
  expect(world.model.requests.length).toBeGreaterThan(4);
  expect(world.model.requests.length).toBeLessThan(15);
  const all = { maxTokens: 1e9, keepTokens: 0, signal };
  expect(await world.sessions.unconsolidated({ key: KEY }, all)).toBeUndefined();
  const asked = world.model.requests.map(({ messages }) => messages[1]?.content ?? "").join("\n");
  const told = [...asked.matchAll(/USER: Question (\d+),/g)].map(([, turn]) => Number(turn));
  // The newest, each once.
  expect(told).toEqual(Array.from({ length: told.length }, (_, index) => TURNS - told.length + index));
  const notes = fileOf(world, "HISTORY.md").match(/\(.* older messages .*\)/g);
  expect(notes).toEqual([
    `(${(TURNS - told.length) * 2} older messages of telegram:1, from 2024-02-01 10:00 to 2026-10-05 11:00, were not summed up. They are in its session, and memory_search finds them.)`,
  ]);
  expect((await shown(world, KEY)).contents.at(-2)).toBe("hello again");
});

test("createConsolidation() passes nothing over that one prompt takes, however much that is", async () => {
  const world = createWorld({ promptTokens: 400_000, idleMinutes: 0 });
  const long = "word ".repeat(20_000);
  for (let turn = 0; turn < 14; turn++) await say(world, KEY, ...turnOf(`Turn ${turn}: ${long}`));
  world.model.push(...Array.from({ length: 100 }, (_, index) => saves(`Part ${index}.`)));
  await rememberAll(world, KEY);
  const asked = world.model.requests.map(({ messages }) => messages[1]?.content ?? "").join("\n");
  expect([...asked.matchAll(/USER: Turn \d+:/g)]).toHaveLength(14);
  expect(fileOf(world, "HISTORY.md")).not.toContain("older messages");
});

test("createConsolidation() asks once about a conversation of many large results, of which little is shown", async () => {
  const world = createWorld({ promptTokens: 100_000, script: [saves("Read much.")] });
  const page = "page ".repeat(20_000);
  for (let turn = 0; turn < 10; turn++) {
    await say(
      world,
      KEY,
      { role: "user", content: `Read page ${turn}` },
      { role: "tool", tool_call_id: "1", name: "web_fetch", content: page },
      { role: "assistant", content: "Done." },
    );
  }
  await rememberAll(world, KEY);
  expect(world.model.requests).toHaveLength(1);
  expect(world.model.requests[0]?.messages[1]?.content).toContain("USER: Read page 9");
});

test("run() asks a bounded number of questions about what it found, and all that somebody asks for", async () => {
  const clock = createFakeClock(START);
  const workspace = tempFolder();
  const before = createWorld({ workspace, clock });
  for (let chat = 0; chat < 70; chat++) {
    await say(before, `telegram:${chat}`, ...turnOf("hello"));
    utimesSync(await before.sessions.path(`telegram:${chat}`), START / 1_000, START / 1_000);
  }
  const world = createWorld({ workspace, clock });
  world.model.push(...Array.from({ length: 200 }, () => saves("Said hello.")));
  await clock.advance(24 * 60 * 60_000);
  const ended = new AbortController();
  const running = world.consolidation.run(ended.signal);
  while (world.log.lines.filter((line) => line.includes("many wait")).length < 20) await clock.giveWay();
  await world.consolidation.settled(signal);
  expect(world.model.requests).toHaveLength(50);
  for (let chat = 0; chat < 70; chat++) {
    world.consolidation.turnEnded({ key: `telegram:${chat}`, tokens: 1, budget: 1 });
  }
  await world.consolidation.settled(signal);
  expect(world.model.requests).toHaveLength(70);
  ended.abort();
  await running;
});

test("createConsolidation() does not ask for MEMORY.md where it is longer than a reply may be", async () => {
  const world = createWorld({ promptTokens: 100_000, script: [saves("Talked.", "- Something else")] });
  mkdirSync(join(world.workspace, "memory"));
  const facts = Array.from({ length: 200 }, (_, index) => `- Fact ${index} about something\n`).join("");
  writeFileSync(join(world.workspace, "memory", "MEMORY.md"), facts);
  await say(world, KEY, ...turnOf("hello"));
  await rememberAll(world, KEY);
  expect(world.model.requests).toHaveLength(1);
  expect(world.model.requests[0]?.messages[1]?.content).not.toContain("Fact 7");
  expect(world.log.lines.join("\n")).toContain("too long for the model");
  expect(fileOf(world, "MEMORY.md")).toBe(facts);
});

test("run() takes a session for silent also after the clock was set back, and after the machine slept", async () => {
  for (const setHours of [-365 * 24, 24]) {
    const fake = createFakeClock(START);
    let set = 0;
    const clock: FakeClock = {
      ...fake,
      now: () => fake.now() + set,
      get pending() {
        return fake.pending;
      },
    };
    const world = createWorld({ clock, script: [saves("Said hello.")] });
    const ended = new AbortController();
    const running = world.consolidation.run(ended.signal);
    await say(world, KEY, ...turnOf("hello"));
    world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1_000 });
    set = setHours * 60 * 60_000;
    for (let minute = 0; minute < (setHours < 0 ? 16 : 1); minute++) {
      await clock.whenPending(1);
      await clock.advance(60_000);
    }
    await world.consolidation.settled(signal);
    expect(fileOf(world, "HISTORY.md")).toContain("Said hello.");
    ended.abort();
    await running;
  }
});
