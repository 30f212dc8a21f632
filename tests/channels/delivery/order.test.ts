import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { SendError } from "../../../src/core/channel.ts";
import { outboundDelta, outboundFinal } from "../../fakes/messages.ts";
import { createFakeChannel, setUp } from "./setup.ts";

const kinds = ["slowDown", "temporary", "down", "markup", "gone"] as const;

/** What a platform does with the calls that come, one after the other. */
const weather = fc.array(fc.option(fc.constantFrom(...kinds), { freq: 2 }), { maxLength: 60 });

const sayings = fc.array(
  fc.record({
    channel: fc.constantFrom("x", "y", "z"),
    chatId: fc.constantFrom("a", "b", "c"),
    length: fc.integer({ min: 1, max: 60 }),
    isAside: fc.boolean(),
    pause: fc.constantFrom(0, 0, 0, 500, 5_000),
  }),
  { maxLength: 40 },
);

test("createDelivery() sends every part once and in order in each chat, whatever the platforms do", async () => {
  await fc.assert(
    fc.asyncProperty(sayings, fc.tuple(weather, weather, weather), async (said, weathers) => {
      const { channels, clock, publish, stop, undelivered, delivery } = setUp((clock) =>
        Object.fromEntries(
          ["x", "y", "z"].map((name, index) => {
            const fake = createFakeChannel(clock, {
              capabilities: { limit: { size: 100, unit: "utf16" } },
              settings: { maxRetries: 100 },
              ...(name === "y" ? { streamingMs: 1_000 } : {}),
            });
            const left = [...(weathers[index] ?? [])];
            fake.answer = () => {
              const kind = left.shift();
              if (kind) throw new SendError(kind, kind, { retryAfterMs: 3_000 });
            };
            return [name, fake];
          }),
        ),
      );
      const expected = new Map<string, string[]>();
      for (const [index, { channel, chatId, length, isAside, pause }] of said.entries()) {
        const place = { channel, chatId, turn: `t${index}` };
        if (isAside) await publish(outboundDelta({ ...place, id: `d${index}`, content: "some text" }));
        const words = Array.from({ length }, (_, word) => `${index}.${word}`);
        // A message that is markup twice in a row, or gone where nothing was quoted, is given up by right.
        await publish(outboundFinal({ ...place, id: `f${index}`, content: words.join(" "), replyTo: "q" }));
        expected.set(`${channel} ${chatId}`, [...(expected.get(`${channel} ${chatId}`) ?? []), ...words]);
        await clock.advance(pause);
      }
      for (let step = 0; step < 60; step++) await clock.advance(60_000);
      await delivery.flush(new AbortController().signal);
      await stop();

      const givenUp = new Set(undelivered.map(({ message }) => message.id.slice(1)));
      for (const [place, words] of expected) {
        const [channel = "", chatId] = place.split(" ");
        const texts = [...(channels.get(channel)?.messages.values() ?? [])].filter(
          (message) => message.chatId === chatId,
        );
        const shown = texts.flatMap(({ text }) => text.split(" ")).filter((word) => word.includes("."));
        const isGivenUp = (word: string) => givenUp.has(word.split(".")[0] ?? "");
        expect(shown.filter((word) => !isGivenUp(word))).toEqual(words.filter((word) => !isGivenUp(word)));
      }
      for (const { reason } of undelivered) expect(["markup", "gone"]).toContain(reason);
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 60 },
  );
}, 60_000);
