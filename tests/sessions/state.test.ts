import { expect, test } from "bun:test";
import type { StoredMessage } from "../../src/core/session.ts";
import { emptyState, extend } from "../../src/sessions/state.ts";

function tokensOf(message: StoredMessage): number {
  const state = emptyState("/sessions/a.jsonl", "a");
  extend(state, [message], ["{}\n"]);
  return state.tokens;
}

const user: StoredMessage = { role: "user", content: "Look at this" };
const picture = { path: "/ws/media/cli/0a.png", mime: "image/png" };

test("extend() counts an image as about 1,300 tokens, and a file by its name only", () => {
  const plain = tokensOf(user);
  const one = tokensOf({ ...user, media: [picture] });
  expect(one - plain).toBeGreaterThan(1_300);
  expect(one - plain).toBeLessThan(1_330);
  const two = tokensOf({ ...user, media: [picture, picture] });
  expect(Math.abs(two - plain - 2 * (one - plain))).toBeLessThanOrEqual(2);
  const named = tokensOf({ ...user, media: [{ ...picture, mime: "application/pdf" }, "/old/a.png"] });
  expect(named - plain).toBeGreaterThan(5);
  expect(named - plain).toBeLessThan(60);
});

test("extend() counts no media of an assistant's line, which are not sent", () => {
  const assistant: StoredMessage = { role: "assistant", content: "Here it is" };
  expect(tokensOf({ ...assistant, media: [picture] })).toBe(tokensOf(assistant));
});
