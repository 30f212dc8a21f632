import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest, Image } from "../../../src/core/model.ts";
import { createImageRefusals } from "../../../src/providers/resilient/image-refusals.ts";

const image = (name: string): Image => ({ mime: "image/png", data: "AAAA", name });
const request = (...messages: ChatMessage[]): ChatRequest => ({
  model: "m",
  messages,
  tools: [],
  toolChoice: "auto",
  maxTokens: 1,
});
const model = { provider: "p", name: "m" };

describe("createImageRefusals()", () => {
  test("strip() puts a line for each image in front of the text", () => {
    const { strip } = createImageRefusals();
    const asked: ChatMessage = { role: "user", content: "Compare", images: [image("a.png"), image("b.png")] };
    const [message] = strip(request(asked)).messages;
    expect(message).not.toHaveProperty("images");
    expect(message?.content).toMatch(/^\[The image a\.png .*\]\n\[The image b\.png .*\]\nCompare$/);
  });

  test("strip() gives an image without a word a text, since vendors refuse empty messages", () => {
    const { strip } = createImageRefusals();
    const [message] = strip(request({ role: "user", content: "", images: [image("a.png")] })).messages;
    expect(message?.content).toMatch(/^\[The image a\.png [^\n]*\]$/);
  });

  test("strip() keeps what holds no image, and gives the same object for the same message", () => {
    const { strip } = createImageRefusals();
    const plain: ChatMessage = { role: "user", content: "hi", images: [] };
    const asked: ChatMessage = { role: "user", content: "Look", images: [image("a.png")] };
    const first = strip(request(plain, asked)).messages;
    const second = strip(request(plain, asked)).messages;
    expect(first[0]).toBe(plain);
    expect(second[1]).toBe(first[1] as ChatMessage);
  });

  test("concerns() requests with an image, wherever it is", () => {
    const { concerns } = createImageRefusals();
    expect(concerns(request({ role: "user", content: "hi", images: [] }))).toBe(false);
    const old: ChatMessage = { role: "user", content: "", images: [image("a.png")] };
    expect(concerns(request(old, { role: "assistant", content: "a" }, { role: "user", content: "b" }))).toBe(
      true,
    );
  });

  test("known() is what was remembered for that session and that model", () => {
    const { known, remember } = createImageRefusals();
    remember("cli:a", model);
    expect(known("cli:a", model)).toBe(true);
    expect(known("cli:b", model)).toBe(false);
    expect(known("cli:a", { ...model, name: "n" })).toBe(false);
    expect(known("cli:a", { ...model, provider: "q" })).toBe(false);
    remember(undefined, model);
    expect([known(undefined, model), known("", model)]).toEqual([false, false]);
  });

  test("known() forgets the session that was not used for longest, when there are too many", () => {
    const { known, remember } = createImageRefusals();
    remember("first", model);
    remember("second", model);
    for (let index = 0; index < 998; index++) remember(`more ${index}`, model);
    remember("first", model);
    remember("one too many", model);
    expect([known("first", model), known("second", model)]).toEqual([true, false]);
  });
});
