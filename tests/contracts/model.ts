/** What every provider promises, as tests. A new provider is one more call of `modelContract`. */

import { describe, expect, test } from "bun:test";
import type { ChatDelta, ChatRequest, Model } from "../../src/core/model.ts";

export interface ModelUnderTest {
  readonly model: Model;
  /** The name to ask it by. */
  readonly name: string;
  /** Content of a user message that it answers with text of several words. */
  readonly question: string;
  close?(): Promise<void>;
}

const never = () => new AbortController().signal;

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

export function modelContract(name: string, makeModel: () => Promise<ModelUnderTest>): void {
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

  async function using(run: (subject: ModelUnderTest) => Promise<void>): Promise<void> {
    const subject = await makeModel();
    try {
      await run(subject);
    } finally {
      await subject.close?.();
    }
  }

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
  });
}
