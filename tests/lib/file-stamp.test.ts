import { expect, test } from "bun:test";
import fc from "fast-check";
import { fileStamp } from "../../src/lib/file-stamp.ts";

test("fileStamp() says the time in letters that every file system takes", () => {
  expect(fileStamp(Date.parse("2026-11-30T09:00:00.007Z"))).toBe("20261130T090000007Z");
});

test("fileStamp() sorts as the times do", () => {
  const times = fc.integer({ min: 0, max: 250_000_000_000_000 });
  fc.assert(
    fc.property(times, times, (one, other) => {
      expect(fileStamp(one) < fileStamp(other)).toBe(one < other);
    }),
  );
});
