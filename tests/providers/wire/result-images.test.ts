import { describe, expect, test } from "bun:test";
import type { ChatMessage, Image, ToolMessage } from "../../../src/core/model.ts";
import { imagesBehindResults, resultImageParts } from "../../../src/providers/wire/result-images.ts";

const image = (name: string): Image => ({ mime: "image/png", data: "AAAA", name });
const result = (toolCallId: string, ...images: Image[]): ToolMessage => ({
  role: "tool",
  toolCallId,
  name: "look",
  content: "ok",
  ...(images.length === 0 ? {} : { images }),
});
const user: ChatMessage = { role: "user", content: "hi" };
const answer: ChatMessage = { role: "assistant", content: "hello" };

describe("imagesBehindResults()", () => {
  test("gives the very list when no result has an image", () => {
    const messages = [{ ...user, images: [image("a")] }, answer, result("1")];
    expect(imagesBehindResults(messages)).toBe(messages);
  });

  test("puts the images of results behind the last result of their reply", () => {
    const [one, two, three, four] = [
      result("1", image("a")),
      result("2", image("b")),
      result("3"),
      result("4"),
    ];
    const five = result("5", image("c"));
    expect(imagesBehindResults([user, answer, one, two, three, answer, four, answer, five])).toEqual([
      user,
      answer,
      one,
      two,
      three,
      { role: "resultImages", results: [one, two] },
      answer,
      four,
      answer,
      five,
      { role: "resultImages", results: [five] },
    ]);
  });

  test("gives the same objects again, until the results are others", () => {
    const [one, two] = [result("1", image("a")), result("2", image("b"))];
    const first = imagesBehindResults([answer, one, two]);
    const second = imagesBehindResults([answer, one, two, answer]);
    expect(second[3]).toBe(first[3] as NonNullable<(typeof first)[number]>);
    const third = imagesBehindResults([answer, result("1"), two]);
    expect(third[3]).toEqual({ role: "resultImages", results: [two] });
  });
});

test("resultImageParts() says in front of each result's images whose they are", () => {
  const results = [result("1", image("a")), { ...result("2", image("b"), image("c")), name: "" }];
  const parts = resultImageParts(
    { role: "resultImages", results },
    { callId: (id) => `#${id}`, text: (text) => text, image: ({ name }) => name },
  );
  expect(parts).toEqual(["Image from look (call #1):", "a", "Images from a tool (call #2):", "b", "c"]);
});
