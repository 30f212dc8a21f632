import { expect, test } from "bun:test";
import fc from "fast-check";
import { linesOf, wholeLines } from "../../../src/memory/search/whole-lines.ts";

/** The lines and where each begins, out of a text that comes in parts of this length. */
async function linesIn(text: string, size: number): Promise<readonly (readonly [number, string])[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found: [number, string][] = [];
  for await (const block of wholeLines(chunks())) {
    for (const { from, to } of linesOf(block))
      found.push([block.at + from, block.bytes.toString("utf8", from, to)]);
  }
  return found;
}

test("wholeLines() gives each line once and where it begins, however the file comes", async () => {
  const line = fc.string({ unit: fc.constantFrom("a", "é", "\n", "🐈"), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(line, fc.integer({ min: 1, max: 40 }), async (text, size) => {
      const lines = text.split("\n");
      if (lines.at(-1) === "") lines.pop();
      let at = 0;
      const wanted = lines.map((one): [number, string] => {
        const begin = at;
        at += Buffer.byteLength(one) + 1;
        return [begin, one];
      });
      expect(await linesIn(text, size)).toEqual(wanted);
    }),
  );
});

test.each([64 * 1024, 5 * 1024 * 1024])(
  "wholeLines() leaves a line out that is too long, and no other, in parts of %d bytes",
  async (size) => {
    const long = "x".repeat(3 * 1024 * 1024);
    const at = "first\n".length + long.length + 1;
    const found = await linesIn(`first\n${long}\nlast\n`, size);
    expect(found.filter(([, text]) => text.length < 10)).toEqual([
      [0, "first"],
      [at, "last"],
    ]);
    const rest = await linesIn(`first\n${long}`, 64 * 1024);
    expect(rest).toEqual([[0, "first"]]);
  },
);
