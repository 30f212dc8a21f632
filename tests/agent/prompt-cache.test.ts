/** What providers keep of a prompt: it goes on byte by byte, but where a part of the conversation went into memory. */

import { expect, test } from "bun:test";
import { runTurn } from "../../src/agent/turn.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { textReply } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";
import { remembering } from "./remembering.ts";

const TURNS = 150;

test("a conversation's prompts go on byte by byte, but once for each time that some of it went into memory", async () => {
  let remembered = 0;
  const prompts: { readonly lines: readonly string[]; readonly remembered: number }[] = [];

  function remember() {
    remembered++;
    const memory = {
      history_entry: `Part ${remembered}.`,
      memory_update: `- There were ${remembered} parts`,
    };
    return {
      ...textReply(""),
      toolCalls: [{ id: "c", name: "save_memory", arguments: JSON.stringify(memory) }],
    };
  }

  const fixture = createFixture({
    contextWindowTokens: 6_000,
    wrap: (model) => ({
      ...model,
      async chat({ tools, messages }) {
        if (tools.some(({ name }) => name === "save_memory")) return remember();
        prompts.push({ lines: messages.map((message) => JSON.stringify(message)), remembered });
        return textReply("I see.");
      },
    }),
  });
  const { clock } = fixture;
  const { consolidation, deps } = remembering(fixture);

  for (let turn = 0; turn < TURNS; turn++) {
    await clock.advance(61_000);
    const message = inboundMessage({
      id: `cli:${turn}`,
      content: `Note ${turn}: ${"and so on ".repeat(40)}`,
    });
    expect(await runTurn(message, deps, never)).toBe("answered");
    await consolidation.settled(never);
  }
  expect(prompts).toHaveLength(TURNS);
  const breaks = prompts.filter(({ lines }, index) => {
    const before = prompts[index - 1]?.lines ?? [];
    return before.some((line, place) => line !== lines[place]);
  });
  expect(breaks.length).toBe(remembered);
  expect(new Set(breaks.map((prompt) => prompt.remembered)).size).toBe(remembered);
  expect(remembered).toBeGreaterThan(5);
  expect(remembered).toBeLessThan(TURNS / 8);
  await fixture.end();
});
