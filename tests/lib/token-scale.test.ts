import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createTokenScale } from "../../src/lib/token-scale.ts";

describe("createTokenScale()", () => {
  test("takes the estimate at its word before anything was counted", () => {
    expect(createTokenScale().fit(10_000)).toBe(10_000);
  });

  test("fits less at once when a model counts more", () => {
    const scale = createTokenScale();
    scale.learn(1_000, 2_000);
    expect(scale.fit(10_000)).toBe(5_000);
  });

  test("fits more little by little when a model counts less", () => {
    const scale = createTokenScale();
    scale.learn(1_000, 800);
    expect(scale.fit(10_000)).toBeGreaterThan(10_000);
    expect(scale.fit(10_000)).toBeLessThan(11_000);
    for (let answer = 0; answer < 50; answer++) scale.learn(1_000, 800);
    expect(scale.fit(10_000)).toBeGreaterThan(12_400);
  });

  test("learns nothing from short prompts and from counts that are none", () => {
    const scale = createTokenScale();
    scale.learn(499, 5_000);
    scale.learn(1_000, 0);
    expect(scale.fit(10_000)).toBe(10_000);
  });

  test("fits no more than a share of what was refused, however small the factor", () => {
    const scale = createTokenScale();
    scale.refused(1_000);
    expect(scale.fit(10_000)).toBe(700);
    scale.refused(5_000);
    expect(scale.fit(10_000)).toBe(700);
    for (let answer = 0; answer < 50; answer++) scale.learn(501, 250);
    expect(scale.fit(10_000)).toBe(700);
    expect(scale.fit(100)).toBeGreaterThan(190);
  });

  test("fits a little more with each prompt near the bound that was taken after all", () => {
    const scale = createTokenScale();
    scale.refused(10_000);
    for (let answer = 0; answer < 100; answer++) scale.learn(scale.fit(20_000), scale.fit(20_000));
    expect(scale.fit(20_000)).toBeGreaterThan(15_000);
  });

  test("fits what was taken, although less had been refused", () => {
    const scale = createTokenScale();
    scale.refused(1_000);
    scale.learn(5_000, 5_000);
    expect(scale.fit(20_000)).toBe(5_000);
  });

  test("fits between a third and twice of what is allowed, whatever providers count", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(100_000), fc.integer({ min: -10, max: 1_000_000 }))),
        (answers) => {
          const scale = createTokenScale();
          for (const [estimated, counted] of answers) scale.learn(estimated, counted);
          expect(scale.fit(30_000)).toBeGreaterThanOrEqual(9_999);
          expect(scale.fit(30_000)).toBeLessThanOrEqual(60_000);
        },
      ),
    );
  });
});
