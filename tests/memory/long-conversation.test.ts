import { expect, test } from "bun:test";
import { messagesTokens } from "../../src/lib/request-tokens.ts";
import { toChat } from "../../src/lib/transcript.ts";
import type { Scripted } from "../fakes/model.ts";
import { createWorld, fileOf, signal, turnOf } from "./fixture.ts";

const KEY = "telegram:1";
const TURNS = 400;
const WINDOW = 1_500;

/** A model that keeps every number and every fact it is shown. */
const remembering: Scripted = async ({ messages }) => {
  const prompt = messages[1]?.content ?? "";
  const [facts = "", conversation = ""] = prompt.split("# The part of the conversation");
  const numbers = [...conversation.matchAll(/USER: Item (\d+)\./g)].map(([, number]) => `#${number}`);
  const known = [...facts.matchAll(/^- .*$/gm)].map(([line]) => line);
  const told = [...conversation.matchAll(/Remember: (.*?)\./g)].map(([, fact]) => `- ${fact}`);
  const args = {
    history_entry: `Spoke of ${numbers.join(" ")}.`,
    memory_update: [...known, ...told].join("\n"),
  };
  const call = { id: "1", name: "save_memory", arguments: JSON.stringify(args) };
  return { ok: true, content: "", toolCalls: [call], finishReason: "tool_calls" };
};

test("a conversation of hundreds of turns in a small window loses nothing and keeps what it was told at its beginning", async () => {
  const world = createWorld({ promptTokens: 3_000 });
  const { sessions, consolidation, clock } = world;
  for (let index = 0; index < TURNS; index++) {
    world.model.push(remembering);
    const session = await sessions.open(KEY, { signal });
    const shown = session.window(WINDOW);
    expect(messagesTokens(shown.map(toChat))).toBeLessThanOrEqual(WINDOW);
    const fact = index === 3 ? " Remember: the boat is called Nautilus." : "";
    const timestamp = new Date(clock.now()).toISOString();
    const text = `Item ${index}.${fact} ${"And so on. ".repeat(index % 7)}`;
    await session.append(turnOf(text, `Noted ${index}.`, timestamp), { sync: false });
    const { tokens } = session;
    await session.close();
    consolidation.turnEnded({ key: KEY, tokens, budget: WINDOW });
    // Nobody waits for it; the next message comes in a moment.
    await clock.giveWay();
  }
  await consolidation.settled(signal);

  const counted = new Map<string, number>();
  for (const [, number = ""] of fileOf(world, "HISTORY.md").matchAll(/#(\d+)/g))
    counted.set(number, (counted.get(number) ?? 0) + 1);
  const left = await sessions.unconsolidated({ key: KEY }, { maxTokens: 1e6, keepTokens: 0, signal });
  for (const { content } of left?.messages ?? []) {
    const [, number] = /^Item (\d+)\./.exec(content) ?? [];
    if (number !== undefined) counted.set(number, (counted.get(number) ?? 0) + 1);
  }
  expect([...counted].sort((one, other) => Number(one[0]) - Number(other[0]))).toEqual(
    Array.from({ length: TURNS }, (_, index) => [`${index}`, 1]),
  );
  expect(fileOf(world, "MEMORY.md")).toContain("- the boat is called Nautilus");
  expect(world.model.requests.length).toBeGreaterThan(5);
  for (const { messages } of world.model.requests) expect(messagesTokens(messages)).toBeLessThan(3_000);
  const last = await sessions.open(KEY, { signal });
  expect(last.summary).toContain("Spoke of #");
  expect(last.messages.at(-1)?.content).toBe(`Noted ${TURNS - 1}.`);
  await last.close();
});
