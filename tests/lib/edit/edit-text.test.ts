import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Edit, type EditOutcome, editText } from "../../../src/lib/edit/edit-text.ts";

/** What the text becomes, or why it stays. */
function edit(text: string, before: string, after: string, more: Partial<Edit> = {}): string {
  const outcome = editText(text, { before, after, ...more });
  return outcome.kind === "edited" ? outcome.text : outcome.kind;
}

function matchOf(outcome: EditOutcome): string | undefined {
  return outcome.kind === "edited" ? outcome.match : undefined;
}

describe("editText() finds", () => {
  test.each([
    ["exact", "a\nb\n", "b"],
    ["trimmed", "  a\n\tb \n", "a\nb"],
    ["trimmedQuotes", "  say “a”\n  b\n", 'say "a"\nb'],
    ["quotes", "x = it’s “a” here", 'it\'s "a"'],
  ])("editText() finds a passage that is %s", (kind, text, before) => {
    expect(matchOf(editText(text, { before, after: "new" }))).toBe(kind);
  });

  test("editText() prefers the stricter match, though the looser one comes first", () => {
    expect(edit("  foo\nbar\n--\nfoo\nbar\n", "--\nfoo\nbar", "new")).toBe("  foo\nbar\nnew\n");
    expect(edit('“a”\n"a"\n', '"a"', "b")).toBe("“a”\nb\n");
    expect(edit("\tfoo\n\tbar\nfoo\nbar\n", "foo\nbar", "x")).toBe("\tfoo\n\tbar\nx\n");
  });

  test("editText() looks for nothing but white space only as it is written", () => {
    expect(edit("a\n \nb\n", "\n\t\n", "x")).toBe("missing");
  });

  test("editText() finds whole lines only, where white space is not as written", () => {
    expect(edit("  foo;\n  bar\n", "foo\nbar", "x")).toBe("missing");
    expect(edit("  foo\n  barn\n", "foo\nbar", "x")).toBe("missing");
  });

  test("editText() finds the blank lines around a passage too", () => {
    expect(edit("\n\n  a\n\n  b\n", "a\n\nb", "a\nb")).toBe("\n\n  a\n  b\n");
    expect(edit("\n  a\n\t\n  b\n", "\na\n\nb\n", "\na\nb\n")).toBe("\n  a\n  b\n");
    expect(edit("  a\n  b", "\na\nb", "x")).toBe("missing");
    expect(edit("  a\n  b", "a\nb\n\n\nc", "x")).toBe("missing");
  });

  test("editText() does not guess when it must match exactly", () => {
    expect(edit("  a\n  b\n", "a\nb", "x", { exactly: true })).toBe("missing");
    expect(edit("a \nb\n", "a \nb", "c ", { exactly: true })).toBe("c \n");
    expect(edit("a\nb\n", "a", "", { exactly: true })).toBe("\nb\n");
  });
});

describe("editText() fits the replacement in", () => {
  test("editText() indents by as much as the passage is", () => {
    const text = "class A:\n    def f(self):\n        return 1\n";
    const before = "def f(self):\n    return 1";
    const after = "def f(self):\n    if x:\n        return 2\n    return 1\n\ndef g(self):\n    pass";
    expect(edit(text, before, after)).toBe(
      "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n\n    def g(self):\n        pass\n",
    );
  });

  test("editText() turns spaces into the tabs of the file, and back", () => {
    expect(edit("\tif a:\n\t\tb\n", "    if a:\n        b", "    if a:\n        for c:\n            d")).toBe(
      "\tif a:\n\t\tfor c:\n\t\t\td\n",
    );
    expect(edit("  if a:\n    b\n", "\tif a:\n\t\tb", "\tif a:\n\t\t\tb")).toBe("  if a:\n      b\n");
    // Also where the passage stands deeper in the file than in the request.
    expect(edit("\tif a:\n\t\tb\n", "if a:\n    b", "if a:\n    for c:\n        d")).toBe(
      "\tif a:\n\t\tfor c:\n\t\t\td\n",
    );
    expect(edit("    if a:\n        b\n", "if a:\n\tb", "if a:\n\tfor c:\n\t\td")).toBe(
      "    if a:\n        for c:\n            d\n",
    );
  });

  test("editText() takes indentation away where the file has less", () => {
    expect(edit("a\n  b\n", "    a\n      b", "    a\n      c\n  d")).toBe("a\n  c\nd\n");
  });

  test("editText() keeps the lines of the file that do not change", () => {
    const text = "\tone \n  two\t\nthree\n";
    expect(edit(text, "one\ntwo\nthree", "one\n2\nthree")).toBe("\tone \n\t2\nthree\n");
  });

  test("editText() keeps curly quotes", () => {
    expect(edit("He said “yes”.\n", 'said "yes"', 'said "no", and "never"')).toBe(
      "He said “no”, and “never”.\n",
    );
    expect(edit("It’s “a”", 'It\'s "a"', 'It isn\'t "a"')).toBe("It isn’t “a”");
    expect(edit("x 'a'\n", "x ‘a’", "x ‘b’ ‘c’")).toBe("x 'b' 'c'\n");
  });

  test("editText() leaves quotes as they are asked for when the passage has both kinds or neither", () => {
    expect(edit('  a “b” "c"\n  d\n', 'a "b" "c"\nd', 'a "b" "c"\n"e"')).toBe('  a “b” "c"\n  "e"\n');
    expect(edit("“a” b\n", "b", '"c"')).toBe('“a” "c"\n');
  });

  test("editText() takes white space off the ends of the lines it puts in", () => {
    expect(edit("a\n", "a", "b  \nc\t")).toBe("b\nc\n");
    expect(edit("a\n", "a", "b  \nc\t", { keepTrailingSpace: true })).toBe("b  \nc\t\n");
    expect(edit("y5\n", "y", "x = ")).toBe("x = 5\n");
    expect(edit("a  \nb\n", "a  \nb", "a  \nc  ")).toBe("a  \nc\n");
  });

  test("editText() takes the line end of lines that go", () => {
    expect(edit("a\nb\nc\n", "b", "")).toBe("a\nc\n");
    expect(edit("a\r\nb\r\nc\r\n", "b", "")).toBe("a\r\nc\r\n");
    expect(edit("\ufeffa\nb\n", "a", "")).toBe("\ufeffb\n");
    expect(edit("a\n  b\n  c\nd\n", "b\nc", "")).toBe("a\nd\n");
    expect(edit("a b\nc\n", " b", "")).toBe("a\nc\n");
    expect(edit("x a\nc\n", "a", "")).toBe("x \nc\n");
    // A blank line was asked for.
    expect(edit("a\r\nb\n", "a", " ")).toBe("\r\nb\n");
  });

  test("editText() keeps a missing final newline", () => {
    expect(edit("a\nb", "b\n", "c\n")).toBe("a\nc");
    expect(edit("a\nb", "b", "c\nd")).toBe("a\nc\nd");
    expect(edit("a\nb", "  a\n  b\n", "  a\n  c\n")).toBe("a\nc");
  });

  test("editText() leaves the byte order mark out of a loose match", () => {
    expect(edit("\ufeff  a\n  b\n", "a\nb", "c")).toBe("\ufeff  c\n");
    expect(edit("\ufeff\n  a\n", "\na", "\nb")).toBe("\ufeff\n  b\n");
  });

  test("editText() puts in lines with the line end of the passage", () => {
    expect(edit("\ta \r\n\tb\r\nc\n", "a\nb", "a\nx\ny")).toBe("\ta \r\n\tx\r\n\ty\r\nc\n");
  });
});

describe("editText() ends its search", () => {
  test("editText() ends a search among lines that are all alike, and trusts no match it found until then", () => {
    const alike = "{ \n".repeat(1_500_000);
    expect(edit(`a \nb\n${alike}`, "a\nb", "c")).toBe(`c\n${alike}`);
    expect(edit(alike, "{\nzz", "c")).toBe("missing");
    expect(editText(`{ \n\t}\n${alike.repeat(2)}`, { before: "{\n}", after: "c" })).toEqual({
      kind: "ambiguous",
      count: 1,
      more: true,
      lines: [1],
    });
  });
});

describe("editText() chooses", () => {
  const three = "x\na\nx\nb\nx\n";

  test("editText() refuses what stands there more than once, with the count and three lines", () => {
    expect(editText(three, { before: "x", after: "y" })).toEqual({
      kind: "ambiguous",
      count: 3,
      more: false,
      lines: [1, 3, 5],
    });
    expect(editText("x\n".repeat(9), { before: "x", after: "y" })).toMatchObject({
      count: 9,
      lines: [1, 2, 3],
    });
    expect(editText("  a\n b\n\ta\n\tb\n", { before: "a\nb", after: "c" })).toMatchObject({
      count: 2,
      lines: [1, 3],
    });
    expect(edit("aaa", "aa", "b")).toBe("ambiguous");
  });

  test("editText() changes all places, but no overlapping ones", () => {
    expect(edit(three, "x", "yy", { all: true })).toBe("yy\na\nyy\nb\nyy\n");
    expect(edit("aaaaa", "aa", "b", { all: true })).toBe("bba");
    expect(edit("x\r\na\r\nx\nb\n", "x", "1\n2", { all: true })).toBe("1\r\n2\r\na\r\n1\n2\nb\n");
    expect(edit("x\nx\nx\n", "x", "", { all: true })).toBe("");
    expect(edit(" a\n b\n--\n\ta\n\tb\n", "a\nb", "c", { all: true })).toBe(" c\n--\n\tc\n");
  });

  test("editText() refuses to change more places than it can keep in mind", () => {
    expect(editText("a".repeat(100_001), { before: "a", after: "b", all: true })).toMatchObject({
      kind: "tooMany",
      count: 100_001,
      more: true,
    });
  });

  test("editText() changes the occurrence that is meant", () => {
    expect(edit(three, "x", "y", { occurrence: 2 })).toBe("x\na\ny\nb\nx\n");
    expect(editText(three, { before: "x", after: "y", occurrence: 4 })).toEqual({
      kind: "tooFew",
      count: 3,
      more: false,
      lines: [1, 3, 5],
    });
  });

  test("editText() changes the place that covers the line", () => {
    expect(edit(three, "x", "y", { lineHint: 3 })).toBe("x\na\ny\nb\nx\n");
    expect(edit("a\nb\n-\na\nb\n", "a\nb\n", "c\n", { lineHint: 5 })).toBe("a\nb\n-\nc\n");
    expect(edit(three, "x", "y", { lineHint: 2 })).toBe("notAtLine");
    expect(edit("x x\nx\n", "x", "y", { lineHint: 1 })).toBe("ambiguous");
    expect(edit(three, "x", "y", { lineHint: 3, occurrence: 2 })).toBe("x\na\ny\nb\nx\n");
    expect(edit(three, "x", "y", { lineHint: 3, occurrence: 1 })).toBe("notAtLine");
    expect(edit("a\nb\n", "a", "c", { lineHint: 2 })).toBe("notAtLine");
  });

  test("editText() changes nothing when another number of places was expected", () => {
    expect(edit(three, "x", "y", { all: true, expected: 3 })).toBe("y\na\ny\nb\ny\n");
    expect(editText(three, { before: "x", after: "y", all: true, expected: 2 })).toMatchObject({
      kind: "unexpectedCount",
      count: 3,
    });
    expect(edit("x\n", "x", "y", { expected: 2 })).toBe("unexpectedCount");
  });

  test("editText() tells an edit that asks for nothing from one that changes nothing", () => {
    expect(edit("a\r\nb", "a\nb", "a\r\nb")).toBe("same");
    expect(edit("a\n", "a", "a ")).toBe("unchanged");
    expect(edit("\ta\n\tb\n", "a\nb", " a\n b")).not.toBe("missing");
  });
});

const piece = fc.string({
  unit: fc.constantFrom("a", "b", "é", "😀", "\n", "\r\n", "\ufeff", "$&", "\t", " ", "“", '"', "’"),
  maxLength: 12,
});
const lf = (text: string) => text.replaceAll("\r\n", "\n");

test("editText() changes only the bytes it was asked to, and always takes the exact match", () => {
  let edited = 0;
  fc.assert(
    fc.property(
      piece,
      piece,
      piece,
      piece,
      fc.boolean(),
      (before, old, after, replacement, keepTrailingSpace) => {
        fc.pre(old !== "" && !(before.endsWith("\r") || old.endsWith("\r")));
        const text = before + old + after;
        // Written as the model would, which sees LF only.
        const outcome = editText(text, { before: lf(old), after: lf(replacement), keepTrailingSpace });
        expect(outcome.kind).not.toBe("missing");
        if (outcome.kind !== "edited") return;
        edited++;
        expect(outcome.match).toBe("exact");
        expect(outcome.text.startsWith(before)).toBe(true);
        const rest = outcome.text.slice(before.length);
        const between = keepTrailingSpace ? lf(replacement) : undefined;
        // Lines that go take their line end with them.
        const ends = replacement === "" ? [after, after.replace(/^\r?\n/, "")] : [after];
        expect(
          ends.some((end) => rest.endsWith(end) && (between === undefined || lf(rest) === between + lf(end))),
        ).toBe(true);
      },
    ),
    { numRuns: 3000 },
  );
  expect(edited).toBeGreaterThan(100);
});

test("editText() changes nothing outside the lines it found, however it found them", () => {
  const line = fc.string({
    unit: fc.constantFrom("a", "“", "'", "$1", "😀", " "),
    minLength: 1,
    maxLength: 6,
  });
  const space = fc.constantFrom("", " ", "\t", "    ");
  let loose = 0;
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 3 }),
      space,
      space,
      piece,
      (lines, left, right, replacement) => {
        const inFile = lines.map((text) => `${left}X${text.replaceAll("'", "’")}X${right}`).join("\r\n");
        const wanted = lines.map((text) => `X${text}X`).join("\n");
        const outcome = editText(`before ’ \t\r\n${inFile}\r\nafter “`, {
          before: wanted,
          after: lf(replacement),
        });
        if (outcome.kind === "unchanged" || outcome.kind === "same") return;
        expect(outcome.kind).toBe("edited");
        if (outcome.kind !== "edited") return;
        if (outcome.match !== "exact") loose++;
        expect(outcome.text.startsWith("before ’ \t\r\n")).toBe(true);
        expect(outcome.text.endsWith("after “")).toBe(true);
        expect(outcome.text.isWellFormed()).toBe(true);
      },
    ),
  );
  expect(loose).toBeGreaterThan(20);
});

test("editText() puts dollar patterns in byte for byte, however the passage was found", () => {
  const cost = "cost $& $$ $1 $` $' end";
  expect(edit("a X b", "X", cost)).toBe(`a ${cost} b`);
  expect(edit("\tX \n\tY\n", "X\nY", cost)).toBe(`\t${cost}\n`);
  expect(edit("“X”", '"X"', `"${cost.replace("'", "")}"`)).toBe(`“${cost.replace("'", "")}”`);
});

test("editText() adds no kind of line end that the file did not have", () => {
  fc.assert(
    fc.property(piece, piece, fc.constantFrom("\n", "\r\n"), (before, replacement, lineEnd) => {
      fc.pre(replacement !== "");
      const sameEnds = (text: string) => text.replace(/\r?\n/g, lineEnd);
      const text = `${sameEnds(before)}UNIQUE${lineEnd}`;
      const outcome = editText(text, { before: "UNIQUE", after: replacement, keepTrailingSpace: true });
      expect(outcome).toMatchObject({ kind: "edited", text: sameEnds(`${before}${replacement}\n`) });
    }),
  );
});
