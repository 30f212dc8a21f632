import { describe, expect, test } from "bun:test";
import { createMemoryBus } from "../../../src/bus/memory.ts";
import type { Bus } from "../../../src/core/bus.ts";
import { SendError } from "../../../src/core/channel.ts";
import type { FinalMessage } from "../../../src/core/messages.ts";
import { createTelegramRenderer } from "../../../src/lib/markdown/telegram-html.ts";
import { outboundFinal } from "../../fakes/messages.ts";
import { createFakeChannel, setUp, setUpOne } from "./setup.ts";

const error = (kind: SendError["kind"], retryAfterMs = 0) => new SendError(kind, kind, { retryAfterMs });

/** Throws these, one a call, and then nothing any more. */
function failing(...errors: readonly (Error | undefined)[]): () => void {
  const left = [...errors];
  return () => {
    const next = left.shift();
    if (next !== undefined) throw next;
  };
}

/** A bus that hands out one message, as one that some parts of were sent before. */
function redelivering(
  message: FinalMessage,
  sent: string[],
  recorded: string[],
  isOver: () => boolean = () => false,
): Bus {
  return {
    ...createMemoryBus(),
    async *outbound(signal) {
      yield {
        message,
        sent,
        get isOver() {
          return isOver();
        },
        part: async (id: string) => void recorded.push(`part ${id}`),
        failed: async (reason: string) => void recorded.push(`failed ${reason}`),
        done: async () => void recorded.push("done"),
      };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
}

describe("createDelivery(), a final message", () => {
  test("sends the text in pieces, then each file, with the reply first and the buttons last", async () => {
    const { fake, final } = setUpOne();
    const media = [{ path: "/a.png", mime: "image/png" }];
    const buttons = [[{ label: "Yes", send: "yes" }]];
    await final("word ".repeat(30), { media, buttons, replyTo: "17", thread: "t" });
    const parts = fake.calls.map(({ part }) => part);
    expect(parts.map((part) => part?.index)).toEqual([0, 1, 2]);
    expect(parts.map((part) => part?.replyTo)).toEqual(["17", undefined, undefined]);
    expect(parts.every((part) => part?.thread === "t")).toBe(true);
    expect(fake.calls.map(({ text }) => text)).toEqual([
      "word ".repeat(20).trim(),
      "word ".repeat(10).trim(),
      "[/a.png]",
    ]);
    expect(parts.map((part) => part?.content.kind === "text" && part.content.buttons)).toEqual([
      undefined,
      buttons,
      false,
    ]);
    expect(new Set(parts.map((part) => part?.key)).size).toBe(3);
    for (const part of parts) expect(part?.key).toMatch(/^[\w-]{1,64}$/);
    expect(fake.ended).toHaveLength(1);
  });

  test("records each part before the next is sent, and then is done", async () => {
    const recorded: string[] = [];
    const message = outboundFinal({ channel: "chat", content: "word ".repeat(50) });
    const bus = redelivering(message, [], recorded);
    const { fake, clock } = setUpOne({}, { bus });
    fake.answer = ({ text }) => void recorded.push(`send ${text.length}`);
    await clock.advance(0);
    expect(recorded).toEqual(["send 99", "part m1", "send 99", "part m2", "send 49", "part m3", "done"]);
  });

  test("goes on behind what was sent before, with the keys it would have had", async () => {
    const message = outboundFinal({ channel: "chat", content: "word ".repeat(50), replyTo: "17" });
    const first = setUpOne({}, { bus: redelivering(message, [], []) });
    await first.clock.advance(0);
    const recorded: string[] = [];
    const again = setUpOne({}, { bus: redelivering(message, ["x"], recorded) });
    await again.clock.advance(0);
    expect(again.fake.calls.map(({ part }) => part)).toEqual(
      first.fake.calls.slice(1).map(({ part }) => part),
    );
    expect(recorded).toEqual(["part m1", "part m2", "done"]);
  });

  test("is done at once when all parts were sent before, or there is nothing to say", async () => {
    for (const [content, sent] of [
      ["hi", ["x"]],
      [" \n", []],
      ["\u200b", []],
    ] as const) {
      const recorded: string[] = [];
      const message = outboundFinal({ channel: "chat", content });
      const { fake, clock } = setUpOne({}, { bus: redelivering(message, [...sent], recorded) });
      await clock.advance(0);
      expect(fake.calls).toEqual([]);
      expect(recorded).toEqual(["done"]);
    }
  });

  test("says something above buttons that came without a word, and names them where there are none", async () => {
    const buttons = [[{ label: "Yes", send: "/approve A1" }]];
    const one = setUpOne();
    await one.final("", { buttons });
    expect(one.texts()).toEqual(["send Please choose:"]);
    const other = setUpOne({ capabilities: { buttons: false } });
    await other.final("Sure?", { buttons });
    await other.final("Say /approve A1", { buttons });
    expect(other.texts()).toEqual(["send Sure?\n\n- Yes: /approve A1", "send Say /approve A1"]);
    expect(other.fake.calls[0]?.part?.content).not.toHaveProperty("buttons");
  });

  test("sends the whole text where there is no limit", async () => {
    const { final, texts } = setUpOne({ capabilities: { limit: undefined as never } });
    await final("a  \r\n".repeat(5_000));
    expect(texts()).toEqual([`send ${"a  \r\n".repeat(5_000)}`]);
  });

  test("is sent as plain text once when the markup is refused", async () => {
    const render = await createTelegramRenderer();
    const { fake, final, until } = setUpOne({ render });
    fake.answer = failing(error("markup"));
    await final("**a** [b](http://c.d)");
    await until(() => fake.messages.size === 1);
    expect(fake.calls.map(({ part }) => part?.content)).toEqual([
      { kind: "text", text: '<b>a</b> <a href="http://c.d">b</a>', isPlain: false },
      { kind: "text", text: "a b (http://c.d)", isPlain: true },
    ]);
  });

  test("fails when the plain text is refused too", async () => {
    const { fake, final, until, undelivered } = setUpOne();
    fake.answer = failing(error("markup"), error("markup"));
    await final("**a**");
    await until(() => undelivered.length === 1);
    expect(fake.calls).toHaveLength(2);
  });

  test("waits as long as the platform asks, however often, and counts that for nothing", async () => {
    const { fake, final, clock } = setUpOne({ settings: { maxRetries: 0 } });
    fake.answer = failing(...Array(5).fill(error("slowDown", 30_000)), error("slowDown", 1e12));
    await final("hi");
    await clock.advance(150_000);
    expect(fake.calls.map(({ at }) => at)).toEqual([0, 30_000, 60_000, 90_000, 120_000, 150_000]);
    await clock.advance(3_600_000);
    expect([...fake.messages.values()]).toEqual([{ chatId: "a", text: "hi" }]);
  });

  test("does not hurry when the platform does not say how long to wait", async () => {
    const { fake, final, clock } = setUpOne();
    fake.answer = failing(error("slowDown"));
    await final("hi");
    await clock.advance(999);
    expect(fake.calls).toHaveLength(1);
    await clock.advance(1);
    expect(fake.messages.size).toBe(1);
  });

  test("is tried again after 1, 2 and 4 seconds, then kept as failed, and the chat goes on", async () => {
    const { fake, final, clock, undelivered, log } = setUpOne();
    fake.answer = ({ text }) => {
      if (text === "bad") throw text.length > 0 ? error("temporary") : undefined;
    };
    await final("bad", { id: "bad" });
    await final("good");
    await clock.advance(7_000);
    expect(fake.calls.map(({ text, at }) => [text, at])).toEqual([
      ["bad", 0],
      ["bad", 1_000],
      ["bad", 3_000],
      ["bad", 7_000],
      ["good", 7_000],
    ]);
    expect(undelivered.map(({ message, reason, sent }) => [message.id as string, reason, sent])).toEqual([
      ["bad", "temporary", 0],
    ]);
    expect(
      log.lines.some((line) => line.startsWith("error Could not deliver a message to chat: temporary")),
    ).toBe(true);
  });

  test("takes an error of another kind for one that passes, and logs it", async () => {
    const { fake, final, clock, shown, log } = setUpOne();
    fake.answer = failing(new TypeError("x is undefined"));
    await final("hi");
    await clock.advance(1_000);
    expect(shown()).toEqual(["hi"]);
    expect(log.lines.join("\n")).toContain("x is undefined");
  });

  test("fails at once when it is refused, says how far it came, and records that", async () => {
    const recorded: string[] = [];
    const message = outboundFinal({ channel: "chat", content: "word ".repeat(50) });
    const { fake, clock, undelivered } = setUpOne({}, { bus: redelivering(message, [], recorded) });
    fake.answer = failing(undefined, error("refused"));
    await clock.advance(0);
    expect(recorded).toEqual(["part m1", "failed refused"]);
    expect(undelivered).toEqual([{ message, reason: "refused", sent: 1 }]);
  });

  test("is said without the quote when the quoted message is gone", async () => {
    const { fake, final } = setUpOne();
    fake.answer = failing(error("gone"));
    await final("hi", { replyTo: "17" });
    expect(fake.calls.map(({ part }) => part?.replyTo)).toEqual(["17", undefined]);
    expect(fake.messages.size).toBe(1);
  });

  test("is sent no further once it was dropped, whatever it waits for", async () => {
    const content = "word ".repeat(50);
    const waits = [error("slowDown", 30_000), error("temporary"), error("down")];
    for (const problem of waits) {
      const recorded: string[] = [];
      let isDropped = false;
      const message = outboundFinal({ channel: "chat", content });
      const bus = redelivering(message, [], recorded, () => isDropped);
      const { fake, clock, delivery, undelivered, stop } = setUpOne({}, { bus });
      fake.answer = failing(undefined, problem);
      await clock.advance(0);
      isDropped = true;
      await clock.advance(60_000);
      await delivery.flush(new AbortController().signal);
      expect(fake.calls).toHaveLength(2);
      expect(recorded).toEqual(["part m1", "done"]);
      expect(undelivered).toEqual([]);
      await stop();
    }
  });

  test("fails when it cannot be rendered, and holds up nobody", async () => {
    const render = (text: string) => {
      if (text === "bad") throw new Error("no ink");
      return text;
    };
    const { final, undelivered, shown } = setUpOne({ render });
    await final("bad");
    await final("good");
    expect(undelivered.map(({ reason }) => reason)).toEqual(["no ink"]);
    expect(shown()).toEqual(["good"]);
  });

  test("is recorded until that works, before anything else is sent", async () => {
    const recorded: string[] = [];
    const message = outboundFinal({ channel: "chat", content: "word ".repeat(30) });
    const bus = redelivering(message, [], recorded);
    let failures = 2;
    const broken: Bus = {
      ...bus,
      async *outbound(signal) {
        for await (const delivery of bus.outbound(signal)) {
          const part = async (id: string) => {
            if (failures-- > 0) throw new Error("disk full");
            await delivery.part(id);
          };
          yield { ...delivery, part };
        }
      },
    };
    const { fake, clock } = setUpOne({}, { bus: broken });
    await clock.advance(0);
    await clock.advance(2_999);
    expect(fake.calls).toHaveLength(1);
    await clock.advance(1);
    expect(recorded).toEqual(["part m1", "part m2", "done"]);
  });

  test("is done at once when nobody is to be told", async () => {
    const recorded: string[] = [];
    const { clock } = setUpOne({}, { bus: redelivering(outboundFinal({ channel: "none" }), [], recorded) });
    await clock.advance(0);
    expect(recorded).toEqual(["done"]);
  });
});

describe("createDelivery(), a platform that is down", () => {
  test("is asked by one chat, after 1 second doubling to 60, and the others follow when it is back", async () => {
    const { fake, clock, publish } = setUpOne();
    let isDown = true;
    fake.answer = () => {
      if (isDown) throw error("down");
    };
    for (const chatId of ["a", "b", "c"]) {
      await publish(outboundFinal({ id: `1${chatId}`, channel: "chat", chatId, content: "1" }));
      await publish(outboundFinal({ id: `2${chatId}`, channel: "chat", chatId, content: "2" }));
    }
    await clock.advance(200_000);
    expect(fake.calls.map(({ at }) => at / 1_000)).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
    isDown = false;
    await clock.advance(60_000);
    expect(fake.messages.size).toBe(6);
    for (const chatId of ["a", "b", "c"]) {
      const texts = [...fake.messages.values()].filter((message) => message.chatId === chatId);
      expect(texts.map(({ text }) => text)).toEqual(["1", "2"]);
    }
  });

  test("counts for no failure", async () => {
    const { fake, final, clock, shown, undelivered } = setUpOne({ settings: { maxRetries: 1 } });
    fake.answer = failing(...Array(30).fill(error("down")));
    await final("hi");
    await clock.advance(30 * 60_000);
    expect(shown()).toEqual(["hi"]);
    expect(undelivered).toEqual([]);
  });

  test("is not taken to be down for everybody by what fails for one message alone", async () => {
    const { fake, final, clock, shown, undelivered, stop } = setUpOne();
    fake.answer = ({ text }) => {
      if (text === "poison") throw error("down");
    };
    await final("poison");
    await final("behind it");
    for (let second = 0; second < 80; second++) {
      await final(`${second}`, { chatId: "b" });
      await clock.advance(1_000);
    }
    expect(undelivered.map(({ message }) => message.content)).toEqual(["poison"]);
    expect(shown()).toContain("behind it");
    expect(shown()).toHaveLength(81);
    // The others wait for what may be the platform's trouble, and not for what is that message's own.
    expect(fake.calls.findLast(({ text }) => text === "20")?.at).toBeLessThan(25_000);
    await stop();
  });

  test("delays nobody but its own chats", async () => {
    const { channels, publish, clock } = setUp((clock) => ({
      bad: createFakeChannel(clock),
      slow: createFakeChannel(clock),
      good: createFakeChannel(clock),
    }));
    const [bad, slow, good] = [channels.get("bad"), channels.get("slow"), channels.get("good")];
    if (bad) bad.answer = () => Promise.reject(error("down"));
    if (slow) slow.answer = ({ chatId }) => (chatId === "0" ? new Promise(() => {}) : undefined);
    for (let count = 0; count < 30; count++) {
      for (const channel of ["bad", "slow", "good"]) {
        await publish(
          outboundFinal({ id: `${channel}${count}`, channel, chatId: `${count % 3}`, content: `${count}` }),
        );
      }
    }
    await clock.advance(0);
    expect(good?.messages.size).toBe(30);
    expect(slow?.messages.size).toBe(20);
    expect(bad?.calls).toHaveLength(1);
  });

  test("keeps what waits for a channel that does not run, in order, until it does", async () => {
    const { fake, channels, delivery, final, shown, clock } = setUpOne();
    channels.delete("chat");
    for (const text of ["1", "2", "3"]) await final(text);
    await clock.advance(3_600_000);
    expect(fake.calls).toEqual([]);
    expect(clock.pending).toBe(0);
    channels.set("chat", fake);
    delivery.channelChanged("chat");
    await clock.advance(0);
    expect(shown()).toEqual(["1", "2", "3"]);
  });

  test("is left alone while its credentials are wrong, until the channel changes", async () => {
    const { fake, delivery, final, shown, clock } = setUpOne();
    fake.answer = failing(error("unauthorized"));
    for (const text of ["1", "2"]) await final(text);
    await clock.advance(3_600_000);
    expect(fake.calls).toHaveLength(1);
    delivery.channelChanged("chat");
    await clock.advance(0);
    expect(shown()).toEqual(["1", "2"]);
  });
});

describe("createDelivery(), its end", () => {
  test("lets what is being sent come to its end, and leaves the rest in the bus", async () => {
    const recorded: string[] = [];
    const message = outboundFinal({ channel: "chat", content: "word ".repeat(50) });
    const { fake, clock, stop } = setUpOne({}, { bus: redelivering(message, [], recorded) });
    const sent = Promise.withResolvers<void>();
    fake.answer = () => sent.promise;
    await clock.advance(0);
    let isOver = false;
    const stopped = stop().then(() => {
      isOver = true;
    });
    await clock.advance(0);
    expect(isOver).toBe(false);
    sent.resolve();
    await stopped;
    expect(recorded).toEqual(["part m1"]);
    expect(fake.calls).toHaveLength(1);
  });

  test("ends at once what only waits", async () => {
    const { fake, final, clock, stop, undelivered } = setUpOne();
    fake.answer = ({ text }) => {
      throw error(text === "1" ? "slowDown" : "down", 60_000);
    };
    await final("1");
    await final("2", { chatId: "b" });
    await final("3", { chatId: "c" });
    await stop();
    expect(undelivered).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("flush() resolves when all is sent, and rejects when it is called off", async () => {
    const { fake, final, delivery, clock, shown } = setUpOne();
    fake.answer = failing(error("temporary"));
    await final("hi");
    const flushed = delivery.flush(new AbortController().signal);
    const hurried = new AbortController();
    const cut = delivery.flush(hurried.signal);
    await clock.advance(0);
    hurried.abort(new Error("hurry"));
    expect(cut).rejects.toThrow("hurry");
    await clock.advance(1_000);
    await flushed;
    expect(shown()).toEqual(["hi"]);
  });
});
