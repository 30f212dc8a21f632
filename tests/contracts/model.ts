/** What every provider promises, as tests. A new provider is one more call of `modelContract`. */

import { describe, expect, test } from "bun:test";
import type { ChatDelta, ChatRequest, Model } from "../../src/core/model.ts";
import type { FakeClock } from "../fakes/clock.ts";

export interface ModelUnderTest {
  readonly model: Model;
  /** The name to ask it by. */
  readonly name: string;
  /** Content of a user message that it answers with text of several words. */
  readonly question: string;
  /** How many requests have left, for those that send any. */
  readonly requests?: () => number;
  close?(): Promise<void>;
}

/** A model whose server leaves the connection open behind the end of its reply. */
export interface OpenEndedModel extends ModelUnderTest {
  /** The model's own. */
  readonly clock: FakeClock;
}

/** Far below the silence that is an error. */
const SOON_MS = 5_000;

const never = () => new AbortController().signal;

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

export function modelContract(
  name: string,
  makeModel: () => Promise<ModelUnderTest>,
  /** For those that have a connection. */
  makeOpenEnded?: () => Promise<OpenEndedModel>,
): void {
  function requestFor({ name: model, question }: ModelUnderTest): ChatRequest {
    return deepFreeze({
      model,
      messages: [
        { role: "system", content: "You are a test." },
        { role: "user", content: question },
      ],
      tools: [],
      toolChoice: "auto",
      maxTokens: 100,
    });
  }

  const using = (run: (subject: ModelUnderTest) => Promise<void>) => usingA(makeModel, run);

  describe(`${name} as a Model`, () => {
    test("chat() answers with the text of its deltas joined", () =>
      using(async (subject) => {
        const deltas: ChatDelta[] = [];
        const onDelta = (delta: ChatDelta) => void deltas.push(delta);
        const reply = await subject.model.chat(requestFor(subject), { signal: never(), onDelta });
        if (!reply.ok) throw new Error(reply.error.message);
        const text = deltas.filter(({ kind }) => kind === "text").map((delta) => delta.text);
        expect(reply.content).not.toBe("");
        expect(text.join("")).toBe(reply.content);
        expect(text.length).toBeGreaterThan(1);
        expect(text.every((piece) => piece !== "" && piece.isWellFormed())).toBe(true);
      }));

    test("chat() fails as aborted, without a delta, when its signal was aborted before", () =>
      using(async (subject) => {
        let deltas = 0;
        const onDelta = () => void deltas++;
        const reply = await subject.model.chat(requestFor(subject), { signal: AbortSignal.abort(), onDelta });
        expect(reply).toMatchObject({ ok: false, error: { kind: "aborted" }, partial: "" });
        expect(deltas).toBe(0);
      }));

    test("chat() settles without a request when its signal aborts in the same tick", () =>
      using(async (subject) => {
        const controller = new AbortController();
        let seen = "";
        const asking = subject.model.chat(requestFor(subject), {
          signal: controller.signal,
          onDelta(delta) {
            if (delta.kind === "text") seen += delta.text;
          },
        });
        controller.abort(new Error("enough"));
        const reply = await asking;
        // Only who needs nobody else can have answered by then.
        if (subject.requests === undefined && reply.ok) expect(reply.content).toBe(seen);
        else expect(reply).toMatchObject({ ok: false, error: { kind: "aborted" }, partial: seen });
        expect(subject.requests?.() ?? 0).toBe(0);
      }));

    test("chat() fails as aborted, with the text so far, when its signal aborts in the middle", () =>
      using(async (subject) => {
        const controller = new AbortController();
        let seen = "";
        const reply = await subject.model.chat(requestFor(subject), {
          signal: controller.signal,
          onDelta(delta) {
            if (delta.kind === "text") seen += delta.text;
            controller.abort(new Error("enough"));
          },
        });
        expect(seen).not.toBe("");
        expect(reply).toMatchObject({ ok: false, error: { kind: "aborted" }, partial: seen });
      }));

    test("chat() keeps calls that run at the same time apart", () =>
      using(async (subject) => {
        const ask = async () => {
          let text = "";
          const onDelta = (delta: ChatDelta) => {
            if (delta.kind === "text") text += delta.text;
          };
          const reply = await subject.model.chat(requestFor(subject), { signal: never(), onDelta });
          return { text, reply };
        };
        for (const { text, reply } of await Promise.all([ask(), ask(), ask()])) {
          expect(reply).toMatchObject({ ok: true, content: text });
        }
      }));

    test("chat() does not throw for a request without messages", () =>
      using(async (subject) => {
        const request = { ...requestFor(subject), messages: [] };
        const reply = await subject.model.chat(request, { signal: never(), onDelta() {} });
        expect(typeof reply.ok).toBe("boolean");
      }));

    if (makeOpenEnded === undefined) return;
    test("chat() answers soon after the end of the reply, though the connection stays open", () =>
      usingA(makeOpenEnded, async (subject) => {
        const { clock, model } = subject;
        const begun = Promise.withResolvers<void>();
        let seen = "";
        let isOver = false;
        const onDelta = ({ kind, text }: ChatDelta) => {
          if (kind === "text") seen += text;
          begun.resolve();
        };
        const asking = model.chat(requestFor(subject), { signal: never(), onDelta });
        asking.finally(() => {
          isOver = true;
        });
        await begun.promise;
        const started = clock.elapsed();
        while (!isOver && clock.elapsed() - started < SOON_MS) await clock.advance(1);
        expect(isOver).toBe(true);
        expect(await asking).toMatchObject({ ok: true, content: seen });
        expect(seen).not.toBe("");
      }));
  });
}

async function usingA<Subject extends ModelUnderTest>(
  make: () => Promise<Subject>,
  run: (subject: Subject) => Promise<void>,
): Promise<void> {
  const subject = await make();
  try {
    await run(subject);
  } finally {
    await subject.close?.();
  }
}
