import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readBounded } from "../../../src/providers/wire/body.ts";
import { BrokenOff } from "../../../src/providers/wire/errors.ts";
import { cutAtOffsets } from "../../fakes/chat-reply.ts";

function responseOf(chunks: readonly Uint8Array[], onCancel = () => {}): Response {
  const rest = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = rest.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: onCancel,
  });
  return new Response(body);
}

const encode = (text: string) => new TextEncoder().encode(text);

describe("readBounded()", () => {
  test("reads all of a body that is within the bound, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.array(fc.nat(40)), async (text, cuts) => {
        const bytes = encode(text);
        const chunks = cutAtOffsets(bytes, cuts);
        const whole = { text: new TextDecoder().decode(bytes), isWhole: true };
        expect(await readBounded(responseOf(chunks), bytes.length)).toEqual(whole);
      }),
    );
  });

  test("reads no more than the bound, and closes the connection", async () => {
    let isCutOff = false;
    const endless = responseOf(Array(1_000).fill(encode("abc")), () => {
      isCutOff = true;
    });
    expect(await readBounded(endless, 7)).toEqual({ text: "abcabca", isWhole: false });
    expect(isCutOff).toBe(true);
  });

  test("finds nothing where there is no body", async () => {
    expect(await readBounded(new Response(null), 7)).toEqual({ text: "", isWhole: true });
  });

  test("rejects with a BrokenOff when the connection breaks", async () => {
    const body = new ReadableStream({
      pull() {
        throw new Error("reset");
      },
    });
    await expect(readBounded(new Response(body), 7)).rejects.toThrow(BrokenOff);
  });
});
