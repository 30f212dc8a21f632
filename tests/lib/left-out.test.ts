import { expect, test } from "bun:test";
import { isResultWorthLeavingOut, isWorthLeavingOut, withoutResult } from "../../src/lib/left-out.ts";

test("withoutResult() says whose result it was and how long, and keeps everything else", () => {
  const message = { role: "tool", toolCallId: "a", name: "exec", content: "x".repeat(900) };
  const { content, ...rest } = withoutResult(message);
  expect(rest).toEqual({ role: "tool", toolCallId: "a", name: "exec" });
  expect(content).toContain("exec (900 characters)");
  expect(withoutResult({ content: "y".repeat(600) }).content).toContain("a tool (600 characters)");
});

test("withoutResult() makes every result shorter that is worth it, and none twice", () => {
  for (const length of [499, 500, 501, 100_000]) {
    const message = { name: "a_tool_with_a_rather_long_name", content: "x".repeat(length) };
    expect(isWorthLeavingOut(message.content)).toBe(length >= 500);
    if (length < 500) continue;
    const { content } = withoutResult(message);
    expect(content.length).toBeLessThan(length);
    expect(isWorthLeavingOut(content)).toBe(false);
  }
});

test("withoutResult() takes the images along, of a message and of a line, and says so", () => {
  const image = { mime: "image/png", data: "AAAA", name: "a.png" } as const;
  const media = [{ path: "/ws/media/tools/0a.png", mime: "image/png" }, "/old/file.txt"];
  const [message, line] = [
    { name: "look", content: "ok", images: [image, image] },
    { content: "ok", media },
  ];
  expect([isResultWorthLeavingOut(message), isResultWorthLeavingOut(line)]).toEqual([true, true]);
  const [short, stub] = [withoutResult(message), withoutResult(line)];
  expect(short).toEqual({
    name: "look",
    content: expect.stringContaining("look (2 characters and 2 images)"),
  });
  expect(stub).toEqual({ content: expect.stringContaining("a tool (2 characters and an image)") });
  expect([isResultWorthLeavingOut(short), isResultWorthLeavingOut(stub)]).toEqual([false, false]);
});
