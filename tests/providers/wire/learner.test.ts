import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/core/model.ts";
import { Refusal } from "../../../src/providers/wire/errors.ts";
import { createLearner, type LearnerOptions } from "../../../src/providers/wire/learner.ts";

interface Quirks {
  readonly noColour: boolean;
  readonly size: number;
}

interface Sent {
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A protocol whose requests hold their quirks, and their temperature. */
function learnerOf(options: Partial<LearnerOptions<Quirks, Sent>> = {}) {
  return createLearner<Quirks, Sent>({
    first: () => ({ noColour: false, size: 3 }),
    encode: ({ temperature }, quirks) => ({
      body: new TextEncoder().encode(JSON.stringify({ temperature, ...quirks })),
    }),
    lessons: ({ text, quirks }) => [
      ...(/nothing/.test(text) ? [{ topic: "nothing", teaches: { size: quirks.size } }] : []),
      ...(/colour/.test(text) ? [{ topic: "colour", teaches: { noColour: true } }] : []),
      ...(/smaller/.test(text) ? [{ topic: `size ${quirks.size}`, teaches: { size: quirks.size - 1 } }] : []),
      ...(/shrink/.test(text) ? [{ topic: "shrink", teaches: { size: quirks.size - 1 } }] : []),
    ],
    ...options,
  });
}

const requestOf = (model = "m"): ChatRequest => ({
  model,
  messages: [],
  tools: [],
  toolChoice: "auto",
  maxTokens: 1,
});
const refusal = (body: string, status = 400) => new Refusal({ status, body });

describe("createLearner()", () => {
  test("learns about the model that refused, and about no other", () => {
    const { encode, learn, quirksOf } = learnerOf();
    const request = requestOf("a");
    encode(request);
    expect(learn(refusal("no colour"), request)).toBe(true);
    expect([quirksOf("a").noColour, quirksOf("b").noColour]).toEqual([true, false]);
  });

  test("sends every call again that was refused for what another has just learnt", () => {
    const { encode, learn } = learnerOf();
    const requests = [requestOf(), requestOf(), requestOf()];
    for (const request of requests) encode(request);
    expect(requests.map((request) => learn(refusal("no colour"), request))).toEqual([true, true, true]);
    for (const request of requests) encode(request);
    expect(requests.map((request) => learn(refusal("no colour"), request))).toEqual([false, false, false]);
  });

  test("takes one step for refusals of the same request, however many calls were refused", () => {
    const { encode, learn, quirksOf } = learnerOf();
    const requests = [requestOf(), requestOf(), requestOf(), requestOf()];
    for (const request of requests) encode(request);
    for (const request of requests) expect(learn(refusal("smaller"), request)).toBe(true);
    expect(quirksOf("m").size).toBe(2);
  });

  test("passes over a lesson that changes nothing about the request that was refused", () => {
    const { encode, learn, quirksOf } = learnerOf();
    const request = requestOf();
    encode(request);
    expect(learn(refusal("nothing but colour"), request)).toBe(true);
    expect(quirksOf("m")).toEqual({ noColour: true, size: 3 });
  });

  test("learns each topic once", () => {
    const { encode, learn } = learnerOf();
    const request = requestOf();
    const refuse = () => {
      encode(request);
      return learn(refusal("shrink"), request);
    };
    expect([refuse(), refuse()]).toEqual([true, false]);
  });

  test.each([
    ["a status that says nothing about the request", refusal("no colour", 500)],
    ["an unknown status", new Refusal({ body: "no colour" })],
    ["a conversation that is too long", refusal("no colour: maximum context length is 10")],
    ["what stands behind the telling part", refusal(`${".".repeat(4000)} no colour`)],
  ])("learns nothing from %s", (_, refused) => {
    const { encode, learn } = learnerOf();
    const request = requestOf();
    encode(request);
    expect(learn(refused, request)).toBe(false);
  });

  test("learns nothing from the refusal of a request that it did not make", () => {
    expect(learnerOf().learn(refusal("no colour"), requestOf())).toBe(false);
  });

  test("forgets the model that was not asked for longest when there are too many", () => {
    const { encode, learn, quirksOf } = learnerOf();
    const request = requestOf("old");
    encode(request);
    learn(refusal("no colour"), request);
    for (let index = 0; index < 99; index++) encode(requestOf(`m${index}`));
    expect(quirksOf("old").noColour).toBe(true);
    for (let index = 0; index < 100; index++) encode(requestOf(`n${index}`));
    expect(quirksOf("old").noColour).toBe(false);
  });

  test("withholds where no lesson fits, and sends again if that changed the request", () => {
    let withheld = "";
    const { encode, learn } = learnerOf({
      encode: (_request, quirks) => ({
        body: new TextEncoder().encode(JSON.stringify({ ...quirks, withheld })),
      }),
      withhold({ text }) {
        if (text.includes("thought")) withheld = "thought";
      },
    });
    const request = requestOf();
    const refuse = (body: string) => {
      encode(request);
      return learn(refusal(body), request);
    };
    expect([refuse("bad thought, no colour"), withheld]).toEqual([true, ""]);
    expect([refuse("bad thought, no colour"), withheld]).toEqual([true, "thought"]);
    expect(refuse("bad thought, no colour")).toBe(false);
  });
});
