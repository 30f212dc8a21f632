/** What models write into their text is read in the same way whatever protocol carries it. */

import { describe, expect, test } from "bun:test";
import type { ChatAnswer, ChatRequest } from "../../../src/core/model.ts";
import * as anthropic from "../anthropic/fixture.ts";
import * as chat from "../fixture.ts";
import * as responses from "../responses/fixture.ts";

/** The answers of one model whose server replies with these texts, one after the other, in small pieces. */
type Talk = (texts: readonly string[], request?: Partial<ChatRequest>) => Promise<Shown[]>;

const piecesOf = (text: string) => text.match(/.{1,3}/gs) ?? [];

interface Shown extends ChatAnswer {
  readonly shown: string;
}

async function answersOf(connection: chat.Connection | responses.Connection, times: number, request = {}) {
  const answers: Shown[] = [];
  for (let time = 0; time < times; time++) {
    const before = connection.deltas.length;
    const answer = anthropic.answerOf(await connection.ask(request));
    const deltas = connection.deltas.slice(before).filter(({ kind }) => kind === "text");
    const shown = deltas.map(({ text }) => text).join("");
    // What turned out to be reasoning has been shown before.
    expect(shown).toEndWith(answer.content);
    answers.push({ ...answer, shown });
  }
  return answers;
}

const protocols: readonly (readonly [string, Talk])[] = [
  [
    "chat completions",
    async (texts, request) => {
      const server = await chat.serve(texts.map((text) => ({ text: piecesOf(text) })));
      return answersOf(chat.connect(server.url), texts.length, request);
    },
  ],
  [
    "Anthropic",
    async (texts, request) => {
      const server = await anthropic.serve(texts.map((text) => ({ text: piecesOf(text) })));
      return answersOf(anthropic.connect(server.url), texts.length, request);
    },
  ],
  [
    "Responses",
    async (texts, request) => {
      const server = await responses.serve(texts.map((text) => ({ items: [{ text: piecesOf(text) }] })));
      return answersOf(responses.connect(server.url), texts.length, request);
    },
  ],
];

describe.each(protocols)("chat() by %s", (_, talk) => {
  test("shows no reasoning that is written as text", async () => {
    const [answer] = await talk(["<think>plan</think>\n\nHi <think>more</think>there"]);
    expect(answer).toMatchObject({ content: "Hi there", toolCalls: [] });
  });

  test("leaves a tag that is merely mentioned", async () => {
    const text = "The `<think>` tag, or <think>, and ```<tool_call>{}</tool_call>```";
    const [answer] = await talk([text], { tools: [anthropic.TOOL] });
    expect(answer).toMatchObject({ content: text, toolCalls: [] });
  });

  test("takes a call that is written as text, if tools were offered", async () => {
    const text = 'Looking.\n<tool_call>\n{"name":"exec","arguments":{"command":"ls"}}\n</tool_call>';
    const [offered] = await talk([text], { tools: [anthropic.TOOL] });
    expect(offered).toMatchObject({
      content: "Looking.\n",
      toolCalls: [{ id: expect.stringMatching(/./), name: "exec", arguments: '{"command":"ls"}' }],
    });
    const [plain] = await talk([text]);
    expect(plain).toMatchObject({ content: text, toolCalls: [] });
  });

  test("learns that replies begin inside a block of reasoning, and forgets it", async () => {
    const thinking = "plan\n</think>\nHi";
    const answers = await talk([thinking, thinking, thinking, "Hello", thinking]);
    expect(answers.map(({ content }) => content)).toEqual(["Hi", "Hi", "Hi", "Hello", "Hi"]);
    const shown = answers.map((answer) => answer.shown);
    expect(shown).toEqual(["plan\n\nHi", "plan\n\nHi", "Hi", "Hello", "plan\n\nHi"]);
  });
});
