import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseWebAddress } from "../../src/lib/web-address.ts";
import { createGuardedFetch } from "../../src/platform/guarded-fetch.ts";
import type { OutgoingRequest } from "../../src/platform/web-request.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createNameServer } from "../fakes/web-names.ts";
import corpus from "../fixtures/urls.json" with { type: "json" };

/** A guard in front of a network that takes everything and remembers it. */
function createGuard() {
  const sent: OutgoingRequest[] = [];
  const guard = createGuardedFetch({
    lookUp: createNameServer(corpus.names).lookUp,
    clock: createFakeClock(),
    async send(request) {
      sent.push(request);
      return { status: 200, headers: {}, body: noBytes(), cancel() {} };
    },
  });
  const { signal } = new AbortController();
  return { sent, get: (url: string) => guard.fetch(url, { maxBytes: 1, timeoutMs: 1_000, signal }) };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const urlsThatAre = (judgement: string) =>
  corpus.urls.filter((row) => row.judgement === judgement).map(({ url }) => url);

test("urls.json holds at least 100 addresses of known judgements", () => {
  const known = ["inside", "invalid", "public"].map(urlsThatAre);
  expect(known.flat()).toHaveLength(corpus.urls.length);
  expect(corpus.urls.length).toBeGreaterThan(100);
  for (const urls of known) expect(urls.length).toBeGreaterThan(30);
});

test.each(urlsThatAre("invalid"))("fetch() refuses %j, which is no web address", async (url) => {
  const { sent, get } = createGuard();
  expect(parseWebAddress(url).ok).toBe(false);
  expect(await get(url)).toMatchObject({ ok: false, kind: "refused" });
  expect(sent).toEqual([]);
});

test.each(urlsThatAre("inside"))("fetch() refuses %j, which leads inside", async (url) => {
  const { sent, get } = createGuard();
  expect(parseWebAddress(url).ok).toBe(true);
  const result = await get(url);
  expect(result).toMatchObject({ ok: false, kind: "refused" });
  expect(result.ok || result.reason).toContain("tools.ssrfWhitelist can allow it");
  expect(sent).toEqual([]);
});

test.each(urlsThatAre("public"))("fetch() requests %j", async (url) => {
  const { sent, get } = createGuard();
  expect(await get(url)).toMatchObject({ ok: true, status: 200 });
  expect(sent).toHaveLength(1);
});

const privateAddress = fc
  .tuple(
    fc.constantFrom(
      [10, 0, 8],
      [127, 0, 8],
      [0, 0, 8],
      [172, 16, 12],
      [192, 168, 16],
      [169, 254, 16],
      [100, 64, 10],
      [224, 0, 4],
      [240, 0, 4],
    ),
    fc.nat(0xffff_ffff),
  )
  .map(([[first = 0, second = 0, bits = 0], rest]) => {
    const network = first * 2 ** 24 + second * 2 ** 16;
    return network + (rest % 2 ** (32 - bits));
  });

type Radix = 8 | 10 | 16;
const spelt = (value: number, radix: Radix, zeros: number) =>
  ({ 8: "0", 10: "", 16: "0x" })[radix] + "0".repeat(radix === 10 ? 0 : zeros) + value.toString(radix);

/** All the ways in which the four bytes can be written: fewer parts, other bases, leading zeros. */
const ipv4Spelling = fc
  .record({
    ip: privateAddress,
    parts: fc.integer({ min: 1, max: 4 }),
    radices: fc.array(fc.constantFrom<Radix>(8, 10, 16), { minLength: 4, maxLength: 4 }),
    zeros: fc.nat(3),
  })
  .map(({ ip, parts, radices, zeros }) => {
    const bytes = [24, 16, 8, 0].map((shift) => Math.floor(ip / 2 ** shift) % 256);
    const last = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0);
    return [...bytes.slice(0, parts - 1), last]
      .map((value, index) => spelt(value, radices[index] ?? 10, zeros))
      .join(".");
  });

/** Characters that Unicode counts as the same. */
const disguised = fc.tuple(ipv4Spelling, fc.infiniteStream(fc.nat(3))).map(([text, choices]) =>
  [...text]
    .map((char) => {
      const choice = choices.next().value ?? 0;
      if (choice === 1) return `%${char.charCodeAt(0).toString(16)}`;
      if (choice === 2) return char === "." ? "。" : String.fromCodePoint(char.charCodeAt(0) + 0xfee0);
      return choice === 3 ? `${char}\u00ad` : char;
    })
    .join(""),
);

const ipv6Around = privateAddress.chain((ip) => {
  const high = Math.floor(ip / 65_536).toString(16);
  const low = (ip % 65_536).toString(16);
  return fc.constantFrom(
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:FFFF:${high}:${low}]`,
    `[::${high}:${low}]`,
    `[::ffff:0:${high}:${low}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::]`,
    `[2001:0:${high}:${low}::1]`,
  );
});

test("fetch() sends nothing to a private address, however it is spelt", async () => {
  const { sent, get } = createGuard();
  const host = fc.oneof(ipv4Spelling, disguised, ipv6Around);
  const url = fc
    .tuple(
      fc.constantFrom("http://", "https://", "http:\\\\", "HTTP:/"),
      host,
      fc.constantFrom("", ".", ":80", "/x"),
    )
    .map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(url, async (text) => {
      expect(await get(text)).toMatchObject({ ok: false, kind: "refused" });
    }),
    { numRuns: 2_000 },
  );
  expect(sent).toEqual([]);
});

test("fetch() never throws, whatever it is asked for", async () => {
  const { get } = createGuard();
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.webUrl(),
    fc.webUrl().map((url) => url.toUpperCase()),
  );
  await fc.assert(fc.asyncProperty(text, async (url) => expect(typeof (await get(url)).ok).toBe("boolean")));
});
