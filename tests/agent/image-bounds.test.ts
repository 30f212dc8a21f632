import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createAllowance, surplusGroups } from "../../src/agent/image-bounds.ts";

const MIB = 1024 * 1024;

describe("createAllowance()", () => {
  test("takes 8 images of one message", () => {
    const { take } = createAllowance();
    expect(Array.from({ length: 10 }, () => take(1)).filter(Boolean)).toHaveLength(8);
  });

  test("takes 16 MiB of one message, and a smaller image behind one that was too much", () => {
    const { take } = createAllowance();
    expect([take(15 * MIB), take(2 * MIB), take(MIB), take(1)]).toEqual([true, false, true, false]);
  });
});

describe("surplusGroups()", () => {
  test("is none for what a request takes", () => {
    expect(surplusGroups([])).toBe(0);
    expect(surplusGroups(Array(20).fill({ images: 1, chars: 1 }))).toBe(0);
  });

  test("is a step at once beyond that", () => {
    expect(surplusGroups(Array(21).fill({ images: 1, chars: 1 }))).toBe(5);
    expect(surplusGroups(Array(5).fill({ images: 1, chars: 4 * MIB }))).toBe(1);
  });

  test("never leaves more than a request takes, except in the newest message", () => {
    const group = fc.record({ images: fc.nat(8), chars: fc.nat(16 * MIB) });
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 40 }), (groups) => {
        const rest = groups.slice(surplusGroups(groups));
        expect(rest.length).toBeGreaterThan(0);
        if (rest.length === 1) return;
        expect(rest.reduce((sum, { images }) => sum + images, 0)).toBeLessThanOrEqual(20);
        expect(rest.reduce((sum, { chars }) => sum + chars, 0)).toBeLessThanOrEqual(16 * MIB);
      }),
    );
  });
});
