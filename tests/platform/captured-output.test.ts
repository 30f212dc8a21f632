import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createOutputCapture } from "../../src/platform/captured-output.ts";

function capture(keepBytes: number, chunks: readonly Uint8Array[]) {
  const output = createOutputCapture(keepBytes);
  for (const chunk of chunks) output.push(chunk);
  output.finish();
  return output.take();
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** `content` cut at arbitrary places. */
function cut(content: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...cuts.map((place) => place % (content.length + 1)), content.length].sort(
    (a, b) => a - b,
  );
  return places.slice(1).map((end, index) => content.slice(places[index], end));
}

describe("createOutputCapture()", () => {
  test("keeps all of what fits twice, however it is cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(fc.nat()), (text, cuts) => {
        const content = bytes(text);
        expect(capture(Math.ceil(content.length / 2), cut(content, cuts))).toEqual({
          head: new TextDecoder("utf-8", { ignoreBOM: true }).decode(content),
          tail: "",
          omittedBytes: 0,
        });
      }),
    );
  });

  test("keeps beginning and end of a longer text, in whole characters, and counts the rest", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 30 }),
        fc.nat(13),
        fc.array(fc.nat()),
        (text, keep, cuts) => {
          const content = bytes(text);
          const { head, tail, omittedBytes } = capture(keep, cut(content, cuts));
          expect(text.startsWith(head)).toBe(true);
          expect(text.endsWith(tail)).toBe(true);
          expect(bytes(head).length + omittedBytes + bytes(tail).length).toBe(content.length);
          // At most three bytes of a character that was cut are left out at each edge.
          expect(keep - bytes(head).length).toBeLessThanOrEqual(3);
          expect(keep - bytes(tail).length).toBeLessThanOrEqual(3);
        },
      ),
    );
  });

  test("takes any bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), fc.nat(10), (chunks, keep) => {
        const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        const { head, tail, omittedBytes } = capture(keep, chunks);
        expect((head + tail).isWellFormed()).toBe(true);
        expect(omittedBytes === 0).toBe(total <= 2 * keep);
      }),
    );
  });

  test("keeps the end of a stream that is much longer than what it keeps", () => {
    const output = createOutputCapture(5);
    for (let number = 0; number < 10_000; number++) output.push(bytes(`${number}\n`));
    expect(output.take()).toEqual({ head: "0\n1\n2", tail: "9999\n", omittedBytes: 48_880 });
  });

  test("keeps nothing but the count when told to keep nothing", () => {
    expect(capture(0, [bytes("abc"), bytes("d")])).toEqual({ head: "", tail: "", omittedBytes: 4 });
  });

  test("gives in pieces what it gives as a whole, wherever it is asked", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(fc.nat()), (text, cuts) => {
        const output = createOutputCapture(1000);
        const pieces = cut(bytes(text), cuts).map((chunk) => {
          output.push(chunk);
          return output.take().head;
        });
        output.finish();
        const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes(text));
        expect(pieces.join("") + output.take().head).toBe(whole);
      }),
    );
  });

  test("returns from each chunk what is whole of it", () => {
    const output = createOutputCapture(10);
    const [first = new Uint8Array(), second = new Uint8Array()] = cut(bytes("a—b"), [3]);
    expect(output.push(first)).toEqual(bytes("a"));
    expect(output.push(second)).toEqual(bytes("—b"));
  });

  test("shows without taking, and forgets what was taken", () => {
    const output = createOutputCapture(2);
    output.push(bytes("abcdef"));
    const shown = { head: "ab", tail: "ef", omittedBytes: 2 };
    expect(output.peek()).toEqual(shown);
    expect(output.take()).toEqual(shown);
    expect(output.take()).toEqual({ head: "", tail: "", omittedBytes: 0 });
    output.push(bytes("g"));
    expect(output.take()).toEqual({ head: "g", tail: "", omittedBytes: 0 });
  });

  test("gives the beginning of a last character as what it is", () => {
    const output = createOutputCapture(10);
    output.push(bytes("é").slice(0, 1));
    expect(output.take().head).toBe("");
    output.finish();
    expect(output.take().head).toBe("\ufffd");
  });
});
