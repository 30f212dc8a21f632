import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { isSameCode, newCode, parseCode } from "../../src/access/code.ts";
import { showCode } from "../../src/lib/show-code.ts";

test("newCode() has 8 characters that nobody misreads, each as likely as the others", () => {
  const counts = new Map<string, number>();
  for (let round = 0; round < 4_000; round++) {
    const code = newCode(randomBytes, () => false);
    expect(code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/);
    for (const letter of code) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  expect(counts.size).toBe(32);
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250);
});

test("newCode() is one that is not taken", () => {
  let draws = 0;
  const code = newCode(
    (count) => new Uint8Array(count).fill(draws++),
    (taken) => taken !== "CCCCCCCC",
  );
  expect([code, draws]).toEqual(["CCCCCCCC", 3]);
});

test("parseCode() takes any case, with and without whatever dash", () => {
  for (const text of ["ABCD2345", "abcd2345", "ABCD-2345", "abcd–2345", " Abcd — 2345\n", "AB CD 23 45"])
    expect(parseCode(text)).toBe("ABCD2345");
});

test("parseCode() takes nothing else for a code", () => {
  for (const text of [
    "",
    "ABCD-234",
    "ABCD-23456",
    "ABCD_2345",
    "АBCD2345",
    "ſBCD2345",
    "ABCD2345;",
    "ABCDé234",
  ])
    expect(parseCode(text)).toBeUndefined();
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const code = parseCode(text);
      if (code !== undefined) expect(code).toMatch(/^[A-Z0-9]{8}$/);
    }),
  );
});

test("parseCode() reads what showCode() shows, and isSameCode() tells codes apart", () => {
  const code = newCode(randomBytes, () => false);
  expect(showCode(code)).toMatch(/^\w{4}-\w{4}$/);
  expect(isSameCode(parseCode(showCode(code)) ?? "", code)).toBe(true);
  expect(isSameCode(code, `${code.slice(1)}A`)).toBe(code === `${code.slice(1)}A`);
  expect(isSameCode(code, "")).toBe(false);
});
