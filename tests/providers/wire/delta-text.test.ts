import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createDeltaText } from "../../../src/providers/wire/delta-text.ts";

function textOf(pieces: readonly string[]) {
  const deltas: string[] = [];
  const text = createDeltaText("text", (delta) => void deltas.push(delta.text));
  for (const piece of pieces) text.add(piece);
  return { text, deltas };
}

describe("createDeltaText()", () => {
  test("text says what was passed on, and passes on nothing itself", () => {
    const { text, deltas } = textOf(["a", "b\ud83d"]);
    expect([text.text, text.text]).toEqual(["ab", "ab"]);
    expect(deltas).toEqual(["a", "b"]);
  });

  test("flush() passes on half a pair as the replacement character, once", () => {
    const { text, deltas } = textOf(["b\ud83d"]);
    text.flush();
    text.flush();
    expect([text.text, ...deltas]).toEqual(["b\ufffd", "b", "\ufffd"]);
  });

  test("add() passes on well-formed text whose whole is what came, however it was cut", () => {
    const units = fc.array(fc.integer({ min: 0xd7f0, max: 0xe00f }));
    const anyText = units.map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(fc.array(anyText), (pieces) => {
        const { text, deltas } = textOf(pieces);
        text.flush();
        expect(deltas.every((delta) => delta.isWellFormed() && delta !== "")).toBe(true);
        expect(deltas.join("")).toBe(text.text);
        expect(text.text).toBe(pieces.join("").toWellFormed());
      }),
    );
  });
});
