import { expect, test } from "bun:test";
import type { StoredMessage } from "../../src/core/session.ts";
import { emptyState, extend, tokensOf } from "../../src/sessions/state.ts";

function tokensFor(...messages: readonly StoredMessage[]): number {
  const state = emptyState("/sessions/a.jsonl", "a");
  extend(
    state,
    messages,
    messages.map(() => "{}\n"),
  );
  return tokensOf(state);
}

const user: StoredMessage = { role: "user", content: "Look at this" };
const picture = { path: "/ws/media/cli/0a.png", mime: "image/png" };

test("extend() counts an image as about 1,300 tokens, and a file by its name only", () => {
  const plain = tokensFor(user);
  const one = tokensFor({ ...user, media: [picture] });
  expect(one - plain).toBeGreaterThan(1_300);
  expect(one - plain).toBeLessThan(1_330);
  const two = tokensFor({ ...user, media: [picture, picture] });
  expect(Math.abs(two - plain - 2 * (one - plain))).toBeLessThanOrEqual(2);
  const named = tokensFor({ ...user, media: [{ ...picture, mime: "application/pdf" }, "/old/a.png"] });
  expect(named - plain).toBeGreaterThan(5);
  expect(named - plain).toBeLessThan(60);
});

test("extend() counts an image of a tool's line, which is not named in its text", () => {
  const line: StoredMessage = { role: "tool", tool_call_id: "1", name: "look", content: "ok" };
  expect(tokensFor(user, { ...line, media: [picture] }) - tokensFor(user, line)).toBe(1_300);
});

test("extend() counts no media of an assistant's line, which are not sent", () => {
  const assistant: StoredMessage = { role: "assistant", content: "Here it is" };
  expect(tokensFor({ ...assistant, media: [picture] })).toBe(tokensFor(assistant));
});

test("tokensOf() counts no more images than go with one message and with one request", () => {
  const pictures = Array.from({ length: 32 }, () => picture);
  const one = tokensFor({ ...user, media: pictures });
  expect(one).toBeGreaterThan(8 * 1_300);
  expect(one).toBeLessThan(8 * 1_300 + 32 * 25);
  const many = Array.from({ length: 100 }, () => ({ ...user, media: [picture] }));
  expect(tokensFor(...many)).toBeLessThan(20 * 1_300 + 100 * 40);
});
