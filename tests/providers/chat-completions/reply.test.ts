import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatAnswer, ChatDelta } from "../../../src/core/model.ts";
import { createReplyBuilder } from "../../../src/providers/chat-completions/reply.ts";
import type { SpokenTextOptions } from "../../../src/providers/wire/spoken-text.ts";
import { chunk } from "../fixture.ts";

type Options = Omit<SpokenTextOptions, "onDelta" | "newCallId">;

function build(chunks: readonly unknown[], options: Options = {}) {
  const deltas: ChatDelta[] = [];
  let ids = 0;
  const builder = createReplyBuilder({
    onDelta: (delta) => deltas.push(delta),
    newCallId: () => `new_${++ids}`,
    ...options,
  });
  for (const one of chunks) builder.add(one);
  const joined = (kind: ChatDelta["kind"]) =>
    deltas
      .filter((delta) => delta.kind === kind)
      .map(({ text }) => text)
      .join("");
  return { builder, joined };
}

/** The answer, whose text has been found to be what its deltas gave. */
function answerTo(chunks: readonly unknown[], options?: Options): ChatAnswer {
  const { builder, joined } = build(chunks, options);
  const answer = builder.finish();
  // What turned out to be reasoning has been shown before.
  expect(joined("text")).toEndWith(answer.content);
  const hidden = joined("text").slice(0, joined("text").length - answer.content.length);
  const bare = (text: string) => text.replace(/\s/g, "");
  expect(bare(hidden + joined("reasoning"))).toContain(bare(answer.reasoningContent ?? ""));
  return answer;
}

const contents = (...pieces: readonly string[]) => pieces.map((content) => chunk({ content }));
const call = (fields: object) => chunk({ tool_calls: [fields] });
const ls = '{"command":"ls"}';

describe("finish() tells reasoning from text", () => {
  test.each([
    ["tags in the text", contents("Hi <thi", "nk>plan</th", "ink> there"), "Hi  there", "plan"],
    ["a block at the start", contents("<think>", "plan", "</think>", "\n\n", "Hi"), "Hi", "plan"],
    ["a block left open", contents("Hi\n<think>", "plan"), "Hi\n", "plan"],
    ["reasoning_content", [chunk({ reasoning_content: "plan" }), chunk({ content: "\nHi" })], "\nHi", "plan"],
    ["reasoning", [chunk({ reasoning: "plan", content: "Hi" })], "Hi", "plan"],
    ["an empty field before a full one", [chunk({ reasoning_content: "", reasoning: "plan" })], "", "plan"],
    ["null", [chunk({ reasoning_content: null, reasoning: null, content: "Hi" })], "Hi", undefined],
    [
      "reasoning_details",
      [chunk({ reasoning_details: [{ text: "a" }, { summary: "b" }, { data: "c" }, null] })],
      "",
      "ab",
    ],
    [
      "the same in two fields",
      [chunk({ reasoning: "plan", reasoning_details: [{ type: "reasoning.text", text: "plan" }] })],
      "",
      "plan",
    ],
    [
      "parts",
      [
        chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "a" }] }] }),
        chunk({ content: [{ type: "thinking", thinking: "b" }, { type: "reasoning", text: "c" }, 7] }),
        chunk({
          content: [
            { type: "text", text: "Hi <think>d</think>" },
            { type: "text", text: " there" },
          ],
        }),
      ],
      "Hi  there",
      "abcd",
    ],
  ])("by %s", (_, chunks, content, reasoningContent) => {
    const answer = answerTo(chunks);
    expect([answer.content, answer.reasoningContent]).toEqual([content, reasoningContent as string]);
  });

  test("of a reply that starts inside a block, but not where the server tells it apart", () => {
    const habit = { startsInside: true, note() {} };
    const inside = answerTo(contents("plan", "</think>\nHi"), { habit });
    expect(inside).toMatchObject({ content: "Hi", reasoningContent: "plan" });
    const { builder, joined } = build([chunk({ reasoning: "plan" }), chunk({ content: "Hi" })], { habit });
    expect(joined("text")).toBe("Hi");
    expect(builder.finish()).toMatchObject({ content: "Hi", reasoningContent: "plan" });
  });
});

describe("finish() takes reasoning for the answer", () => {
  const isAnswer = { reasoningIsAnswer: true };

  test("where there is no other", () => {
    const answer = answerTo([chunk({ reasoning: "It is" }), chunk({ reasoning: " noon." })], isAnswer);
    expect(answer).toEqual({ ok: true, content: "It is noon.", toolCalls: [], finishReason: "" });
  });

  test.each([
    ["text", [chunk({ reasoning: "plan" }), chunk({ content: "Hi" })], isAnswer, "Hi"],
    ["a call", [chunk({ reasoning: "plan" }), call({ function: { name: "exec" } })], isAnswer, ""],
    ["no leave to", [chunk({ reasoning: "plan" })], {}, ""],
  ])("but not with %s", (_, chunks, options, content) => {
    expect(answerTo(chunks, options)).toMatchObject({ content, reasoningContent: "plan" });
  });
});

test("finish() prefers the server's calls to those in the text", () => {
  const block = `<tool_call>{"name":"exec","arguments":${ls}}</tool_call>`;
  const offered = { toolsOffered: true };
  const textCall = { id: "new_1", name: "exec", arguments: ls };
  expect(answerTo(contents(...block), offered)).toMatchObject({ content: "", toolCalls: [textCall] });
  const native = call({ id: "a", function: { name: "exec", arguments: ls } });
  const answer = answerTo([...contents("Looking.\n", block), native], offered);
  expect(answer).toMatchObject({ content: "Looking.\n", toolCalls: [{ id: "a", name: "exec" }] });
  expect(answer.toolCalls).toHaveLength(1);
});

test.each([
  ["length", true],
  ["max_tokens", true],
  ["MAX_TOKENS", true],
  ["stop", undefined],
  ["end_turn", undefined],
  ["", undefined],
])("finish() for the finish reason %j says cutOff: %p", (reason, cutOff) => {
  const { cutOff: given, finishReason } = answerTo([...contents("Hi"), chunk({}, reason)]);
  expect([given, finishReason]).toEqual([cutOff, reason]);
});

test.each(["content_filter", "sensitive"])("finish() refuses what ended with %s", (reason) => {
  expect(() => answerTo([...contents("Hi"), chunk({}, reason)])).toThrow("content filter");
});

test.each([
  ["one alone", { tool_calls: { index: 0, function: { name: "exec", arguments: ls } } }],
  ["one without its inner object", { tool_calls: [{ index: 0, name: "exec", arguments: ls }] }],
  ["one of the older form", { function_call: { name: "exec", arguments: ls } }],
])("finish() gives a call that comes as %s", (_, delta) => {
  expect(answerTo([chunk(delta)]).toolCalls).toMatchObject([{ name: "exec", arguments: ls }]);
});

describe("partial()", () => {
  test.each([
    ["text", ["Hi ", "there"], {}, "Hi there"],
    ["a block left open", ["Hi\n<think>plan"], {}, "Hi\n"],
    ["what may be a block", ["The <think> tag"], {}, "The "],
    ["what may become a tag", ["Hi <th"], {}, "Hi "],
    ["a beginning that may be reasoning", ["plan"], { habit: { startsInside: true, note() {} } }, ""],
    ["half a call", ['Hi\n<tool_call>{"name":'], { toolsOffered: true }, "Hi\n"],
    ["half a character", ["Hi \ud83d"], {}, "Hi "],
  ])("of %s is what the deltas gave", (_, pieces, options, partial) => {
    const { builder, joined } = build(contents(...pieces), options);
    expect(builder.partial()).toBe(partial);
    expect(joined("text")).toBe(partial);
  });
});

describe("add()", () => {
  test.each([
    [null],
    ["text"],
    [[]],
    [{}],
    [{ choices: null }],
    [{ choices: {} }],
    [{ choices: [null] }],
    [{ choices: [{}] }],
    [{ choices: [{ delta: null, finish_reason: null }] }],
    [chunk({ content: null, tool_calls: null, reasoning_content: null })],
    [chunk({ content: 7, tool_calls: [null, 7, {}], reasoning_details: {}, refusal: [] })],
    [chunk({ content: {}, tool_calls: {}, reasoning: {} })],
  ])("finds nothing in %j", (odd) => {
    const answer = answerTo([odd, ...contents("Hi"), odd]);
    expect(answer).toEqual({ ok: true, content: "Hi", toolCalls: [], finishReason: "" });
  });

  const pieces = fc.constantFrom(
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    '{"name":"exec"}',
    "`",
    "\n",
    "a ",
    "😀",
  );
  const options = fc
    .record({ toolsOffered: fc.boolean(), startsInside: fc.boolean(), reasoningIsAnswer: fc.boolean() })
    .map(({ startsInside, ...rest }) => ({ ...rest, habit: { startsInside, note() {} } }));

  test("gives the same answer and the same text however the content is cut", () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 16 }), options, (parts, options) => {
        const text = parts.join("");
        const whole = answerTo(contents(text), options);
        expect(answerTo(contents(...parts), options)).toEqual(whole);
        expect(answerTo(contents(...text.split("")), options)).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  test("fails for no chunk of this shape", () => {
    const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom("a", "", "0", 0, 1, null));
    const called = fc.record({ name: odd, arguments: odd }, { requiredKeys: [] });
    const asked = fc.record(
      { index: odd, id: odd, function: fc.oneof(called, odd), extra_content: odd },
      { requiredKeys: [] },
    );
    const delta = fc.record(
      { content: odd, reasoning: odd, reasoning_details: odd, tool_calls: fc.oneof(fc.array(asked), odd) },
      { requiredKeys: [] },
    );
    const choice = fc.record({ delta: fc.oneof(delta, odd), message: odd, usage: odd }, { requiredKeys: [] });
    const any = fc.record(
      { choices: fc.oneof(fc.tuple(choice), odd), usage: odd, x_groq: odd },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(any, { maxLength: 6 }), options, (chunks, options) => {
        const { toolCalls } = answerTo(chunks, options);
        expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(toolCalls.length);
      }),
      { numRuns: 500 },
    );
  });
});
