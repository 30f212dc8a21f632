import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runtime } from "../../src/platform/bun.ts";

const inColor = (text: string, columns = 80) => runtime.renderMarkdown(text, { color: true, columns });
const plain = (text: string) => runtime.renderMarkdown(text, { color: false, columns: 80 });

/** Everything but styles that a terminal would act on. */
const steering = /\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

describe("renderMarkdown()", () => {
  test("renders marks as styles", () => {
    expect(inColor("**bold**")).toContain("\x1b[1mbold");
    expect(inColor("**bold**")).not.toContain("**");
  });

  test("writes no escape without colour", () => {
    expect(plain("# Title\n\n**bold** `code`\n\n- item")).not.toContain("\x1b");
  });

  test("wraps at the width it was given", () => {
    const lines = inColor("word ".repeat(50), 40).split("\n");
    expect(Math.max(...lines.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(40);
    expect(lines.length).toBeGreaterThan(5);
  });

  test("removes control sequences whole, also those spelled as entities", () => {
    const text = "a\x1b]0;title\x07b \x1b[2Jc &#27;]0;t&#7;d &#x9b;2Je &#x202e;f";
    for (const rendered of [inColor(text), plain(text)]) {
      expect(rendered).not.toContain("title");
      expect(rendered.replace(/\x1b\[[0-9;]*m/g, "")).not.toMatch(steering);
    }
  });

  test("lets through nothing that steers, whatever the text", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\x1b[",
        "\x1b]8;;",
        "\x07",
        "&#27;",
        "&#x9b;",
        "**",
        "`",
        "[a](",
        ")",
        "\n",
        "|",
        "```",
        "\u202e",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece), fc.boolean(), (pieces, color) => {
        expect(runtime.renderMarkdown(pieces.join(""), { color, columns: 80 })).not.toMatch(steering);
      }),
    );
  });

  test("shows a bare address once, and where a named link leads", () => {
    for (const render of [inColor, plain]) {
      expect(render("see https://a.example/b now").split("https://a.example/b").length).toBe(2);
      expect(render("[https://good.example](https://bad.example)")).toContain("https://bad.example");
    }
  });
});

describe("width()", () => {
  test("counts cells, not characters", () => {
    expect(runtime.width("猫")).toBe(2);
    expect(runtime.width("e\u0301")).toBe(1);
    expect(runtime.width("\x1b[31mred\x1b[0m")).toBe(3);
  });
});
