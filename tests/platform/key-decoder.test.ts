import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Key } from "../../src/core/platform.ts";
import { createKeyDecoder } from "../../src/platform/key-decoder.ts";

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** What the chunks mean, one read after the other, with nothing after. */
function decode(...chunks: (string | Uint8Array)[]): Key[] {
  const decoder = createKeyDecoder();
  const keys = chunks.flatMap((chunk) => decoder.push(typeof chunk === "string" ? bytes(chunk) : chunk));
  return [...keys, ...decoder.flush()];
}

/** `ctrl+meta+shift+name:text`, as far as it applies. */
function short({ name, text, ctrl, meta, shift }: Key): string {
  return `${ctrl ? "ctrl+" : ""}${meta ? "meta+" : ""}${shift ? "shift+" : ""}${name}${text ? `:${text}` : ""}`;
}

describe("push()", () => {
  const cases: [string, string][] = [
    ["a", "a:a"],
    ["A", "shift+a:A"],
    ["7", "7:7"],
    [" ", "space: "],
    ["é", "é:é"],
    ["猫", "猫:猫"],
    ["🐈", "🐈:🐈"],
    ["\r", "return"],
    ["\n", "enter"],
    ["\t", "tab"],
    ["\x7f", "backspace"],
    ["\b", "backspace"],
    ["\x03", "ctrl+c"],
    ["\x04", "ctrl+d"],
    ["\0", "ctrl+space"],
    ["\x1f", "ctrl+_"],
    ["\x1b", "escape"],
    ["\x1bb", "meta+b"],
    ["\x1b\r", "meta+return"],
    ["\x1b\x7f", "meta+backspace"],
    ["\x1b[A", "up"],
    ["\x1b[B", "down"],
    ["\x1b[C", "right"],
    ["\x1b[D", "left"],
    ["\x1bOA", "up"],
    ["\x1bOH", "home"],
    ["\x1bOP", "f1"],
    ["\x1b[[A", "f1"],
    ["\x1b[H", "home"],
    ["\x1b[F", "end"],
    ["\x1b[1~", "home"],
    ["\x1b[4~", "end"],
    ["\x1b[3~", "delete"],
    ["\x1b[5~", "pageup"],
    ["\x1b[6~", "pagedown"],
    ["\x1b[Z", "shift+tab"],
    ["\x1b[1;5D", "ctrl+left"],
    ["\x1b[1;3C", "meta+right"],
    ["\x1b[3;2~", "shift+delete"],
    ["\x1b[13;2u", "shift+return"],
    ["\x1b[27;2;13~", "shift+return"],
    ["\x1b[99;5u", "ctrl+c"],
    ["\x1b[97:65;2:1u", "shift+a:a"],
  ];
  test.each(cases)("reads %j as %s", (input, expected) => {
    expect(decode(input).map(short)).toEqual([expected]);
  });

  test.each(["\x1b[I", "\x1b[<0;1;2M", "\x1b[?1;2c", "\x1b[99999999u", "\x1b[55296u", "\x1b[201~"])(
    "drops %j, which is no key",
    (input) => {
      expect(decode(input, "x").map(short)).toEqual(["x:x"]);
    },
  );

  test("reads the same keys wherever the input is cut", () => {
    const input = fc.array(
      fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom(...cases.map(([keys]) => keys))),
    );
    fc.assert(
      fc.property(input, fc.nat(), fc.nat(), (parts, one, two) => {
        const whole = bytes(parts.join(""));
        const [first = 0, second = 0] = [one, two].map((at) => at % (whole.length + 1)).sort((a, b) => a - b);
        expect(decode(whole.slice(0, first), whole.slice(first, second), whole.slice(second))).toEqual(
          decode(whole),
        );
      }),
    );
  });

  test("gives typed text back in order", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const typed = text.replace(/[\x00-\x1f\x7f-\x9f]/g, "");
        expect(
          decode(typed)
            .map((key) => key.text)
            .join(""),
        ).toBe(typed);
      }),
    );
  });

  test("takes any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array()), (chunks) => {
        for (const key of decode(...chunks)) expect((key.name + key.text).isWellFormed()).toBe(true);
      }),
    );
  });

  test("gives a paste as one key, with LF for every kind of line end and without control sequences", () => {
    expect(decode("a\x1b[200~1\r\n2\r3\n\t\x1b[31m4\x1b[201~b")).toEqual([
      { name: "a", text: "a", ctrl: false, meta: false, shift: false },
      { name: "paste", text: "1\n2\n3\n\t4", ctrl: false, meta: false, shift: false },
      { name: "b", text: "b", ctrl: false, meta: false, shift: false },
    ]);
  });

  test("gives a paste as one key wherever it is cut", () => {
    const pasted = bytes("\x1b[200~é\r\n猫\x1b[201~");
    for (let at = 0; at <= pasted.length; at++) {
      const decoder = createKeyDecoder();
      const keys = [...decoder.push(pasted.slice(0, at)), ...decoder.push(pasted.slice(at))];
      expect(keys.map(short)).toEqual(["paste:é\n猫"]);
    }
  });

  test("keeps a paste bounded", () => {
    const decoder = createKeyDecoder();
    decoder.push(bytes("\x1b[200~"));
    const megabyte = bytes("x".repeat(1024 * 1024));
    for (let count = 0; count < 10; count++) decoder.push(megabyte);
    expect(decoder.push(bytes("\x1b[201~"))[0]?.text.length).toBe(4 * 1024 * 1024);
  });
});

describe("isWaiting", () => {
  test("is true only while an ESC may begin a sequence", () => {
    const decoder = createKeyDecoder();
    expect(decoder.isWaiting).toBe(false);
    decoder.push(bytes("\x1b"));
    expect(decoder.isWaiting).toBe(true);
    decoder.push(bytes("[1;5"));
    expect(decoder.isWaiting).toBe(true);
    decoder.push(bytes("D"));
    expect(decoder.isWaiting).toBe(false);
  });

  test("is false in a paste, however long it takes", () => {
    const decoder = createKeyDecoder();
    decoder.push(bytes("\x1b[200~half\x1b"));
    expect(decoder.isWaiting).toBe(false);
    expect(decoder.flush()).toEqual([]);
    expect(decoder.push(bytes("[201~")).map(short)).toEqual(["paste:half"]);
  });
});
