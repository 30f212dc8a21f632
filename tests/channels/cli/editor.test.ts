import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  applyKey,
  type EditorState,
  type EditorStep,
  emptyEditor,
  MAX_TEXT,
} from "../../../src/channels/cli/editor.ts";
import type { Key } from "../../../src/core/platform.ts";
import { key, pasted, typed } from "../../fakes/terminal.ts";

function keysOf(...specs: (string | Key)[]): Key[] {
  return specs.map((spec) => (typeof spec === "string" ? key(spec) : spec));
}

/** Applies keys to a state; the last step. */
function press(state: EditorState, ...specs: (string | Key)[]): EditorStep {
  let step: EditorStep = { state };
  for (const next of keysOf(...specs)) step = applyKey(step.state, next);
  return step;
}

/** An editor with `text` in it, the cursor where `|` stands. */
function editing(marked: string, history: readonly string[] = []): EditorState {
  return { ...emptyEditor(history), text: marked.replace("|", ""), cursor: marked.indexOf("|") };
}

function marked({ text, cursor }: EditorState): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

const moves: readonly [before: string, keys: string, after: string][] = [
  ["a|b", "left", "|ab"],
  ["|ab", "left", "|ab"],
  ["a|b", "right", "ab|"],
  ["ab|", "right", "ab|"],
  ["日本|語", "left", "日|本語"],
  ["x👩‍👧|y", "left", "x|👩‍👧y"],
  ["x|👩‍👧y", "right", "x👩‍👧|y"],
  ["e\u0301|", "left", "|e\u0301"],
  ["🇦🇹🇩🇪|", "left", "🇦🇹|🇩🇪"],
  ["a\n|b", "left", "a|\nb"],
  ["a|\nb", "right", "a\n|b"],
  ["one two| three", "alt-left", "one |two three"],
  ["one| two three", "ctrl-right", "one two| three"],
  ["one two|", "alt-b", "one |two"],
  ["one| two", "alt-f", "one two|"],
  ["one\n\n|two", "alt-left", "|one\n\ntwo"],
  ["one|\n\ntwo", "alt-right", "one\n\ntwo|"],
  ["ab\nc|d\nef", "home", "ab\n|cd\nef"],
  ["ab\nc|d\nef", "end", "ab\ncd|\nef"],
  ["ab\nc|d", "ctrl-a", "ab\n|cd"],
  ["ab\n|cd", "ctrl-e", "ab\ncd|"],
  ["ab\nc|d", "up", "a|b\ncd"],
  ["a\nbcd|", "up", "a|\nbcd"],
  ["ab|c\nd", "down", "abc\nd|"],
  ["日本|\nabc", "down", "日本\nab|c"],
];
for (const [before, keys, after] of moves) {
  test(`applyKey() moves ${JSON.stringify(before)} to ${JSON.stringify(after)} on ${keys}`, () => {
    expect(marked(press(editing(before), keys).state)).toBe(after);
  });
}

const edits: readonly [before: string, keys: string, after: string][] = [
  ["ab|c", "backspace", "a|c"],
  ["|ab", "backspace", "|ab"],
  ["x👩‍👧|y", "backspace", "x|y"],
  ["a|bc", "delete", "a|c"],
  ["ab|", "delete", "ab|"],
  ["a|\nb", "delete", "a|b"],
  ["a|b", "ctrl-d", "a|"],
  ["one two| x", "alt-backspace", "one | x"],
  ["one |two x", "alt-d", "one | x"],
  ["/etc/pass wd|", "ctrl-w", "/etc/pass |"],
  ["a b  |c", "ctrl-w", "a |c"],
  ["ab\ncd|ef\ng", "ctrl-k", "ab\ncd|\ng"],
  ["ab|\ncd", "ctrl-k", "ab|cd"],
  ["ab\ncd|ef", "ctrl-u", "ab\n|ef"],
  ["a|b", "alt-return", "a\n|b"],
  ["a|b", "shift-return", "a\n|b"],
  ["a|b", "ctrl-j", "a\n|b"],
  ["a\\|", "return", "a\n|"],
];
for (const [before, keys, after] of edits) {
  test(`applyKey() changes ${JSON.stringify(before)} to ${JSON.stringify(after)} on ${keys}`, () => {
    const { state, action } = press(editing(before), keys);
    expect({ text: marked(state), action }).toEqual({ text: after, action: undefined });
  });
}

test("applyKey() inserts what a key types at the cursor", () => {
  expect(marked(press(editing("a|c"), typed("b")).state)).toBe("ab|c");
});

test("applyKey() keeps the cursor outside a grapheme that typing has joined", () => {
  expect(marked(press(editing("👩|👧"), typed("\u200d")).state)).toBe("👩‍👧|");
});

test("applyKey() submits the text and starts anew on Enter", () => {
  const { state, action } = press(editing("hel|lo"), "return");
  expect(action).toEqual({ type: "submit", text: "hello" });
  expect(state).toEqual({ text: "", cursor: 0, history: ["hello"], entry: 1, draft: "" });
});

test("applyKey() does nothing on Enter when the text is blank", () => {
  expect(press(editing(" \n |"), "return")).toEqual({ state: editing(" \n |") });
});

test("applyKey() inserts a paste with its newlines and submits nothing", () => {
  const { state, action } = press(editing("a|z"), pasted("b\r\nc\rd\n"));
  expect(marked(state)).toBe("ab\nc\nd\n|z");
  expect(action).toBeUndefined();
});

test("applyKey() takes control sequences out of a paste", () => {
  expect(press(emptyEditor(), pasted("a\x1b[31mb\x07\u202ec\td")).state.text).toBe("abc\td");
});

test("applyKey() refuses text beyond the limit and keeps what was there", () => {
  const { state, action } = press(editing("ab|"), pasted("x".repeat(MAX_TEXT)));
  expect(action).toEqual({ type: "tooLong" });
  expect(state.text).toBe("ab");
});

test("applyKey() ignores keys it has no meaning for", () => {
  const state = editing("a|b");
  for (const name of ["tab", "escape", "pageup", "f1", "ctrl-x", "alt-x", "constructor", "ctrl-toString"]) {
    expect(press(state, name)).toEqual({ state });
  }
});

test("applyKey() goes back and forth through the history and returns to the draft", () => {
  const state = editing("draft|", ["one", "two\nlines"]);
  const older = press(state, "up").state;
  expect(marked(older)).toBe("two\nlines|");
  const oldest = press(older, "up", "up").state;
  expect(marked(oldest)).toBe("one|");
  expect(marked(press(oldest, "up").state)).toBe("one|");
  expect(marked(press(oldest, "down", "down").state)).toBe("draft|");
  expect(marked(press(oldest, "down", "down", "down").state)).toBe("draft|");
});

test("applyKey() remembers a text that is submitted twice in a row once", () => {
  const { state } = press(emptyEditor(), typed("a"), "return", typed("a"), "return", typed("b"), "return");
  expect(state.history).toEqual(["a", "b"]);
});

test("applyKey() clears the text on Ctrl-C, and asks to interrupt when there is none", () => {
  const cleared = press(editing("ab|c"), "ctrl-c");
  expect(cleared).toEqual({ state: emptyEditor() });
  expect(press(cleared.state, "ctrl-c").action).toEqual({ type: "interrupt" });
});

test("applyKey() asks to leave on Ctrl-D only when there is no text", () => {
  expect(press(emptyEditor(), "ctrl-d").action).toEqual({ type: "leave" });
  expect(press(editing("a|"), "ctrl-d").action).toBeUndefined();
});

const names = [
  ...["left", "right", "up", "down", "home", "end", "backspace", "delete", "return"],
  ...["a", "b", "d", "e", "f", "j", "k", "n", "p", "u", "w"].map((name) => `ctrl-${name}`),
  ...["b", "d", "f", "left", "right", "backspace", "delete", "return"].map((name) => `alt-${name}`),
];
// Pieces that join with their neighbours: combining marks, ZWJ, flags, skin tones, Hangul, lone surrogates.
const pieces = [
  "a",
  " ",
  "\n",
  "語",
  "e\u0301",
  "\u0301",
  "👩",
  "\u200d",
  "👧",
  "🇦",
  "🇹",
  "🏽",
  "ᄀ",
  "ᅡ",
  "\ud83d",
  "\ude00",
  "\r",
  "\x1b[",
  "\\",
  "\u0600",
];
const anyKey = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...names).map(key) },
  { weight: 3, arbitrary: fc.constantFrom(...pieces).map(typed) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }).map(pasted) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...pieces)).map((parts) => pasted(parts.join(""))) },
);

function isBoundary(text: string, index: number): boolean {
  if (index === 0 || index === text.length) return true;
  const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text);
  return segments.containing(index)?.index === index;
}

test("applyKey() keeps the text well-formed and the cursor on a grapheme boundary, whatever is pressed", () => {
  fc.assert(
    fc.property(fc.array(anyKey, { maxLength: 60, size: "max" }), (keys) => {
      let state = emptyEditor(["old entry", "e\u0301👩‍👧\nx"]);
      for (const next of keys) {
        state = applyKey(state, next).state;
        expect(state.text.isWellFormed()).toBe(true);
        expect(state.text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
        expect(state.cursor).toBeWithin(0, state.text.length + 1);
        expect(isBoundary(state.text, state.cursor)).toBe(true);
        expect(state.entry).toBeWithin(0, state.history.length + 1);
      }
    }),
    { numRuns: 500 },
  );
});

test("applyKey() deletes word by word until nothing is left, however long the text is", () => {
  const { state } = press(editing(`${"x".repeat(200_000)} ${"語".repeat(20_000)}|`), "alt-backspace");
  expect(state.text).toHaveLength(200_001);
  expect(press(state, "ctrl-w").state.text).toBe("");
});
