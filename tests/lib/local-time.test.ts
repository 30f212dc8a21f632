import { expect, test } from "bun:test";
import { createTimeInWords, createTimeOf } from "../../src/lib/local-time.ts";

const at = Date.parse("2026-11-30T23:05:59Z");

test("createTimeOf() shows the clock of the zone, to the minute", () => {
  expect(createTimeOf("UTC")(at)).toBe("2026-11-30 23:05");
  expect(createTimeOf("Europe/Vienna")(at)).toBe("2026-12-01 00:05");
});

test("createTimeInWords() says the zone, and its day of the week", () => {
  expect(createTimeInWords("Europe/Vienna")(at)).toBe("2026-12-01 00:05 (Tuesday, Europe/Vienna)");
});
