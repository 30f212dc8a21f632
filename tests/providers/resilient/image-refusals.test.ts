import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest, Image } from "../../../src/core/model.ts";
import {
  createImageRefusals,
  showsImages,
  withoutImages,
} from "../../../src/providers/resilient/image-refusals.ts";

const image = (name: string): Image => ({ mime: "image/png", data: "AAAA", name });
const request = (...messages: ChatMessage[]): ChatRequest => ({
  model: "m",
  messages,
  tools: [],
  toolChoice: "auto",
  maxTokens: 1,
});

describe("withoutImages()", () => {
  test("puts a line for each image in front of the text", () => {
    const asked: ChatMessage = { role: "user", content: "Compare", images: [image("a.png"), image("b.png")] };
    const [message] = withoutImages(request(asked)).messages;
    expect(message).not.toHaveProperty("images");
    expect(message?.content).toMatch(/^\[The image a\.png .*\]\n\[The image b\.png .*\]\nCompare$/);
  });

  test("gives an image without a word a text, since vendors refuse empty messages", () => {
    const [message] = withoutImages(
      request({ role: "user", content: "", images: [image("a.png")] }),
    ).messages;
    expect(message?.content).toMatch(/^\[The image a\.png [^\n]*\]$/);
  });

  test("puts them behind the text of a tool's result, where the images would be", () => {
    const result: ChatMessage = {
      role: "tool",
      toolCallId: "1",
      name: "look",
      content: "Two",
      images: [image("a.png")],
    };
    const [message] = withoutImages(request(result)).messages;
    expect(message).toEqual({
      role: "tool",
      toolCallId: "1",
      name: "look",
      content: expect.stringMatching(/^Two\n\[The image a\.png .*\]$/),
    });
  });

  test("keeps what holds no image, and gives the same object for the same message", () => {
    const plain: ChatMessage = { role: "user", content: "hi", images: [] };
    const asked: ChatMessage = { role: "user", content: "Look", images: [image("a.png")] };
    const first = withoutImages(request(plain, asked)).messages;
    const second = withoutImages(request(plain, asked)).messages;
    expect(first[0]).toBe(plain);
    expect(second[1]).toBe(first[1] as ChatMessage);
  });
});

test("showsImages() is true of requests with an image, wherever it is", () => {
  expect(showsImages(request({ role: "user", content: "hi", images: [] }))).toBe(false);
  const old: ChatMessage = { role: "user", content: "", images: [image("a.png")] };
  const later: ChatMessage[] = [
    { role: "assistant", content: "a" },
    { role: "user", content: "b" },
  ];
  expect(showsImages(request(old, ...later))).toBe(true);
  const result: ChatMessage = {
    role: "tool",
    toolCallId: "1",
    name: "look",
    content: "",
    images: [image("a.png")],
  };
  expect(showsImages(request(...later, result))).toBe(true);
});

describe("createImageRefusals()", () => {
  test("known() is what was remembered for that session", () => {
    const { known, remember } = createImageRefusals();
    remember("cli:a");
    expect([known("cli:a"), known("cli:b")]).toEqual([true, false]);
    remember(undefined);
    expect([known(undefined), known("")]).toEqual([false, false]);
  });

  test("known() forgets the session that was not used for longest, when there are too many", () => {
    const { known, remember } = createImageRefusals();
    remember("first");
    remember("second");
    for (let index = 0; index < 998; index++) remember(`more ${index}`);
    remember("first");
    remember("one too many");
    expect([known("first"), known("second")]).toEqual([true, false]);
  });
});
