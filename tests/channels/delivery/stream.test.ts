import { describe, expect, test } from "bun:test";
import { createMemoryBus } from "../../../src/bus/memory.ts";
import { SendError } from "../../../src/core/channel.ts";
import { finalIdFor, type InboundId } from "../../../src/core/messages.ts";
import { createTelegramRenderer } from "../../../src/lib/markdown/telegram-html.ts";
import { checkedText } from "../../lib/markdown/check-html.ts";
import { setUpOne } from "./setup.ts";

const turn = "cli:1" as InboundId;
const streaming = { streamingMs: 1_000 };
const error = (kind: SendError["kind"], retryAfterMs = 0) => new SendError(kind, kind, { retryAfterMs });

describe("createDelivery(), text that grows", () => {
  test("is sent with the first delta, edited once an interval, and becomes the answer", async () => {
    const { aside, final, texts, clock, fake, bus } = setUpOne(streaming);
    await aside("Hello");
    expect(bus.openStream(turn)).toBe("m1");
    for (const word of [" you", " and", " you"]) await aside(word);
    await clock.advance(999);
    expect(texts()).toEqual(["send Hello"]);
    await clock.advance(1);
    await aside(" too");
    await clock.advance(5_000);
    await clock.advance(5_000);
    await final("Hello you and you too!", { id: finalIdFor(turn) });
    expect(texts()).toEqual([
      "send Hello",
      "edit Hello you and you",
      "edit Hello you and you too",
      "edit Hello you and you too!",
    ]);
    expect(fake.messages.size).toBe(1);
    expect(fake.calls.at(-1)?.part?.index).toBe(0);
    await clock.advance(10_000);
    expect(fake.calls).toHaveLength(4);
    expect(clock.pending).toBe(0);
  });

  test("waits for a few characters before it is a message", async () => {
    const { aside, texts } = setUpOne(streaming);
    await aside("I");
    await aside("\n ");
    expect(texts()).toEqual([]);
    await aside("'ll see");
    expect(texts()).toEqual(["send I\n 'll see"]);
  });

  test("is right at every moment, whatever is not complete yet", async () => {
    const render = await createTelegramRenderer();
    const { aside, fake, clock } = setUpOne({ ...streaming, render });
    for (const letter of "A **bold *text* and** `code` [a link](http://x.y)\n```js\na < b\n```\n|a|b|\n|-|-|\n|c|d|") {
      await aside(letter);
      await clock.advance(1_000);
    }
    expect(fake.calls.length).toBeGreaterThan(40);
    for (const { text } of fake.calls) checkedText(text);
  });

  test("stops growing when it is too long, and the rest comes with the answer", async () => {
    const { aside, final, clock, fake, shown } = setUpOne(streaming);
    const text = "word ".repeat(50).trim();
    for (const word of text.split(/(?<= )/)) {
      await aside(word);
      await clock.advance(1_000);
    }
    const before = fake.calls.length;
    expect(shown()).toEqual(["word ".repeat(20).trim()]);
    await final(text);
    expect(shown()).toEqual([text.slice(0, 99), text.slice(0, 99), text.slice(0, 49)]);
    expect(fake.calls.slice(before).map(({ method }) => method)).toEqual(["edit", "send", "send"]);
  });

  test("is complete before tools run, and what follows is a message of its own", async () => {
    const { aside, streamEnd, final, bus, shown, clock } = setUpOne(streaming);
    await aside("I'll look");
    await aside(" into it.");
    await streamEnd(true);
    expect(bus.openStream(turn)).toBeUndefined();
    await aside("Found it");
    await clock.advance(1_000);
    await streamEnd(false);
    await final("Found it.");
    expect(shown()).toEqual(["I'll look into it.", "Found it."]);
  });

  test("is complete before tools run even when it is too long for a message", async () => {
    const { aside, streamEnd, shown } = setUpOne(streaming);
    await aside("word ".repeat(10));
    await aside("word ".repeat(40));
    await streamEnd(true);
    expect(shown().map((text) => text.length)).toEqual([99, 99, 49]);
  });

  test.each(["error", "stopped", "command", "notice"] as const)(
    "stays as it came when the turn ends with %s",
    async (outcome) => {
      const { aside, final, shown } = setUpOne(streaming);
      await aside("Half of");
      await aside(" a sentence");
      await final("It failed", { outcome });
      expect(shown()).toEqual(["Half of a sentence", "It failed"]);
    },
  );

  test("goes on after a notice in the middle of the turn", async () => {
    const { aside, final, shown, clock } = setUpOne(streaming);
    await aside("Half of");
    await final("No credit left", { outcome: "notice", answers: [] });
    await aside(" a sentence");
    await clock.advance(1_000);
    await final("Half of a sentence.", { id: finalIdFor(turn) });
    expect(shown()).toEqual(["Half of a sentence.", "No credit left"]);
  });

  test("is edited and not sent again after a restart", async () => {
    const bus = createMemoryBus();
    await bus.recordStream(turn, "m7");
    const { final, texts, fake } = setUpOne(streaming, { bus });
    await final("word ".repeat(30));
    expect(fake.calls[0]?.messageId).toBe("m7");
    expect(texts()).toEqual([`edit ${"word ".repeat(20).trim()}`, `send ${"word ".repeat(10).trim()}`]);
  });

  test("goes on in the message of before a restart", async () => {
    const bus = createMemoryBus();
    await bus.recordStream(turn, "m7");
    const { aside, texts } = setUpOne(streaming, { bus });
    await aside("Once more");
    expect(texts()).toEqual(["edit Once more"]);
  });

  test("is sent as new when its message is gone, and so is the answer", async () => {
    const { aside, final, fake, clock } = setUpOne(streaming);
    fake.answer = ({ messageId }) => {
      if (messageId !== undefined) throw error("gone");
    };
    await aside("Hello");
    await aside(" you");
    await clock.advance(1_000);
    await aside(" there");
    await clock.advance(1_000);
    await final("Hello you there.");
    expect(fake.calls.map(({ method, messageId, text }) => [method, messageId, text])).toEqual([
      ["send", undefined, "Hello"],
      ["edit", "m1", "Hello you"],
      ["send", undefined, "Hello you there"],
      ["edit", "m2", "Hello you there."],
      ["send", undefined, "Hello you there."],
    ]);
  });

  test("is sent as new when the answer's edit is refused", async () => {
    const { aside, final, fake, shown } = setUpOne(streaming);
    fake.answer = ({ method }) => {
      if (method === "edit") throw error("refused");
    };
    await aside("Hello");
    await final("Hello you.");
    expect(shown()).toEqual(["Hello", "Hello you."]);
  });

  test.each(["slowDown", "temporary", "down", "markup"] as const)(
    "skips an edit that fails with %s, and delays no answer",
    async (kind) => {
      const { aside, final, fake, shown, clock } = setUpOne(streaming);
      fake.answer = ({ text }) => {
        if (text === "Hello you") throw error(kind, 20_000);
      };
      await aside("Hello");
      await aside(" you");
      await clock.advance(1_000);
      expect(fake.calls).toHaveLength(2);
      await final("Hello you.");
      expect(shown()).toEqual(["Hello you."]);
    },
  );

  test("quotes what its turn answers", async () => {
    const { aside, fake } = setUpOne(streaming);
    await aside("Hello", { replyTo: "17" });
    expect(fake.calls[0]?.part?.replyTo).toBe("17");
  });

  test("is not shown any further where the platform refuses it", async () => {
    const { aside, final, shown, fake, clock } = setUpOne(streaming);
    fake.answer = ({ text }) => {
      if (text !== "Answer") throw error("refused");
    };
    for (let piece = 0; piece < 5; piece++) {
      await aside("piece ");
      await clock.advance(1_000);
    }
    expect(fake.calls).toHaveLength(1);
    await final("Answer");
    expect(shown()).toEqual(["Answer"]);
  });

  test("is left as it is by what its turn says in another chat", async () => {
    const { aside, final, fake } = setUpOne(streaming);
    await aside("Half of");
    await aside(" a sentence");
    await final("Elsewhere", { chatId: "b", answers: [] });
    expect(fake.calls.map(({ method, chatId, text }) => `${method} ${chatId} ${text}`)).toEqual([
      "send a Half of",
      "send b Elsewhere",
    ]);
  });

  test("obeys the time that a platform asks for before the next edit", async () => {
    const { aside, fake, clock } = setUpOne(streaming);
    fake.answer = ({ at }) => {
      if (at === 1_000) throw error("slowDown", 20_000);
    };
    await aside("Hello");
    await aside(" you");
    await clock.advance(1_000);
    await aside(" there");
    await clock.advance(19_999);
    expect(fake.calls).toHaveLength(2);
    await clock.advance(1);
    expect(fake.calls.at(-1)?.text).toBe("Hello you there");
  });

  test("is taken from the bus while an edit hangs, and only the newest of it is shown", async () => {
    const bus = createMemoryBus({ messages: 3, bytes: 1e6 });
    const { aside, fake, clock } = setUpOne(streaming, { bus });
    const hanging = Promise.withResolvers<void>();
    fake.answer = ({ method }) => (method === "edit" ? hanging.promise : undefined);
    await aside("Hello");
    await clock.advance(1_000);
    for (let count = 0; count < 20; count++) await aside(` ${count}`);
    hanging.resolve();
    await clock.advance(1_000);
    await clock.advance(1_000);
    expect(fake.calls).toHaveLength(3);
    expect(fake.calls.at(-1)?.text).toEndWith(" 18 19");
  });

  test("is not shown where nothing can be edited", async () => {
    const { aside, final, texts } = setUpOne();
    await aside("Hello");
    await final("Hello you");
    expect(texts()).toEqual(["send Hello you"]);
  });
});

describe("createDelivery(), a channel that takes deltas", () => {
  const deltas = { capabilities: { deltas: true, edits: false } };

  test("is shown everything as it comes, in order with the final", async () => {
    const { aside, streamEnd, final, texts } = setUpOne({ ...deltas, settings: { showReasoning: true } });
    await aside("hm", { kind: "reasoning" });
    await aside("a");
    await aside("b");
    await streamEnd(true);
    await aside("ls", { kind: "toolHint" });
    await aside("wait", { kind: "progress" });
    await final("ab");
    expect(texts()).toEqual([
      "show reasoning:hm",
      "show delta:a",
      "show delta:b",
      "show streamEnd:",
      "show toolHint:ls",
      "show progress:wait",
      "send ab",
    ]);
  });

  test("is shown only what its settings want, and an error costs that piece", async () => {
    const { aside, final, texts, fake } = setUpOne({ ...deltas, settings: { sendProgress: false } });
    fake.answer = ({ text }) => {
      if (text === "delta:a") throw new Error("closed");
    };
    await aside("wait", { kind: "progress" });
    await aside("hm", { kind: "reasoning" });
    await aside("a");
    await aside("b");
    await final("ab");
    expect(texts()).toEqual(["show delta:a", "show delta:b", "send ab"]);
  });

  test("does not fill the bus while it is down", async () => {
    const bus = createMemoryBus({ messages: 3, bytes: 1e6 });
    const { aside, final, fake } = setUpOne(deltas, { bus });
    fake.answer = () => Promise.reject(error("down"));
    await final("first", { turn: "cli:0" });
    for (let count = 0; count < 20; count++) await aside("x");
    expect(fake.calls).toHaveLength(1);
  });
});

describe("createDelivery(), what is said beside the answer", () => {
  test("is sent once and plainly, as the settings want it", async () => {
    const { aside, fake, texts } = setUpOne({ settings: { sendToolHints: false } });
    fake.answer = () => Promise.reject(error("temporary"));
    await aside("**wait**\u001b[31m", { kind: "progress" });
    await aside("ls", { kind: "toolHint" });
    expect(texts()).toEqual(["send **wait**"]);
    expect(fake.calls[0]?.part?.content).toMatchObject({ isPlain: true });
    const quiet = setUpOne({ settings: { sendProgress: false } });
    await quiet.aside("wait", { kind: "progress" });
    await quiet.aside("ls", { kind: "toolHint" });
    expect(quiet.texts()).toEqual(["send ls"]);
  });

  test("is cut to the limit", async () => {
    const { aside, fake } = setUpOne();
    await aside("x".repeat(5_000), { kind: "progress" });
    expect(fake.calls.map(({ text }) => text.length)).toEqual([100]);
  });

  test("is dropped when the chat is behind, or the channel is down, or the turn is over", async () => {
    const { aside, final, fake, clock, texts, delivery } = setUpOne();
    const hanging = Promise.withResolvers<void>();
    fake.answer = () => hanging.promise;
    for (let count = 0; count < 50; count++) await aside(`${count}`, { kind: "progress" });
    hanging.resolve();
    await clock.advance(0);
    expect(fake.calls.length).toBeLessThan(10);
    await final("the end");
    const before = fake.calls.length;
    await aside("late", { kind: "progress" });
    fake.answer = () => Promise.reject(error("unauthorized"));
    await final("more", { turn: "cli:2" });
    await aside("still?", { kind: "progress", turn: "cli:3" });
    expect(texts().slice(before)).toEqual(["send more"]);
    delivery.channelChanged("chat");
  });

  test("is one message for all that was thought, before what comes next", async () => {
    const { aside, final, texts } = setUpOne({ settings: { showReasoning: true } });
    for (const piece of ["I ", "should ", "look"]) await aside(piece, { kind: "reasoning" });
    await aside("ls", { kind: "toolHint" });
    await aside("done", { kind: "reasoning" });
    await final("hi");
    expect(texts()).toEqual(["send I should look", "send ls", "send done", "send hi"]);
  });
});
