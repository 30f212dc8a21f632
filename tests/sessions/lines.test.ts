import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import type { StoredMessage } from "../../src/core/session.ts";
import { formatMessage, parseSessionLine } from "../../src/sessions/lines.ts";

const parse = (value: unknown) => parseSessionLine(Buffer.from(JSON.stringify(value)));

function mediaOf(media: unknown): StoredMessage["media"] {
  const line = parse({ role: "user", content: "hi", media });
  if (line.kind !== "message") throw new Error(`The line is ${line.kind}`);
  return line.message.media;
}

const picture = { path: "/ws/media/cli/0a.png", mime: "image/png", name: "a.png" };

test("parseSessionLine() gives back the media that formatMessage() wrote", () => {
  const message: StoredMessage = { role: "user", content: "hi", media: [picture, "/old/a.png"] };
  expect(parseSessionLine(Buffer.from(formatMessage(message).trimEnd()))).toEqual({
    kind: "message",
    message,
  });
});

for (const [what, media, expected] of [
  ["what is no list", "a.png", undefined],
  ["an empty list", [], undefined],
  ["what is neither text nor an object", [1, null, true, ["a.png"], "a.png"], ["a.png"]],
  ["empty paths", ["", { path: "", mime: "image/png" }], undefined],
  ["objects without a path or a type", [{ path: "a" }, { mime: "b" }, { path: 1, mime: "c" }], undefined],
  ["keys it does not know", [{ ...picture, url: "x" }], [picture]],
  ["names that are no text", [{ ...picture, name: 1 }], [{ path: picture.path, mime: picture.mime }]],
  ["paths beyond 4 KiB", ["x".repeat(4_097), "x".repeat(4_096)], ["x".repeat(4_096)]],
  ["endless types", [{ path: "a", mime: "x".repeat(256) }], undefined],
] as const) {
  test(`parseSessionLine() leaves out of the media ${what}`, () => {
    expect(mediaOf(media)).toEqual(expected as StoredMessage["media"]);
  });
}

test("parseSessionLine() takes at most 32 media of a line", () => {
  expect(mediaOf(Array(1_000).fill("a.png"))).toHaveLength(32);
});

test("parseSessionLine() takes any JSON for media, and keeps only what it can vouch for", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (media) => {
      for (const entry of mediaOf(media) ?? []) {
        expect(typeof (typeof entry === "string" ? entry : entry.path)).toBe("string");
        if (typeof entry !== "string") expect(typeof entry.mime).toBe("string");
      }
    }),
  );
});

test("parseSessionLine() gives back where something was sent to, and takes nothing else for it", () => {
  const line = { role: "tool", content: "sent", tool_call_id: "1", name: "message" } as const;
  const sent_to = { channel: "telegram", chat_id: "42", thread: "7" };
  const parse = (value: unknown) =>
    parseSessionLine(Buffer.from(JSON.stringify({ ...line, sent_to: value })));
  expect(parse(sent_to)).toEqual({ kind: "message", message: { ...line, sent_to } });
  for (const broken of [
    "x",
    7,
    null,
    [],
    { channel: "a" },
    { channel: 1, chat_id: 2 },
    { channel: "a", chat_id: "b".repeat(300) },
  ])
    expect(parse(broken)).toEqual({ kind: "message", message: line });
});
