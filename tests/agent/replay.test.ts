import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { replayTurn } from "../../src/agent/replay.ts";
import { runTurn } from "../../src/agent/turn.ts";
import { Stopped } from "../../src/core/errors.ts";
import type { StoredMessage } from "../../src/core/session.ts";
import { type AnyTool, defineTool, toolError, toolOk } from "../../src/core/tool.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage } from "../fakes/messages.ts";
import type { Scripted } from "../fakes/model.ts";
import { createTestToolbox } from "../fakes/toolbox.ts";
import { createFixture } from "./fixture.ts";

let runs = 0;
const echo = defineTool({
  name: "echo",
  description: "Echoes",
  parameters: v.strictObject({ text: v.string() }),
  execute: async ({ text }) => {
    runs++;
    if (text === "log") return toolOk("Error: as a log has it");
    return text === "bad" ? toolError("it is bad") : toolOk(`echo ${text}`);
  },
});
const quiet = defineTool({ ...echo, name: "quiet", readOnly: true });

/** As `echo` may be in another version. */
const reworded = defineTool({
  name: "echo",
  description: "Echoes",
  parameters: v.strictObject({ words: v.string() }),
  execute: async () => toolOk("never run"),
});

const calling = (...texts: readonly string[]): Scripted => ({
  calls: texts.map((text) => ({ name: "echo", arguments: { text } })),
  content: `I echo ${texts.join()}`,
});

type Change = (lines: StoredMessage[]) => StoredMessage[];

/** Runs a turn for each script, and gives what replays it from the session, changed first. */
async function recorded(turns: readonly (readonly Scripted[])[], tools: readonly AnyTool[] = [echo, quiet]) {
  const fixture = createFixture({ script: turns.flat(), tools });
  for (const index of turns.keys())
    await runTurn(
      inboundMessage({ id: `cli:${index + 1}`, content: `ask ${index + 1}` }),
      fixture.deps,
      never,
    );
  const lines = await fixture.stored();
  const { toolbox, systemPrompt } = fixture.deps;
  const replay = (
    options: { turn?: string; dry?: boolean } = {},
    {
      change = (all) => all,
      now = tools,
      maxRounds = 10,
    }: { change?: Change; now?: readonly AnyTool[]; maxRounds?: number } = {},
  ) => {
    const changed = change(structuredClone(lines));
    return replayTurn(
      { key: "cli:direct", dry: false, ...options },
      {
        sessions: {
          async *read() {
            yield* changed;
          },
        },
        systemPrompt,
        tools: { ...toolbox, problemOf: createTestToolbox({ tools: now }).problemOf },
        maxRounds,
      },
      never,
    );
  };
  return {
    fixture,
    lines,
    replay,
    differences: async (...args: Parameters<typeof replay>) =>
      (await replay({ dry: true, ...args[0] }, args[1])).differences?.map(({ round, detail }) =>
        round === undefined ? detail : `${round}: ${detail}`,
      ),
  };
}

const editLine =
  (at: number, edit: (line: StoredMessage) => Partial<StoredMessage>): Change =>
  (lines) =>
    lines.map((line, index) => (index === at ? { ...line, ...edit(line) } : line));

describe("replayTurn()", () => {
  test("gives the lines of the last turn, and the system prompt of now", async () => {
    const { replay, lines } = await recorded([["one"], [calling("a"), "two"]]);
    expect(await replay()).toEqual({
      turn: "cli:2",
      systemPromptNow: "You are a test.",
      messages: lines.slice(2),
    });
  });

  test("gives the turn that was asked for", async () => {
    const { replay, lines } = await recorded([["one"], [calling("a"), "two"]]);
    expect(await replay({ turn: "cli:1" })).toMatchObject({ turn: "cli:1", messages: lines.slice(0, 2) });
  });

  test("says that there is no such turn, or none at all", async () => {
    const { replay } = await recorded([["one"]]);
    await expect(replay({ turn: "cli:9" })).rejects.toThrow('There is no turn "cli:9" in the session');
    await expect(replay({}, { change: () => [] })).rejects.toThrow("has no turn yet");
  });

  test("takes what follows a user's line for its turn, where lines name none", async () => {
    const { replay } = await recorded([["one"], [calling("a"), "two"]]);
    const change: Change = (lines) => lines.map(({ turn: _, ...line }) => line);
    const found = await replay({ dry: true }, { change });
    expect(found).toMatchObject({
      messages: [{ content: expect.stringContaining("ask 2") }, {}, {}, { content: "two" }],
    });
    expect([found.turn, found.differences]).toEqual([undefined, []]);
  });

  test("does not take a note for the last turn", async () => {
    const { replay } = await recorded([["one"]]);
    const change: Change = (lines) => [
      ...lines,
      { role: "assistant", content: "a note", turn: inboundMessage({ id: "n" }).id },
    ];
    expect(await replay({}, { change })).toMatchObject({ turn: "cli:1" });
  });

  test("finds no difference in a dry run of what just happened, and executes nothing", async () => {
    const scripts: readonly (readonly Scripted[])[] = [
      ["only words"],
      [calling("a", "b"), calling("c"), "done"],
      [
        calling("bad"),
        { calls: [{ name: "nope" }] },
        { calls: [{ name: "echo", arguments: "no JSON" }] },
        "done",
      ],
      [
        {
          calls: [
            { name: "quiet", arguments: { text: "a" } },
            { name: "quiet", arguments: { text: "b" } },
          ],
        },
        "done",
      ],
      // Stopped by the loop itself, which then says so in its own words.
      [calling("bad"), calling("bad"), calling("bad")],
      // What tools read may begin as failures do.
      [calling("log"), calling("log"), calling("log"), "done"],
      // An answer that came blank first.
      [calling("a"), " ", "done"],
      // A failure is not stored.
      [calling("a"), { error: { kind: "auth", message: "no" } }],
    ];
    for (const script of scripts) {
      const { differences } = await recorded([script]);
      const before = runs;
      expect(await differences()).toEqual([]);
      expect(runs).toBe(before);
    }
  });

  test("finds no difference where the rounds ran out", async () => {
    const rounds = Array.from({ length: 10 }, (_, index) => calling(`${index}`));
    const { differences } = await recorded([[...rounds, "what I have"]]);
    expect(await differences()).toEqual([]);
    expect(await differences({}, { maxRounds: 4 })).toEqual([
      "The run ends earlier: 5 of the recorded answers are not asked for",
    ]);
  });

  test("finds no difference in a turn that was stopped", async () => {
    const abort = new AbortController();
    const stopping = defineTool({
      ...echo,
      async execute() {
        abort.abort(new Stopped("user"));
        return toolOk("never seen");
      },
    });
    const fixture = createFixture({ script: [calling("a")], tools: [stopping] });
    await runTurn(inboundMessage(), fixture.deps, abort.signal);
    const { toolbox, sessions, systemPrompt } = fixture.deps;
    const deps = {
      sessions,
      systemPrompt,
      tools: toolbox,
      maxRounds: 10,
    };
    expect((await replayTurn({ key: "cli:direct", dry: true }, deps, never)).differences).toEqual([]);
  });

  test("shows a call that would be refused now", async () => {
    const { replay } = await recorded([[calling("a"), "done"]]);
    const { differences } = await replay({ dry: true }, { now: [reworded] });
    expect(differences).toEqual([
      {
        round: 1,
        detail: "The call of echo would be refused",
        recorded: "echo a",
        now: expect.stringContaining('"words" is missing'),
      },
    ]);
  });

  test("shows a call that was refused and would be made now", async () => {
    const { differences } = await recorded([
      [{ calls: [{ name: "echo", arguments: { words: "a" } }] }, "done"],
    ]);
    expect(await differences({}, { now: [reworded] })).toEqual(["1: The call of echo would be made now"]);
  });

  test("shows what was changed in the record", async () => {
    const { differences, lines } = await recorded([[calling("a", "b"), "done"]]);
    expect(lines.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    const inCalls = (edit: (call: NonNullable<StoredMessage["tool_calls"]>[number]) => object) =>
      editLine(1, ({ tool_calls = [] }) => ({
        tool_calls: tool_calls.map((call) => ({ ...call, ...edit(call) })),
      }));
    const cases: readonly [Change, readonly string[]][] = [
      [
        inCalls(() => ({ id: "other" })),
        [
          expect.stringContaining("A result is recorded for the call"),
          expect.stringContaining("A result is recorded for the call"),
          "1: The id of call 1 differs",
          "1: The id of call 2 differs",
          "1: No result is recorded for the call of echo",
          "1: No result is recorded for the call of echo",
        ],
      ],
      [
        inCalls(() => ({ function: { name: "echo!", arguments: '{"text":"a"}' } })),
        [
          "1: The name of call 1 differs",
          "1: The name of call 2 differs",
          "1: The call of echo! would be refused",
          "1: The call of echo! would be refused",
        ],
      ],
      [
        inCalls(({ function: called }) => ({ function: { ...called, arguments: `[${called.arguments}]` } })),
        ["1: The text of the arguments of call 1 differs", "1: The text of the arguments of call 2 differs"],
      ],
      [(all) => all.toSpliced(2, 1), ["1: No result is recorded for the call of echo"]],
      [
        (all) => [
          ...all.slice(0, 4),
          { ...(all[3] ?? { role: "tool", content: "" }), tool_call_id: "x" },
          ...all.slice(4),
        ],
        ['A result is recorded for the call "x", which nobody made'],
      ],
      [
        (all) => [...all, { role: "assistant", content: "again", turn: inboundMessage({ id: "cli:1" }).id }],
        ["The answer differs"],
      ],
    ];
    for (const [change, expected] of cases) expect(await differences({}, { change })).toEqual([...expected]);
  });

  test("shows a run that ends otherwise", async () => {
    const { differences } = await recorded([[calling("bad"), calling("bad"), calling("bad")]]);
    const change = editLine(7, () => ({ content: "I did it" }));
    expect(await differences({}, { change })).toEqual(["The answer differs"]);
    const fixed: Change = (lines) =>
      lines.map((line) => (line.role === "tool" ? { ...line, content: "echo bad" } : line));
    // It would not stop, and asks the model for what the program had said itself.
    expect(await differences({}, { change: fixed })).toEqual([]);
  });
});
