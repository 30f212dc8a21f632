import { expect, test } from "bun:test";
import type { StoredMessage } from "../../src/core/session.ts";
import { toChat } from "../../src/lib/transcript.ts";

const picture = { path: "/ws/media/cli/0a.png", mime: "image/png" };
const report = { path: "/ws/media/cli/0b.pdf", mime: "application/pdf" };

for (const [what, line, content] of [
  [
    "between the runtime context and the text",
    { content: "Look", runtime: "[Runtime]", media: [picture, report, "/old/a.jpg"] },
    "[Runtime]\n\n[image: media/cli/0a.png]\n[file: media/cli/0b.pdf, application/pdf]\n[image: /old/a.jpg]\n\nLook",
  ],
  ["in front of the text", { content: "Look", media: [picture] }, "[image: media/cli/0a.png]\n\nLook"],
  ["alone when there is no text", { content: "", media: [picture] }, "[image: media/cli/0a.png]"],
  ["nowhere when there are none", { content: "Look", runtime: "[Runtime]", media: [] }, "[Runtime]\n\nLook"],
] as const) {
  test(`toChat() puts the names of files ${what}`, () => {
    expect(toChat({ role: "user", ...line })).toEqual({ role: "user", content });
  });
}

test("toChat() names no files of an assistant's line", () => {
  expect(toChat({ role: "assistant", content: "Here", media: [picture] })).toEqual({
    role: "assistant",
    content: "Here",
  });
});

test("toChat() gives the same object for the same line", () => {
  const line: StoredMessage = { role: "user", content: "Look", media: [picture] };
  expect(toChat(line)).toBe(toChat(line));
});
