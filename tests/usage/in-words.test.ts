import { expect, test } from "bun:test";
import { usageInWords } from "../../src/usage/in-words.ts";
import { call, setUp } from "./fixture.ts";

const now = Date.parse("2026-11-30T12:00:00Z");

test("usageInWords() tells of the session, and of all in the last day", async () => {
  const { store } = setUp();
  store.record(call({ time: "2026-11-20T09:00:00.000Z", session: "a", cost: 0.25 }));
  store.record(call({ time: "2026-11-30T09:00:00.000Z", session: "a", input: 12_000, cached: 0 }));
  store.record(call({ time: "2026-11-30T10:00:00.000Z", session: "b", estimated: true, cost: 0.5 }));
  expect(await usageInWords(store, "a", now)).toBe(
    [
      "This session, 30 days: 2 calls, 12,100 tokens in (40 cached), 20 out, at least $0.25",
      "All sessions, 24 hours: 2 calls, about 12,100 tokens in (40 cached), 20 out, at least $0.50",
    ].join("\n"),
  );
});

test("usageInWords() says so when nothing was used", async () => {
  const { store } = setUp();
  expect(await usageInWords(store, "a", now)).toBe(
    "This session, 30 days: nothing yet\nAll sessions, 24 hours: nothing yet",
  );
});
