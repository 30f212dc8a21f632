import { expect, test } from "bun:test";
import fc from "fast-check";
import * as v from "valibot";
import { replayTurn } from "../../src/agent/replay.ts";
import { runTurn } from "../../src/agent/turn.ts";
import { defineTool, toolError, toolOk } from "../../src/core/tool.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage } from "../fakes/messages.ts";
import type { Scripted } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";

const echo = defineTool({
  name: "echo",
  description: "Echoes, and fails on what begins with an exclamation mark",
  parameters: v.strictObject({ text: v.optional(v.string()) }),
  execute: async ({ text = "" }) => (text.startsWith("!") ? toolError(text) : toolOk(text)),
});
const tools = [echo, defineTool({ ...echo, name: "look", readOnly: true, isLookup: true })];

const texts = fc.oneof(
  fc.constantFrom(
    "{}",
    "",
    "null",
    "nope",
    "{",
    "[{}]",
    '"{}"',
    '{"text":5}',
    '{"text":null}',
    '{"other":1}',
  ),
  fc
    .constantFrom("a", "!", "\ud800", "Error: a", "Error: the arguments x", 'Error: there is no tool "x"')
    .map((text) => JSON.stringify({ text })),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const calls = fc.oneof(
  fc.record({ name: fc.constantFrom("echo", "look"), arguments: texts }),
  fc.record({ name: fc.constantFrom("", "a b", "écho", "functions.echo"), arguments: fc.constant("{}") }),
);
const replies = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      calls: fc.array(calls, { minLength: 1, maxLength: 3 }),
      content: fc.constantFrom("", " ", "words"),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom("", " ", "an answer") },
);

/** What a dry run says of a turn that has just run with `script`. */
async function differencesAfter(script: readonly Scripted[], maxRounds: number) {
  const { deps } = createFixture({ script: [...script, "done"], tools });
  await runTurn(inboundMessage(), { ...deps, maxToolIterations: maxRounds }, never);
  const { toolbox, sessions, systemPrompt } = deps;
  const replay = await replayTurn(
    { key: "cli:direct", dry: true },
    { sessions, systemPrompt, tools: toolbox, maxRounds },
    never,
  );
  return replay.differences;
}

test("replayTurn() finds no difference in a dry run of what just happened, whatever the model sent", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(replies, { maxLength: 7 }),
      fc.integer({ min: 2, max: 10 }),
      async (script, maxRounds) => {
        expect(await differencesAfter(script, maxRounds)).toEqual([]);
      },
    ),
    { numRuns: 200 },
  );
});

for (const [name, script] of [
  [
    "texts that were no JSON, each in its own way",
    ["{", "nope", '"a', "[1"].map((text) => ({ calls: [{ name: "echo", arguments: text }] })),
  ],
  [
    "a tool of a name that no provider takes, again and again",
    [1, 2, 3].map(() => ({ calls: [{ name: "functions.echo" }] })),
  ],
  [
    "a text that begins like an error, again and again",
    [1, 2, 3].map(() => ({ calls: [{ name: "echo", arguments: { text: "Error: a" } }] })),
  ],
] as const) {
  test(`replayTurn() finds no difference in a dry run of a turn with ${name}`, async () => {
    expect(await differencesAfter(script, 10)).toEqual([]);
  });
}
