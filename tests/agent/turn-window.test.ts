import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { runTurn } from "../../src/agent/turn.ts";
import type { ChatRequest } from "../../src/core/model.ts";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage } from "../fakes/messages.ts";
import type { Scripted } from "../fakes/model.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createFixture } from "./fixture.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  parameters: v.strictObject({ at: v.string(), long: v.number() }),
  execute: async ({ at, long }) => toolOk(`${at} ${"word ".repeat(long)}`),
});

/** A turn that looks at three things, each result of so many words. */
const scriptOf = (turn: number, long: number): Scripted[] => [
  { calls: [{ name: "look", arguments: { at: `${turn}a`, long } }] },
  {
    calls: [
      { name: "look", arguments: { at: `${turn}b`, long } },
      { name: "look", arguments: { at: `${turn}c`, long } },
    ],
  },
  `Answer ${turn}.`,
];

interface Run {
  /** The first request of each turn. */
  readonly first: readonly ChatRequest[];
}

/** `isCold` takes a new process for each turn, that knows only what is on disk. */
async function converse(turns: number, long: number, { isCold = false } = {}): Promise<Run> {
  const workspace = tempFolder();
  const options = { workspace, tools: [look], contextWindowTokens: 8_000 };
  let fixture = createFixture(options);
  const first: ChatRequest[] = [];
  for (let turn = 0; turn < turns; turn++) {
    if (isCold && turn > 0) {
      await fixture.end();
      fixture = createFixture(options);
    }
    const { model, deps } = fixture;
    model.push(...scriptOf(turn, long));
    const before = model.requests.length;
    await runTurn(inboundMessage({ id: `cli:${turn}`, content: `Question ${turn}?` }), deps, never);
    const request = model.requests[before];
    if (request !== undefined) first.push(request);
  }
  await fixture.end();
  return { first };
}

/** In how many of the turns the request did not begin with all of the one before. */
function breaks({ first }: Run): number {
  const texts = first.map(({ messages }) => messages.map((message) => JSON.stringify(message)));
  return texts.slice(1).filter((messages, index) => {
    const before = texts[index] ?? [];
    return before.some((text, at) => messages[at] !== text);
  }).length;
}

const TURNS = 60;

describe.each([
  ["short results, which are never left out", 80],
  ["results worth leaving out", 300],
])("runTurn() beyond the window, with %s", (_, long) => {
  test("keeps the prefix in most turns, and never loses the turns just before", async () => {
    const run = await converse(TURNS, long);
    expect(run.first).toHaveLength(TURNS);
    expect(breaks(run)).toBeGreaterThan(0);
    expect(breaks(run)).toBeLessThan(TURNS / 3);
    for (const [turn, { messages }] of run.first.entries()) {
      const said = messages.map(({ content }) => content).join("\n");
      expect(said).toContain(`Question ${turn}?`);
      if (turn > 0) expect(said).toContain(`Answer ${turn - 1}.`);
    }
  });

  test("sends the same from a process that has just started", async () => {
    const [warm, cold] = [await converse(TURNS, long), await converse(TURNS, long, { isCold: true })];
    expect(cold.first.map(({ messages }) => messages)).toEqual(warm.first.map(({ messages }) => messages));
  });
});
