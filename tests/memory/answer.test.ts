import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scripted } from "../fakes/model.ts";
import { createWorld, fileOf, rememberAll, saves, say, signal, turnOf } from "./fixture.ts";

const KEY = "telegram:1";
const FACTS = "- Likes tea\n- Has a cat\n";

/** What both files say after such an answer, without the time of the entry. */
async function remembered(script: Scripted, facts?: string) {
  const world = createWorld({ script: [script], isPatient: false });
  if (facts !== undefined) {
    mkdirSync(join(world.workspace, "memory"));
    writeFileSync(join(world.workspace, "memory", "MEMORY.md"), facts);
  }
  await say(world, KEY, ...turnOf("hello"));
  await rememberAll(world, KEY);
  const all = { maxTokens: 1_000, keepTokens: 0, signal };
  expect(await world.sessions.unconsolidated({ key: KEY }, all)).toBeUndefined();
  return {
    entry: fileOf(world, "HISTORY.md").replace("[2026-11-30 09:00] ", "").trimEnd(),
    facts: fileOf(world, "MEMORY.md"),
    calls: world.model.requests.length,
  };
}

const call = (args: unknown, name = "save_memory") => ({ name, arguments: args as string });
const met = { history_entry: "They met.", memory_update: "- Met" };

test("createConsolidation() finds what it asked for, however it is wrapped, spelt and named", async () => {
  const shapes: readonly Scripted[] = [
    { calls: [call({ save_memory: met })] },
    { calls: [call({ input: { parameters: met } })] },
    { calls: [call({ name: "save_memory", arguments: met })] },
    { calls: [call({ name: "save_memory", arguments: JSON.stringify(met) })] },
    { calls: [call([met])] },
    { calls: [call({ historyEntry: "They met.", memoryUpdate: "- Met" })] },
    { calls: [call({ "History Entry": "They met.", MEMORY_UPDATE: ["Met"] })] },
    { calls: [call(met, "saveMemory")] },
    { calls: [call(met, "functions.save_memory")] },
    { calls: [call({ history_entry: "They met." }), call({ memory_update: "- Met" })] },
    { calls: [call({ history_entry: [{ type: "text", text: "They met." }], memory_update: "- Met" })] },
    JSON.stringify({ name: "save_memory", arguments: met }),
    `\`\`\`json\n${JSON.stringify({ tool: "save_memory", parameters: met })}\n\`\`\``,
  ];
  for (const shape of shapes)
    expect(await remembered(shape)).toEqual({ entry: "They met.", facts: "- Met\n", calls: 1 });
});

test("createConsolidation() keeps the entries of several calls", async () => {
  const { entry } = await remembered({
    calls: [call({ history_entry: "First." }), call({ history_entry: "Second." })],
  });
  expect(entry).toBe("First.\nSecond.");
});

test("createConsolidation() writes text where JSON, line ends or a fence came in the place of it", async () => {
  const wanted = "# Memory\n\n- Likes tea\n- Has a cat\n- Has a boat\n";
  const text = wanted.trimEnd();
  const updates: readonly unknown[] = [
    text.replaceAll("\n", "\\n"),
    JSON.stringify(text),
    JSON.stringify({ content: text }),
    { "MEMORY.md": text },
    text.split("\n\n").join("\n\n").split("\n"),
    `\`\`\`markdown\n${text}\n\`\`\``,
    `Here is MEMORY.md as it should be:\n\n~~~md\n${text}\n~~~`,
    `<think>What was new?</think>\n${text}`,
  ];
  const lines = (value: string) => value.split("\n").filter((line) => line !== "");
  for (const update of updates) {
    const { facts } = await remembered(saves("Talked.", update), FACTS);
    expect(lines(facts)).toEqual(lines(wanted));
  }
  expect((await remembered(saves("Talked.", '["Likes tea", {"name": "Has a cat"}]'), FACTS)).facts).toBe(
    FACTS,
  );
});

test("createConsolidation() leaves a path with a backslash and two fences in a text as they are", async () => {
  const path = "- Likes tea, notes are in C:\\new";
  expect((await remembered(saves("Talked.", path), FACTS)).facts).toBe(`${path}\n`);
  const fenced = "```\ntea\n```\n- and a cat\n```\nboat\n```";
  expect((await remembered(saves("Talked.", fenced), FACTS)).facts).toBe(`${fenced}\n`);
});

test("createConsolidation() takes words that say that nothing is new for no text of MEMORY.md", async () => {
  for (const update of [
    "no changes",
    "No change.",
    "(no new facts)",
    "*None*",
    "- unchanged",
    "N/A",
    "null",
    "Nothing new to add",
    "No updates needed, MEMORY.md stays as it is.",
    "Same as before",
    "keine Änderungen",
    "无变化",
  ]) {
    expect((await remembered(saves("Talked.", update), FACTS)).facts).toBe(FACTS);
  }
  for (const update of ["no changes", "None", "Nothing new."])
    expect((await remembered(saves("Talked.", update))).facts).toBe("");
});

test("createConsolidation() takes facts that begin like words that say that nothing is new", async () => {
  for (const update of [
    "- No changes to the cat's food: tea is out\n- Likes tea",
    "- Same cat as in Graz, likes tea",
    "- None of the cats likes tea",
  ])
    expect((await remembered(saves("Talked.", update), FACTS)).facts).toBe(`${update}\n`);
});

test("createConsolidation() goes on in time, whatever comes in a string", async () => {
  const floods = [
    "<".repeat(400_000),
    "[".repeat(100_000) + "]".repeat(100_000),
    "\\n".repeat(400_000),
    "x".repeat(1_500_000),
    "```\n".repeat(100_000),
    "no ".repeat(400_000),
  ];
  for (const flood of floods) {
    const { entry, facts } = await remembered(
      { calls: [call({ history_entry: `Said ${flood}`, memory_update: flood })] },
      FACTS,
    );
    expect(entry).toStartWith("Said");
    expect(entry.length).toBeLessThanOrEqual(8_000);
    expect(facts).toBe(FACTS);
  }
});
