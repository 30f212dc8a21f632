import { describe, expect, test } from "bun:test";
import { showImages, withResultImages } from "../../src/agent/result-images.ts";
import type { Image, ToolMessage } from "../../src/core/model.ts";
import { toolOk } from "../../src/core/tool.ts";

const MIB = 1024 * 1024;
const message: ToolMessage = { role: "tool", toolCallId: "call_1", name: "look", content: "Two pictures" };
const image = (name: string, chars = 4): Image => ({ mime: "image/png", data: "A".repeat(chars), name });
const kept = (file: string) => ({ path: `/ws/media/tools/${file}`, mime: "image/png", name: "a.png" });

describe("withResultImages()", () => {
  test("gives the same message for a result without images", () => {
    expect(withResultImages(message, toolOk("x"))).toBe(message);
    expect(withResultImages(message, toolOk("x", { images: [] }))).toBe(message);
  });

  test("calls each image what it is kept as, because later turns know no other name", () => {
    const result = { ...toolOk("x", { images: [image("a.png"), image("b.png")] }), media: [kept("0a.png")] };
    expect(withResultImages(message, result)).toEqual({
      ...message,
      images: [image("media/tools/0a.png"), image("b.png")],
    });
  });

  test("shows no more than a request may hold, and names the others", () => {
    const images = ["a", "b", "c", "d"].map((name) => image(name, 5 * MIB));
    const shown = withResultImages(message, toolOk("x", { images }));
    expect(shown.images?.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(shown.content).toBe("Two pictures\n[The image d is not shown here any more.]");
  });
});

describe("showImages()", () => {
  test("shows what there is, and says of the others that they were there", () => {
    const shown = showImages(message, ["a", "b"], [image("b")]);
    expect(shown).toEqual({
      ...message,
      content: "Two pictures\n[The image a is not shown here any more.]",
      images: [image("b")],
    });
  });

  test("takes away what is not shown any more", () => {
    const before = showImages(message, ["a"], [image("a")]);
    const after = showImages(before, ["a"], []);
    expect(before.content).toBe("Two pictures");
    expect(after).toEqual({ ...message, content: "Two pictures\n[The image a is not shown here any more.]" });
    expect(after).not.toHaveProperty("images");
  });
});
