import { expect, test } from "bun:test";
import fc from "fast-check";
import { Stopped } from "../../../src/core/errors.ts";
import type { ChatMessage } from "../../../src/core/model.ts";
import { type Scripted, textReply } from "../../fakes/model.ts";
import { cutOff, deaf, failure, setup } from "./setup.ts";

const DEADLINE_MS = 120_000;

const text = fc.oneof(fc.constant(""), fc.constant(" \n"), fc.string({ unit: "grapheme", maxLength: 12 }));
const kind = fc.constantFrom(
  "transient",
  "transient",
  "transient",
  "auth",
  "quota",
  "badRequest",
  "contextOverflow",
  "contentFilter",
);
const fault = fc
  .record({
    kind,
    partial: text,
    message: fc.constantFrom("a", "b"),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 90_000 }), { nil: undefined, freq: 3 }),
  })
  .map(({ kind, partial, message, retryAfterMs }) => ({
    name: `${kind} behind ${JSON.stringify(partial)}`,
    reply: failure(kind, { partial, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }),
  }));

/** What a model does with one request; `hold` lets it take a while first. */
const step = fc.oneof(
  text.map((content) => ({ name: `answers ${JSON.stringify(content)}`, reply: content as Scripted })),
  {
    arbitrary: text.map((content) => ({
      name: `cut off ${JSON.stringify(content)}`,
      reply: cutOff(content),
    })),
    weight: 2,
  },
  { arbitrary: fault, weight: 5 },
  text.map((content) => ({ name: `never settles behind ${JSON.stringify(content)}`, reply: deaf(content) })),
);
const scripts = fc.array(fc.array(step, { maxLength: 40 }), { minLength: 1, maxLength: 3 });

function isGoingOn(messages: readonly ChatMessage[]): boolean {
  return messages.length > 1;
}

test("createResilient() settles in time, with the text that was shown, after a bounded number of calls", async () => {
  await fc.assert(
    fc.asyncProperty(
      scripts,
      fc.constantFrom("standard" as const, "persistent" as const),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      async (models, retryMode, chance) => {
        const [first = [], ...rest] = models.map((steps) => steps.map(({ reply }) => reply));
        const {
          ask,
          asked,
          calls,
          clock,
          models: fakes,
        } = setup([first, ...rest], {
          retryMode,
          random: () => chance,
          deadlineMs: DEADLINE_MS,
        });
        const { reply, text, tookMs } = await ask();
        expect(tookMs).toBeLessThanOrEqual(DEADLINE_MS);
        expect(reply.ok ? reply.content : reply.partial).toBe(text);
        expect(asked.length).toBeLessThanOrEqual(retryMode === "standard" ? 5 * models.length + 12 : 200);
        expect(calls).toHaveLength(asked.length);
        expect(clock.pending).toBe(0);
        // Nobody is asked twice at the same time, and whoever goes on is shown all that was said.
        for (const { messages } of fakes.flatMap(({ requests }) => requests)) {
          expect(messages[0]).toEqual({ role: "user", content: "hi" });
          if (isGoingOn(messages)) {
            expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
            expect(text.startsWith(messages[1]?.content ?? "")).toBe(true);
          }
        }
        // What failed for good was the last thing that was tried.
        if (reply.ok) expect(calls.at(-1)?.reply.ok === true || reply.cutOff === true).toBe(true);
        else
          expect(["transient", "auth", "quota", "badRequest", "contextOverflow", "contentFilter"]).toContain(
            reply.error.kind,
          );
      },
    ),
    { numRuns: 300 },
  );
});

test("createResilient() stops at once, whenever it is stopped", async () => {
  await fc.assert(
    fc.asyncProperty(scripts, fc.integer({ min: 0, max: DEADLINE_MS }), async (models, after) => {
      const [first = [], ...rest] = models.map((steps) => steps.map(({ reply }) => reply));
      const { begin, end, clock, asked } = setup([first, ...rest], { deadlineMs: DEADLINE_MS });
      const abort = new AbortController();
      let isSettled = false;
      const running = begin({ signal: abort.signal }).finally(() => {
        isSettled = true;
      });
      await clock.advance(0);
      await clock.advance(after);
      const wasSettled = isSettled;
      abort.abort(new Stopped("user"));
      const { reply, text } = await end(running);
      if (!wasSettled) expect(reply).toMatchObject({ ok: false, error: { kind: "aborted" } });
      expect(reply.ok ? reply.content : reply.partial).toBe(text);
      const count = asked.length;
      await clock.advance(DEADLINE_MS);
      expect([asked.length, clock.pending]).toEqual([count, 0]);
    }),
    { numRuns: 200 },
  );
});

test("createResilient() gives each of many requests at once its own answer", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 4 }), {
        minLength: 2,
        maxLength: 6,
      }),
      async (plans) => {
        // Each breaks off as often as its plan has entries, after so long, and then answers.
        const turns = new Map(plans.map((_, index) => [`ask ${index}`, 0]));
        const reply: Scripted = async ({ messages }, { onDelta, signal }) => {
          const id = messages[0]?.content ?? "";
          const turn = turns.get(id) ?? 0;
          turns.set(id, turn + 1);
          const ms = plans[Number(id.slice(4))]?.[turn];
          if (ms === undefined) {
            onDelta({ kind: "text", text: `${id} done` });
            return textReply(`${id} done`);
          }
          await many.clock.sleep(ms, signal);
          onDelta({ kind: "text", text: `${id}; ` });
          return { ok: false, error: { kind: "transient", message: id }, partial: `${id}; ` };
        };
        const many = setup([Array<Scripted>(100).fill(reply)]);
        const running = plans.map((_, index) =>
          many.begin({ messages: [{ role: "user", content: `ask ${index}` }] }),
        );
        await many.clock.advance(0);
        await many.clock.advance(900_000);
        for (const [index, outcome] of (await Promise.all(running)).entries()) {
          const expected = `${`ask ${index}; `.repeat(plans[index]?.length ?? 0)}ask ${index} done`;
          expect([outcome.reply.ok && outcome.reply.content, outcome.text]).toEqual([expected, expected]);
        }
      },
    ),
    { numRuns: 60 },
  );
});
