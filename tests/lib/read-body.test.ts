import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { declaredBytes, readBody } from "../../src/lib/read-body.ts";
import { createFakeClock } from "../fakes/clock.ts";

const address = "http://127.0.0.1/";

function requestOf(
  body: ReadableStream | Uint8Array | string,
  headers: Record<string, string> = {},
): Request {
  return new Request(address, { method: "POST", body, headers, duplex: "half" } as RequestInit);
}

function streamOf(...chunks: readonly string[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
}

const textOf = (result: Awaited<ReturnType<typeof readBody>>) =>
  result.ok ? new TextDecoder().decode(result.bytes) : result.status;

describe("readBody()", () => {
  const clock = createFakeClock();

  test("reads a body in one and in many pieces", async () => {
    expect(textOf(await readBody(requestOf("päper"), { maxBytes: 6, clock }))).toBe("päper");
    expect(textOf(await readBody(requestOf(streamOf("a", "", "bc")), { maxBytes: 3, clock }))).toBe("abc");
  });

  test("reads no body as an empty one", async () => {
    expect(textOf(await readBody(new Request(address), { maxBytes: 0, clock }))).toBe("");
    expect(textOf(await readBody(requestOf(""), { maxBytes: 0, clock }))).toBe("");
  });

  test("refuses with 413 what is larger, wherever its pieces end", async () => {
    for (const body of ["abcd", streamOf("abcd"), streamOf("abc", "d"), streamOf("a", "b", "c", "d")]) {
      expect(textOf(await readBody(requestOf(body), { maxBytes: 3, clock }))).toBe(413);
    }
  });

  test("refuses by the length that is declared before it reads anything", async () => {
    let pulled = 0;
    const body = new ReadableStream(
      {
        pull() {
          pulled++;
        },
      },
      { highWaterMark: 0 },
    );
    const request = requestOf(body, { "content-length": "4" });
    expect(textOf(await readBody(request, { maxBytes: 3, clock }))).toBe(413);
    expect(pulled).toBe(0);
  });

  test("does not believe a length that is too small or no number", async () => {
    for (const length of ["1", "-1", "1e9", "three", "0x1", ""]) {
      const headers = { "content-length": length };
      const body = () => requestOf(streamOf("abcd"), headers);
      expect(textOf(await readBody(body(), { maxBytes: 3, clock }))).toBe(413);
      expect(textOf(await readBody(body(), { maxBytes: 4, clock }))).toBe("abcd");
    }
  });

  test("stops reading a body without end", async () => {
    let isCancelled = false;
    let given = 0;
    const body = new ReadableStream({
      pull(controller) {
        given += 1000;
        controller.enqueue(new Uint8Array(1000));
      },
      cancel() {
        isCancelled = true;
      },
    });
    expect(textOf(await readBody(requestOf(body), { maxBytes: 5000, clock }))).toBe(413);
    expect(isCancelled).toBe(true);
    expect(given).toBeLessThan(20_000);
  });

  test("ends with 408 what stalls, and leaves no timer", async () => {
    const own = createFakeClock();
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
    const reading = readBody(requestOf(body), { maxBytes: 10, clock: own, timeoutMs: 5000 });
    await own.whenPending(1);
    await own.advance(4999);
    expect(own.pending).toBe(1);
    await own.advance(1);
    expect(await reading).toEqual({ ok: false, status: 408, reason: "the body did not come within 5 s" });
    expect(own.pending).toBe(0);
  });

  test("ends with 408 what comes a byte at a time", async () => {
    const own = createFakeClock();
    const body = new ReadableStream({
      async pull(controller) {
        await own.sleep(1000, new AbortController().signal);
        controller.enqueue(new Uint8Array(1));
      },
    });
    const reading = readBody(requestOf(body), { maxBytes: 1000, clock: own });
    await own.whenPending(2);
    await own.advance(30_000);
    expect(textOf(await reading)).toBe(408);
  });

  test("leaves no timer when all is well", async () => {
    const own = createFakeClock();
    await readBody(requestOf("abc"), { maxBytes: 3, clock: own });
    expect(own.pending).toBe(0);
  });

  test("answers 400 to a body that breaks off, and to one that was read", async () => {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error("the connection was closed")),
    });
    expect(textOf(await readBody(requestOf(broken), { maxBytes: 3, clock }))).toBe(400);
    const request = requestOf("abc");
    await request.text();
    expect(textOf(await readBody(request, { maxBytes: 3, clock }))).toBe(400);
  });

  test("answers 400 when the client goes away", async () => {
    const controller = new AbortController();
    const body = new ReadableStream({});
    const request = new Request(address, {
      method: "POST",
      body,
      duplex: "half",
      signal: controller.signal,
    } as RequestInit);
    const reading = readBody(request, { maxBytes: 3, clock });
    controller.abort();
    expect(textOf(await reading)).toBe(400);
  });

  test("gives back every byte in its order, in whatever pieces they come", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 10 }), async (chunks) => {
        const whole = Buffer.concat(chunks);
        const body = () =>
          new ReadableStream({
            start(controller) {
              for (const chunk of chunks) controller.enqueue(chunk);
              controller.close();
            },
          });
        const fits = await readBody(requestOf(body()), { maxBytes: whole.length, clock });
        expect(fits.ok && Buffer.compare(fits.bytes, whole)).toBe(0);
        if (whole.length === 0) return;
        expect(textOf(await readBody(requestOf(body()), { maxBytes: whole.length - 1, clock }))).toBe(413);
      }),
    );
  });
});

test("declaredBytes() is 0 for what is no length", () => {
  for (const [length, bytes] of [
    ["12", 12],
    ["012", 12],
    ["-1", 0],
    ["1.5", 0],
    ["", 0],
  ] as const) {
    const request = new Request(address, { headers: { "content-length": length } });
    expect(declaredBytes(request)).toBe(bytes);
  }
});
