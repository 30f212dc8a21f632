import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Context, createContext, messageBudget } from "../../src/agent/context.ts";
import type { AssistantMessage, ChatMessage, ToolMessage } from "../../src/core/model.ts";
import { imagesOf } from "../../src/lib/message-images.ts";
import { imageLeftOut, leftOutSteps } from "../../src/lib/phrases.ts";
import { messagesTokens } from "../../src/lib/request-tokens.ts";
import { createTokenScale } from "../../src/lib/token-scale.ts";
import { checkTranscript } from "./transcript-rules.ts";

const words = (count: number) => "word ".repeat(count).trim();
const system: ChatMessage = { role: "system", content: "You are a test." };
const user = (content: string): ChatMessage => ({ role: "user", content });
const answer = (content: string): ChatMessage => ({ role: "assistant", content });

let callIds = 0;
/** A reply that calls a tool for each of `results`, with what they returned. */
function step(results: readonly string[], { text = "{}", content = "" } = {}): ChatMessage[] {
  const ids = results.map(() => `call_${++callIds}`);
  const calls: AssistantMessage = {
    role: "assistant",
    content,
    toolCalls: ids.map((id) => ({ id, name: "look", arguments: text })),
  };
  return [
    calls,
    ...results.map((result, index): ToolMessage => {
      return { role: "tool", toolCallId: ids[index] ?? "", name: "look", content: result };
    }),
  ];
}

/** A reply that calls a tool once for each of `names`, with an image of that name and a short text. */
function pictures(names: readonly string[], chars = 4): ChatMessage[] {
  return step(names.map(() => "ok")).map((message, index) => {
    const name = names[index - 1];
    if (message.role !== "tool" || name === undefined) return message;
    return { ...message, images: [{ mime: "image/png", data: "A".repeat(chars), name }] };
  });
}

const shownIn = (messages: readonly ChatMessage[]) =>
  messages.flatMap((message) => imagesOf(message).map(({ name }) => name));

function contextOf(tokens: number): Context {
  return createContext({ promptTokens: tokens, toolTokens: 0, scale: createTokenScale() });
}
const contents = (messages: readonly ChatMessage[]) => messages.map(({ content }) => content);
const LEFT_OUT = expect.stringContaining("left out to save room");

describe("messageBudget()", () => {
  const scale = createTokenScale();
  test("is what the tools leave", () => {
    expect(messageBudget({ promptTokens: 10_000, toolTokens: 3_000, scale })).toBe(7_000);
  });

  test("lets a short message through when the settings leave no room", () => {
    expect(messageBudget({ promptTokens: 3_001, toolTokens: 3_000, scale })).toBe(128);
    expect(messageBudget({ promptTokens: 2_000, toolTokens: 3_000, scale })).toBe(1_000);
    expect(messageBudget({ promptTokens: 0, toolTokens: 0, scale })).toBe(128);
  });

  test("is in the tokens of a model that counts more", () => {
    const learnt = createTokenScale();
    learnt.learn(1_000, 2_000);
    expect(messageBudget({ promptTokens: 10_000, toolTokens: 1_000, scale: learnt })).toBe(4_000);
  });
});

describe("createContext() fit()", () => {
  test("gives everything as it is when it fits", () => {
    const messages = [system, user("hi"), ...step([words(100)]), answer("done"), user("more")];
    expect(contextOf(1_000).fit(messages)).toEqual(messages);
  });

  test("leaves out old results first, the oldest before the others, and more than it must", () => {
    const messages = [system, user("go"), ...[1, 2, 3, 4].flatMap((index) => step([words(300) + index]))];
    const sent = contextOf(1_200).fit(messages);
    expect(contents(sent)).toEqual([
      system.content,
      "go",
      "",
      LEFT_OUT,
      "",
      LEFT_OUT,
      "",
      words(300) + 3,
      "",
      words(300) + 4,
    ]);
    expect(sent[3]?.content).toContain("look (1500 characters)");
  });

  test("keeps short results, and the results the model is waiting for", () => {
    const messages = [system, user("go"), ...step([words(20)]), ...step([words(300)]), ...step([words(600)])];
    expect(contents(contextOf(750).fit(messages))).toEqual([
      system.content,
      "go",
      "",
      words(20),
      "",
      LEFT_OUT,
      "",
      words(600),
    ]);
  });

  test("leaves out old results with images, however short their text", () => {
    const messages = [system, user("go"), ...pictures(["a"]), ...pictures(["b"]), ...pictures(["c"])];
    const sent = contextOf(3_500).fit(messages);
    expect(shownIn(sent)).toEqual(["b", "c"]);
    expect(sent[3]?.content).toContain("look (2 characters and an image) was left out");
    expect(contextOf(4_100).fit(messages)).toEqual(messages);
  });

  test("leaves out images that the model is waiting for where nothing else helps, and names them", () => {
    const messages = [system, user("go"), ...pictures(["a", "b", "c"])];
    const sent = contextOf(2_800).fit(messages);
    expect(contents(sent)).toEqual([system.content, "go", "", `ok\n${imageLeftOut("a")}`, "ok", "ok"]);
    expect(shownIn(sent)).toEqual(["b", "c"]);
  });

  test("keeps the images of a result whose text it shortens", () => {
    const [calls, result] = pictures(["a"]);
    const long = { ...result, content: words(2_000) } as ChatMessage;
    const sent = contextOf(2_000).fit([system, user("go"), calls as ChatMessage, long]);
    expect(sent[3]?.content.length).toBeLessThan(4_000);
    expect(sent[3]?.content).not.toContain(imageLeftOut("a"));
    expect(shownIn(sent)).toEqual(["a"]);
  });

  test("sends no more images than a request takes, whatever the budget, and keeps the newest", () => {
    const asked: ChatMessage = {
      role: "user",
      content: "[image: u]",
      images: [{ mime: "image/png", data: "AAAA", name: "u" }],
    };
    const { fit } = contextOf(100_000);
    const messages = [
      system,
      asked,
      ...Array.from({ length: 19 }, (_, index) => pictures([`${index}`])).flat(),
    ];
    expect(fit(messages)).toEqual(messages);
    const more = [...messages, ...pictures(["19"])];
    const sent = fit(more);
    expect(shownIn(sent)).toEqual(Array.from({ length: 16 }, (_, index) => `${index + 4}`));
    expect(sent[1]).toEqual(user("[image: u]"));
    expect(sent[3]?.content).toBe(`ok\n${imageLeftOut("0")}`);
    // And the prefix holds for some rounds.
    expect(fit([...more, ...pictures(["20"])]).slice(0, sent.length)).toEqual([...sent]);
  });

  test("sends no more bytes of images than a request takes", () => {
    const four = ["a", "b", "c", "d"].map((name) => pictures([name], 5 * 1024 * 1024));
    expect(shownIn(contextOf(100_000).fit([system, user("go"), ...four.flat()]))).toEqual(["b", "c", "d"]);
  });

  test("then begins at a later message of the user", () => {
    const turn = (index: number) => [user(`ask ${index}`), answer(words(200))];
    const messages = [system, ...[1, 2, 3, 4].flatMap(turn), user("now")];
    expect(contents(contextOf(700).fit(messages))).toEqual([
      system.content,
      "ask 3",
      words(200),
      "ask 4",
      words(200),
      "now",
    ]);
  });

  test("then leaves out long arguments of old calls, as an object", () => {
    const long = JSON.stringify({ content: words(300) });
    const messages = [system, user("go"), ...step(["ok"], { text: long }), ...step(["ok"], { text: long })];
    const sent = contextOf(500).fit(messages);
    const argumentsOf = (message: ChatMessage | undefined) =>
      message?.role === "assistant" ? message.toolCalls?.[0]?.arguments : undefined;
    expect(JSON.parse(argumentsOf(sent[2]) ?? "")).toEqual({ left_out: `${long.length} characters` });
    expect(argumentsOf(sent[4])).toBe(long);
  });

  test("then leaves out the oldest steps, and says so behind the user's message", () => {
    const messages = [
      system,
      user("go"),
      ...[1, 2, 3, 4].flatMap((index) => step(["ok"], { content: `${index} ${words(100)}` })),
    ];
    const sent = contextOf(350).fit(messages);
    expect(contents(sent)).toEqual([
      system.content,
      `go\n\n${leftOutSteps(2)}`,
      `3 ${words(100)}`,
      "ok",
      `4 ${words(100)}`,
      "ok",
    ]);
    expect(messages[1]?.content).toBe("go");
  });

  test("at last shortens what has just come, the longest first, no more than it must", () => {
    const messages = [system, user("go"), ...step([words(2_000), words(500), "short"])];
    const sent = contextOf(1_500).fit(messages);
    expect(messagesTokens(sent)).toBeLessThanOrEqual(1_500);
    expect(messagesTokens(sent)).toBeGreaterThan(1_100);
    expect(sent[3]?.content).toMatch(/^word word[\s\S]*characters left out to save room[\s\S]*word word$/);
    expect(contents(sent.slice(4))).toEqual([words(500), "short"]);
  });

  test("shortens even the arguments of the last calls when nothing else is left", () => {
    const long = JSON.stringify({ content: words(400) });
    const messages = [system, user("go"), ...step(["ok", words(500), "ok"], { text: long })];
    const sent = contextOf(400).fit(messages);
    expect(messagesTokens(sent)).toBeLessThanOrEqual(400);
    expect(sent).toHaveLength(messages.length);
  });

  test("gives too much rather than nothing when the user's own message does not fit", () => {
    const messages = [system, user("before"), answer("yes"), user(words(1_000))];
    expect(contents(contextOf(200).fit(messages))).toEqual([system.content, words(1_000)]);
  });

  test("gives the same again, and the same for the same conversation", () => {
    const messages = [system, user("go"), ...Array.from({ length: 30 }, () => step([words(300)])).flat()];
    const context = contextOf(2_000);
    const once = context.fit(messages);
    expect(context.fit(messages)).toEqual(once);
    expect(contextOf(2_000).fit(messages)).toEqual(once);
  });

  test("keeps the prefix it has sent for several rounds, with the same objects", () => {
    const context = contextOf(4_000);
    const messages: ChatMessage[] = [system, user("go")];
    let sent: readonly ChatMessage[] = [];
    let kept = 0;
    for (let round = 0; round < 40; round++) {
      messages.push(...step([words(150)]));
      const next = context.fit(messages);
      if (sent.every((message, index) => next[index] === message)) kept++;
      sent = next;
    }
    expect(kept).toBeGreaterThan(30);
    expect(kept).toBeLessThan(40);
  });
});

describe("createContext() refused()", () => {
  test("has less sent from then on", () => {
    const messages = [system, user("go"), ...Array.from({ length: 10 }, () => step([words(200)])).flat()];
    const context = contextOf(10_000);
    const sent = context.fit(messages);
    expect(context.refused(messages, sent, { byAnother: false })).toBe(true);
    expect(messagesTokens(context.fit(messages))).toBeLessThan(messagesTokens(sent) * 0.7);
  });

  test("says when there is nothing left to leave out", () => {
    const messages = [system, user(words(1_000))];
    const context = contextOf(10_000);
    expect(context.refused(messages, context.fit(messages), { byAnother: false })).toBe(false);
  });

  test("counts the tools to what was refused", () => {
    const scale = createTokenScale();
    const context = createContext({ promptTokens: 10_000, toolTokens: 1_000, scale });
    const messages = [system, user("go"), ...step([words(1_000)])];
    context.refused(messages, context.fit(messages), { byAnother: false });
    expect(scale.fit(10_000)).toBeGreaterThan(1_390);
    expect(scale.fit(10_000)).toBeLessThan(1_500);
  });
});

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.nat(400).map(words),
  fc.nat(1_500).map((length) => "漢".repeat(length)),
  fc.nat(3_000).map((length) => "😀".repeat(length / 2)),
  fc.nat(4_000).map((length) => " ".repeat(length)),
);
const turn = fc
  .record({
    ask: text,
    steps: fc.array(
      fc.record({
        results: fc.array(text, { minLength: 1, maxLength: 4 }),
        text: text.map((content) => JSON.stringify({ content })),
        content: text,
      }),
      { maxLength: 6 },
    ),
    answer: fc.option(text, { nil: undefined }),
  })
  .map(({ ask, steps, answer: said }) => [
    user(ask),
    ...steps.flatMap(({ results, ...rest }) => step(results, rest)),
    ...(said === undefined ? [] : [answer(said)]),
  ]);
const transcript = fc
  .record({
    hasSystem: fc.boolean(),
    before: fc.array(turn, { maxLength: 6 }),
    ask: text,
    steps: fc.array(fc.record({ results: fc.array(text, { minLength: 1, maxLength: 4 }), content: text }), {
      maxLength: 8,
    }),
  })
  .map(({ hasSystem, before, ask, steps }) => [
    ...(hasSystem ? [system] : []),
    ...before.flat(),
    user(ask),
    ...steps.flatMap(({ results, content }) => step(results, { content })),
  ]);

/** Nothing can be left out any more: one turn of one step, whose results and arguments are short. */
function isLeast(messages: readonly ChatMessage[]): boolean {
  const said = messages.filter(({ role }) => role !== "system");
  const steps = said.filter(({ role }) => role === "assistant");
  return (
    steps.length <= 1 &&
    said.filter(({ role }) => role === "user").length === 1 &&
    said.every((message) => message.role !== "tool" || message.content.length <= 100) &&
    steps.every(
      (message) =>
        message.role === "assistant" &&
        (message.toolCalls ?? []).every((call) => call.arguments.length < 500),
    )
  );
}

describe("createContext() with any conversation", () => {
  test("gives a valid one that fits, if anything could be left out, and keeps its end", () => {
    fc.assert(
      fc.property(transcript, fc.integer({ min: 0, max: 6_000 }), (messages, tokens) => {
        const context = contextOf(tokens);
        const sent = context.fit(messages);
        expect(checkTranscript(sent)).toBeUndefined();
        expect(sent[0]?.role === "system").toBe(messages[0]?.role === "system");
        const budget = messageBudget({ promptTokens: tokens, toolTokens: 0, scale: createTokenScale() });
        if (messagesTokens(sent) > budget) expect(isLeast(sent)).toBe(true);
        // The user's last message is there in full, and so is the last step, however short.
        const last = messages.findLastIndex(({ role }) => role === "user");
        const lastSent = sent.findLastIndex(({ role }) => role === "user");
        expect(sent[lastSent]?.content.startsWith(messages[last]?.content ?? "")).toBe(true);
        const lastStep = messages.slice(messages.findLastIndex(({ role }) => role === "assistant"));
        if (lastStep.length < messages.length && last < messages.length - lastStep.length) {
          expect(sent.slice(-lastStep.length).map(({ role }) => role)).toEqual(
            lastStep.map(({ role }) => role),
          );
        }
        expect(context.fit(messages)).toEqual(sent);
        expect(contextOf(tokens).fit(messages)).toEqual(sent);
      }),
      { numRuns: 400 },
    );
  });

  test("fits the smallest budgets too, with the note about what was left out", () => {
    const steps = fc.array(
      fc.nat(60).map((count) => step(["ok"], { content: words(count) })),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 128, max: 200 }), (taken, tokens) => {
        const sent = contextOf(tokens).fit([user("go"), ...taken.flat()]);
        if (messagesTokens(sent) > tokens) expect(isLeast(sent)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test("keeps what it has sent while the conversation grows, unless it must shrink", () => {
    const steps = fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { maxLength: 25 });
    fc.assert(
      fc.property(transcript, steps, fc.integer({ min: 500, max: 6_000 }), (start, more, tokens) => {
        const context = contextOf(tokens);
        const messages = [...start];
        let sent = context.fit(messages);
        for (const results of more) {
          const added = step(results);
          messages.push(...added);
          const next = context.fit(messages);
          expect(checkTranscript(next)).toBeUndefined();
          const fitsAsItIs = messagesTokens(sent) + messagesTokens(added) <= tokens;
          if (fitsAsItIs) expect(next).toEqual([...sent, ...added]);
          sent = next;
        }
      }),
      { numRuns: 150 },
    );
  });

  test("stays valid when the provider refuses again and again", () => {
    fc.assert(
      fc.property(transcript, (messages) => {
        const context = contextOf(100_000);
        let sent = context.fit(messages);
        for (let refusal = 0; refusal < 12; refusal++) {
          const isLess = context.refused(messages, sent, { byAnother: false });
          const next = context.fit(messages);
          expect(checkTranscript(next)).toBeUndefined();
          expect(messagesTokens(next) < messagesTokens(sent)).toBe(isLess);
          sent = next;
        }
      }),
      { numRuns: 100 },
    );
  });

  test("costs no more for each message of a long one than of a short one", () => {
    let looks = 0;
    /** A conversation whose texts tell when they are looked at. */
    const counted = (length: number) => {
      const messages = [
        system,
        user("go"),
        ...Array.from({ length: length / 2 }, () => step([words(200)])).flat(),
      ];
      return messages.map((message) => {
        const { content } = message;
        return Object.defineProperty({ ...message }, "content", {
          enumerable: true,
          get() {
            looks++;
            return content;
          },
        });
      });
    };
    const looksAt = (length: number) => {
      const messages = counted(length);
      looks = 0;
      contextOf(length * 20).fit(messages);
      return looks / length;
    };
    expect(looksAt(4_000)).toBeLessThan(looksAt(400) * 1.5);
  });
});
