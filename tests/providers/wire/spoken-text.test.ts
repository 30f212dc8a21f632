import { describe, expect, test } from "bun:test";
import type { ToolCall } from "../../../src/core/model.ts";
import { createSpokenText, type SpokenTextOptions } from "../../../src/providers/wire/spoken-text.ts";
import { createThoughtHabits } from "../../../src/providers/wire/thought-habits.ts";

type Options = Omit<SpokenTextOptions, "onDelta" | "newCallId">;

function start(options: Options = {}) {
  const deltas = { text: "", reasoning: "" };
  let ids = 0;
  const spoken = createSpokenText({
    onDelta({ kind, text }) {
      deltas[kind] += text;
    },
    newCallId: () => `new_${++ids}`,
    ...options,
  });
  return { spoken, deltas };
}

/** The end of a reply that has this text, found to be what its deltas gave. */
function finish(text: string, options: Options = {}, native: readonly ToolCall[] = []) {
  const { spoken, deltas } = start(options);
  for (const char of text) spoken.say(char);
  const finished = spoken.finish(native);
  // What turned out to be reasoning has been shown before.
  expect(deltas.text).toEndWith(finished.content);
  return finished;
}

const ls = '{"command":"ls"}';
const block = `<tool_call>{"name":"exec","arguments":${ls}}</tool_call>`;
const offered = { toolsOffered: true };

describe("finish()", () => {
  test("gives text, reasoning and calls", () => {
    expect(finish(`<think>plan</think>\nLooking.\n${block}${block}`, offered)).toEqual({
      content: "Looking.\n",
      reasoning: "plan",
      toolCalls: [
        { id: "new_1", name: "exec", arguments: ls },
        { id: "new_2", name: "exec", arguments: ls },
      ],
    });
  });

  test("gives no calls from the text when no tools were offered", () => {
    expect(finish(block)).toEqual({ content: block, reasoning: "", toolCalls: [] });
  });

  test("gives the protocol's own calls when there are any", () => {
    const native = [{ id: "a", name: "exec", arguments: "{}" }];
    expect(finish(`Hi\n${block}`, offered, native)).toEqual({
      content: "Hi\n",
      reasoning: "",
      toolCalls: native,
    });
  });

  test("gives half a character as the replacement character", () => {
    expect(finish("Hi \ud83d").content).toBe("Hi \ufffd");
  });

  test("joins the reasoning of the server and that of the text", () => {
    const { spoken, deltas } = start();
    spoken.think("a");
    spoken.say("<think>b</think>Hi");
    expect(spoken.finish([])).toEqual({ content: "Hi", reasoning: "ab", toolCalls: [] });
    expect(deltas).toEqual({ text: "Hi", reasoning: "ab" });
  });

  test("takes reasoning for the answer where that is asked for and there is no other", () => {
    const reasoningIsAnswer = { ...offered, reasoningIsAnswer: true };
    expect(finish("<think>plan", reasoningIsAnswer)).toMatchObject({ content: "plan", reasoning: "" });
    expect(finish("<think>plan")).toMatchObject({ content: "", reasoning: "plan" });
    const calling = finish(`<think>plan</think>${block}`, reasoningIsAnswer);
    expect(calling).toMatchObject({ content: "", reasoning: "plan" });
  });
});

test("say() refuses very many calls", () => {
  const list = `<tool_call>${JSON.stringify(Array(64).fill({ name: "a" }))}</tool_call>`;
  expect(finish(list.repeat(4), offered).toolCalls).toHaveLength(256);
  expect(() => finish(list.repeat(5), offered)).toThrow("256");
});

test("finish() obeys no call that is followed by text, or stands in a sentence: whoever is quoted is no model", () => {
  for (const text of [`${block}\nis how it is written.`, `Write ${block}`, `Write ${block} and wait.`]) {
    expect(finish(text, offered)).toEqual({ content: text, reasoning: "", toolCalls: [] });
  }
  expect(finish(`Let me look.\n${block}\n\n`, offered).toolCalls).toHaveLength(1);
});

test("finish() obeys no call in a reply that was cut off, which may have been quoting", () => {
  const { spoken } = start(offered);
  spoken.say(`The file says:\n${block}`);
  expect(spoken.finish([], { cutOff: true })).toMatchObject({
    toolCalls: [],
    content: `The file says:\n${block}`,
  });
});

test("finish() takes what came before a closer without an opener for reasoning, although it was shown", () => {
  const { spoken, deltas } = start();
  spoken.say("plan\n</think>\n\nHi");
  expect(spoken.finish([])).toEqual({ content: "Hi", reasoning: "plan\n", toolCalls: [] });
  expect(deltas.text).toBe("plan\n\n\nHi");
});

test("partial() has no part of what is still held", () => {
  const { spoken, deltas } = start(offered);
  spoken.say("Hi <think> or");
  expect(spoken.partial()).toBe("Hi ");
  expect(deltas.text).toBe("Hi ");
});

describe("createSpokenText() with a habit", () => {
  const thinking = "plan\n</think>\nHi";

  function replies(texts: readonly string[]) {
    const habits = createThoughtHabits();
    return texts.map((text) => {
      const { spoken, deltas } = start({ habit: habits.of("a") });
      spoken.say(text);
      spoken.finish([]);
      return deltas.text;
    });
  }

  test("knows after two replies that the third begins inside a block", () => {
    expect(replies([thinking, thinking, thinking, thinking])).toEqual([
      "plan\n\nHi",
      "plan\n\nHi",
      "Hi",
      "Hi",
    ]);
  });

  test.each([
    ["a reply that begins with a closer", "</think>\nHi"],
    ["a closer in the middle of a line", "the </think> tag"],
    ["a closer in code", "```\n</think>\n```"],
    ["a closer behind a mention", "The <think> tag ends with\n</think>"],
    ["a block", "<think>plan</think>\nHi"],
  ])("learns nothing from %s", (_, text) => {
    const habits = createThoughtHabits();
    for (let time = 0; time < 3; time++) finish(text, { habit: habits.of("a") });
    expect(habits.of("a").startsInside).toBe(false);
  });

  test("shows a reply without a closer, and forgets", () => {
    expect(replies([thinking, thinking, "Hello", thinking])).toEqual([
      "plan\n\nHi",
      "plan\n\nHi",
      "Hello",
      "plan\n\nHi",
    ]);
  });

  test("forgets behind a very long reply without a closer, which it takes for reasoning", () => {
    const long = "word ".repeat(20_000);
    expect(replies([thinking, thinking, long, long])).toEqual(["plan\n\nHi", "plan\n\nHi", "", long]);
  });

  test("learns nothing from a reply without text, as one that only calls", () => {
    expect(replies([thinking, thinking, "", thinking])).toEqual(["plan\n\nHi", "plan\n\nHi", "", "Hi"]);
  });
});
