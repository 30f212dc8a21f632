import { describe, expect, test } from "bun:test";
import { Stopped } from "../../../src/core/errors.ts";
import { type Scripted, textReply } from "../../fakes/model.ts";
import { cutOff, deaf, failure, setup, trace } from "./setup.ts";

const times = (count: number, reply: Scripted): Scripted[] => Array<Scripted>(count).fill(reply);

describe("createResilient() goes on", () => {
  test("behind what was shown when the connection breaks", async () => {
    const broken = failure("transient", { partial: "Once upon a" });
    const { ask, models } = setup([[broken, " time."]]);
    const { reply, text } = await ask();
    expect(reply).toMatchObject({ ok: true, content: "Once upon a time." });
    expect(text).toBe("Once upon a time.");
    const { messages = [] } = models[0]?.requests[1] ?? {};
    expect(messages.slice(0, 2)).toEqual([
      { role: "user", content: "hi" },
      { role: "assistant", content: "Once upon a" },
    ]);
    expect(messages[2]).toMatchObject({ role: "user", content: expect.stringContaining('"Once upon a"') });
    expect(messages).toHaveLength(3);
  });

  test("with another model behind what the first has shown", async () => {
    const { ask, models } = setup([[failure("auth", { partial: "Once " })], ["upon a time"]]);
    expect((await ask()).reply).toMatchObject({ content: "Once upon a time", model: "p1/m1" });
    expect(models[1]?.requests[0]?.messages[1]?.content).toBe("Once ");
  });

  test("showing only the end of what is long, and no half of a character", async () => {
    const partial = `${"x".repeat(500)}${"😀".repeat(40)}`;
    const { ask, models } = setup([[failure("transient", { partial }), "y"]]);
    await ask();
    const said = models[0]?.requests[1]?.messages.at(-1)?.content ?? "";
    expect(said).toContain(JSON.stringify("😀".repeat(32)));
    expect(said).not.toContain("x😀");
  });

  test("from the beginning when only thoughts or blanks were shown", async () => {
    const thinking: Scripted = async (_, { onDelta }) => {
      onDelta({ kind: "reasoning", text: "Let me see" });
      onDelta({ kind: "text", text: "\n" });
      return { ok: false, error: { kind: "transient", message: "broken" }, partial: "\n" };
    };
    const { ask, models } = setup([[thinking, "hi"]]);
    const { reply, text } = await ask();
    expect(models[0]?.requests[1]?.messages).toEqual([{ role: "user", content: "hi" }]);
    expect([reply.ok && reply.content, text]).toEqual(["\nhi", "\nhi"]);
  });

  test("three times at most where new text keeps breaking off, with fresh patience each time", async () => {
    const broken = failure("transient", { partial: "more " });
    const { ask, asked } = setup([times(20, broken)]);
    const outcome = await ask();
    expect(outcome.reply.ok).toBe(false);
    expect(outcome.text).toBe("more ".repeat(asked.length));
    expect(outcome.reply).toMatchObject({ partial: outcome.text });
    expect(trace(asked)).toBe("m0@0 m0@1000 m0@2000 m0@3000 m0@5000 m0@9000");
  });

  test("where the limit of tokens cut the answer off, up to three times, keeping the blanks", async () => {
    const { ask, asked, models } = setup([
      [cutOff("one "), cutOff("\n\ntwo"), cutOff(" three\t"), cutOff("four "), "never asked"],
    ]);
    const { reply, text, tookMs } = await ask();
    expect(text).toBe("one \n\ntwo three\tfour ");
    expect(reply).toMatchObject({ ok: true, content: text, cutOff: true, finishReason: "length" });
    expect([asked.length, tookMs]).toEqual([4, 0]);
    expect(models[0]?.requests[3]?.messages[1]?.content).toBe("one \n\ntwo three\t");
  });

  test("and is done where the next reply is", async () => {
    const { ask } = setup([[cutOff("one "), "two"]]);
    const { reply } = await ask();
    expect(reply).toMatchObject({ content: "one two", finishReason: "stop" });
    expect(reply).not.toHaveProperty("cutOff");
  });

  test("with the sum of what was used", async () => {
    const { ask } = setup([[cutOff("one "), failure("transient"), cutOff("two "), "three"]]);
    const { reply } = await ask();
    expect(reply).toMatchObject({ usage: { input: 30, output: 15, cached: 4, reasoning: 2 } });
  });

  test("without the thoughts, which belong to one reply as a whole", async () => {
    const thoughtful: Scripted = async () => ({
      ...textReply("two"),
      ok: true,
      content: "two",
      toolCalls: [],
      finishReason: "stop",
      reasoningContent: "hm",
      thinkingBlocks: [{ type: "thinking" }],
    });
    const joined = await setup([[cutOff("one "), thoughtful]]).ask();
    expect(joined.reply).not.toHaveProperty("reasoningContent");
    expect(joined.reply).not.toHaveProperty("thinkingBlocks");
    expect((await setup([[thoughtful]]).ask()).reply).toHaveProperty("thinkingBlocks");
  });

  test("no further when the reply that was cut off calls tools, or says nothing", async () => {
    const toolCalls = [{ id: "1", name: "echo", arguments: '{"te' }];
    const calling: Scripted = async () => ({
      ok: true,
      content: "Let me",
      toolCalls,
      finishReason: "length",
      cutOff: true,
    });
    const { ask, asked } = setup([[calling, "never asked"]]);
    expect((await ask()).reply).toMatchObject({ content: "Let me", toolCalls });
    expect(asked).toHaveLength(1);
    const blank = setup([[cutOff(" "), "never asked"]]);
    await blank.ask();
    expect(blank.asked).toHaveLength(1);
  });

  test("and keeps the answer as far as it came when it cannot be finished", async () => {
    const { ask, asked } = setup([
      [cutOff("one "), failure("transient", { partial: "two " }), failure("contextOverflow")],
    ]);
    const { reply, text } = await ask();
    expect(reply).toMatchObject({ ok: true, content: "one two ", cutOff: true, model: "p0/m0" });
    expect([text, asked.length]).toEqual(["one two ", 3]);
  });

  test("and tells of an empty account that kept it from finishing", async () => {
    const { reply, notices } = await setup([[cutOff("one "), failure("quota")]]).ask();
    expect(reply).toMatchObject({ ok: true, content: "one " });
    expect(notices).toMatchObject([{ kind: "quota" }]);
  });

  test("until it is stopped, which is no answer however far it came", async () => {
    const abort = new AbortController();
    const { begin, end, clock } = setup([[cutOff("one "), deaf("two")]]);
    const running = begin({ signal: abort.signal });
    await clock.advance(0);
    abort.abort(new Stopped("user"));
    expect((await end(running)).reply).toEqual({
      ok: false,
      error: { kind: "aborted", message: "The request was stopped" },
      partial: "one two",
    });
  });
});
