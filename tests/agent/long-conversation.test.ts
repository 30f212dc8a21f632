/** A conversation of 2,000 turns in a small window: it goes on, nobody waits for memory, and nothing is lost. */

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runTurn } from "../../src/agent/turn.ts";
import type { ChatRequest } from "../../src/core/model.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { textReply } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";
import { remembering } from "./remembering.ts";

const TURNS = 2_000;
const SECRET = "the spare key lies under pot-3";

const textOf = ({ messages }: ChatRequest) => messages.map(({ content }) => content).join("\n");
const notesIn = (text: string) => [...new Set(text.match(/note-\d+\b/g) ?? [])];

test("a conversation of 2,000 turns in a small window goes on, and forgets nothing", async () => {
  /** How many turns were answered while a summary was being written. */
  let answeredMeanwhile = 0;
  let writing = 0;
  let turns = 0;
  let largest = 0;
  /** Summaries wait until the conversation has gone on: whoever waited for one would wait for ever. */
  const waiting: { readonly until: number; readonly go: () => void }[] = [];

  async function write(request: ChatRequest) {
    writing++;
    const until = turns + 3;
    if (until < TURNS) await new Promise<void>((go) => waiting.push({ until, go }));
    writing--;
    const text = textOf(request);
    const facts = text.includes(SECRET) ? `- ${SECRET}\n` : "";
    const memory = { history_entry: notesIn(text).join(" "), memory_update: `# Memory\n\n${facts}` };
    const calls = [{ id: "c", name: "save_memory", arguments: JSON.stringify(memory) }];
    return { ...textReply(""), toolCalls: calls };
  }

  const fixture = createFixture({
    contextWindowTokens: 6_000,
    wrap: (model) => ({
      ...model,
      async chat(request) {
        if (request.tools.some(({ name }) => name === "save_memory")) return write(request);
        largest = Math.max(largest, textOf(request).length);
        if (writing > 0) answeredMeanwhile++;
        return textReply(`answer to ${notesIn(textOf(request)).at(-1)}`);
      },
    }),
  });
  const { clock, log, workspace, sessions } = fixture;
  const { consolidation, systemPrompt, deps } = remembering(fixture);

  for (; turns < TURNS; turns++) {
    const said =
      turns === 3 ? `note-${turns}: ${SECRET}` : `note-${turns}: ${"words about the day ".repeat(20)}`;
    const message = inboundMessage({ id: `cli:${turns}`, content: said });
    expect(await runTurn(message, deps, never)).toBe("answered");
    while (waiting[0] !== undefined && waiting[0].until <= turns) waiting.shift()?.go();
    // What was begun by this turn gets to its model.
    await clock.giveWay();
  }
  for (const { go } of waiting) go();
  await consolidation.settled(never);

  expect(answeredMeanwhile).toBeGreaterThan(50);
  expect(largest).toBeLessThan(30_000);
  const facts = readFileSync(join(workspace, "memory/MEMORY.md"), "utf8");
  expect(facts).toContain(SECRET);
  expect((await systemPrompt()).content).toContain(SECRET);
  const history = readFileSync(join(workspace, "memory/HISTORY.md"), "utf8");
  const options = { maxTokens: Number.MAX_SAFE_INTEGER, keepTokens: 0, signal: never };
  const tail = await sessions.unconsolidated({ key: "cli:direct" }, options);
  const left = (tail?.messages ?? []).map(({ content }) => content).join("\n");
  const known = new Set(notesIn(`${history}\n${left}`));
  expect(
    Array.from({ length: TURNS }, (_, turn) => `note-${turn}`).filter((note) => !known.has(note)),
  ).toEqual([]);
  // The session itself has all of it.
  expect(await fixture.stored()).toHaveLength(2 * TURNS);
  expect(log.lines.filter((line) => /^(error|warn) /.test(line))).toEqual([]);
  await fixture.end();
});
