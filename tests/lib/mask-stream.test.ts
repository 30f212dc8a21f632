import { expect, test } from "bun:test";
import fc from "fast-check";
import { maskSecrets, type SecretSpellings, secretSpellings } from "../../src/lib/mask.ts";
import { createMaskStream } from "../../src/lib/mask-stream.ts";

function masked(pieces: readonly string[], spellings: SecretSpellings | undefined): string {
  const stream = createMaskStream(() => spellings);
  return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
}

function cut(text: string, places: readonly number[]): string[] {
  const ends = [...places.map((place) => place % (text.length + 1)), text.length].sort((a, b) => a - b);
  return ends.map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));
}

// Few letters, so that secrets overlap, repeat and begin like each other.
const letters = fc.string({
  unit: fc.constantFrom("a", "b", "/", '"', "ü", "𝄞"),
  minLength: 8,
  maxLength: 12,
});
const texts = (secrets: readonly string[]) => {
  const spelled = secrets.flatMap((secret) => [
    secret,
    secret.slice(0, -1),
    secret.slice(1),
    encodeURIComponent(secret),
    JSON.stringify(secret),
    encodeURIComponent(secret).toLowerCase(),
    Buffer.from(`x${secret}y`).toString("base64"),
    ...["\n", "\r\n", "\\n"].map((lineEnd) =>
      Buffer.from(`x${secret}y`).toString("base64").replace(/.{5}/g, `$&${lineEnd}`),
    ),
  ]);
  const piece = fc.oneof(fc.constantFrom(...spelled), fc.string({ maxLength: 5 }), letters);
  return fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(""));
};
const cases = fc
  .array(letters, { minLength: 1, maxLength: 4 })
  .chain((secrets) =>
    fc.record({ secrets: fc.constant(secrets), text: texts(secrets), places: fc.array(fc.nat()) }),
  );

test("createMaskStream() gives for any cut what masking the whole gives", () => {
  fc.assert(
    fc.property(cases, ({ secrets, text, places }) => {
      const spellings = secretSpellings(secrets);
      expect(masked(cut(text, places), spellings)).toBe(maskSecrets(text, spellings));
      expect(masked([...text], spellings)).toBe(maskSecrets(text, spellings));
    }),
    { numRuns: 500 },
  );
});

test("createMaskStream() holds back no more than what could be the beginning of a secret", () => {
  const stream = createMaskStream(() => secretSpellings(["hunter2-hunter2"]));
  expect(stream.push("the word is ")).toBe("the word is ");
  expect(stream.push("see: hunt")).toBe("see: ");
  expect(stream.push("ing")).toBe("hunting");
  expect(stream.push(" hunter2-")).toBe(" ");
  expect(stream.push("hunter2")).toBe("[masked]");
  expect(stream.push("hu")).toBe("");
  expect(stream.end()).toBe("hu");
  expect(stream.end()).toBe("");
});

test("createMaskStream() takes the longer of two secrets that begin alike", () => {
  const spellings = secretSpellings(["password", "password-of-the-bank"]);
  expect(masked(["it is password", "-of-the-bank."], spellings)).toBe("it is [masked].");
  expect(masked(["it is password", "-of-the-house."], spellings)).toBe("it is [masked]-of-the-house.");
});

test("createMaskStream() knows a secret that was added while it ran", () => {
  let spellings: SecretSpellings | undefined;
  const stream = createMaskStream(() => spellings);
  expect(stream.push("hunter2-")).toBe("hunter2-");
  spellings = secretSpellings(["hunter2-hunter2"]);
  expect(stream.push("and hunter2-hunter2")).toBe("and [masked]");
});
