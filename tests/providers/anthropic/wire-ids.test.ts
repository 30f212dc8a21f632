import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createWireIds } from "../../../src/providers/anthropic/wire-ids.ts";

describe("createWireIds()", () => {
  test("keeps ids that the protocol takes, and changes the others", () => {
    const ids = createWireIds();
    expect(["toolu_1", "fc:2", ""].map(ids.call)).toEqual(["toolu_1", "fc_2", "call"]);
  });

  test("numbers what is taken, and stays within the length that the protocol takes", () => {
    const ids = createWireIds();
    const long = "x".repeat(70);
    expect(["a", "a", "a_2", "a"].map(ids.call)).toEqual(["a", "a_2", "a_2_2", "a_3"]);
    expect([long, long].map(ids.call)).toEqual(["x".repeat(64), `${"x".repeat(62)}_2`]);
  });

  test("gives results the ids of their calls, in order", () => {
    const ids = createWireIds();
    const calls = ["a", "a", "b"].map(ids.call);
    expect([ids.answer("b"), ids.answer("a"), ids.answer("a")]).toEqual([
      calls[2],
      calls[0],
      calls[1],
    ] as string[]);
  });

  test("gives each call an id of its own, which more calls do not change", () => {
    const id = fc.oneof(fc.string(), fc.constantFrom("a", "a_2", "a_2_2", "x".repeat(70)));
    fc.assert(
      fc.property(fc.array(id), (given) => {
        const all = given.map(createWireIds().call);
        expect(new Set(all).size).toBe(given.length);
        expect(all.every((one) => /^[a-zA-Z0-9_-]{1,64}$/.test(one))).toBe(true);
        expect(given.slice(0, -1).map(createWireIds().call)).toEqual(all.slice(0, -1));
      }),
    );
  });
});
