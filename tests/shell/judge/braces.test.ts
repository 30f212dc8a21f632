import { expect, test } from "bun:test";
import fc from "fast-check";
import { expandBraces } from "../../../src/shell/judge/braces.ts";
import { parseCommand } from "../../../src/shell/judge/parse-command.ts";
import { shown } from "../../../src/shell/judge/word.ts";

test.each([
  ["a{b,c}d", ["abd", "acd"]],
  ["{a,b{c,d}}", ["a", "bc", "bd"]],
  ["x{,.bak}", ["x", "x.bak"]],
  ["{a}", ["{a}"]],
  ["{a,b", ["{a,b"]],
  ["{a,{b}}", ["a", "{b}"]],
  ["\\{a,b}", ["\\{a,b}"]],
  ["{a\\,b,c}", ["a\\,b", "c"]],
  ["f{1..12}", ["f?", "f??"]],
  ["{a..c}{-1..1}", ["??", "???"]],
  ["{a..1}", ["{a..1}"]],
  ["x{a},b}", ["xa}", "xb"]],
  ["x{},b}", ["x}", "xb"]],
  ["{}{a,b}", ["{}a", "{}b"]],
  ["{},b}", ["{},b}"]],
  ["x{,b}{},b}", ["x{},b}", "xb{},b}"]],
])("expandBraces() makes of %j what the shell does, and of a range a pattern", (source, texts) => {
  expect(expandBraces(source)).toEqual(texts);
});

test("expandBraces() refuses what nobody writes by hand, soon", () => {
  expect(() => expandBraces("{a,b}".repeat(11))).toThrow("more than 1024 words");
  expect(() => expandBraces(`${"{a,".repeat(60)}b${"}".repeat(60)}`)).toThrow("too many times");
  expect(() => expandBraces("{,".repeat(50_000))).toThrow("more than 500 braces");
  expect(() => expandBraces(`{${",".repeat(50_000)}}`)).toThrow("more than 1024 words");
});

test("expandBraces() agrees with bash", () => {
  const source = fc
    .array(fc.constantFrom("{", "}", ",", "a", "b", "{a,", ",b}", "\\{", "\\,"), { maxLength: 14 })
    .map((parts) => `x${parts.join("")}`);
  fc.assert(
    fc.property(fc.array(source, { minLength: 20, maxLength: 20 }), (sources) => {
      const script = sources.map((one) => `printf '%s ' ${one}; echo`).join("\n");
      const lines = Bun.spawnSync(["bash", "-c", script]).stdout.toString().split("\n");
      for (const [index, one] of sources.entries()) {
        const words = expandBraces(one).map((text) => text.replace(/\\(.)/g, "$1"));
        expect([one, words.join(" ")]).toEqual([one, lines[index]?.trimEnd() ?? ""]);
      }
    }),
    { numRuns: 20 },
  );
});

async function wordsOf(command: string): Promise<readonly string[]> {
  const result = await parseCommand(command);
  return result.kind === "parsed" ? (result.parsed.commands[0]?.words ?? []).map(shown) : [result.reason];
}

test("parseCommand() expands braces around quotes, variables and patterns", async () => {
  expect(await wordsOf('cat {"/etc/passwd",x}')).toEqual(["cat", "/etc/passwd", "x"]);
  expect(await wordsOf("cat {$x,/etc/passwd}")).toEqual(["cat", "$x", "/etc/passwd"]);
  expect(await wordsOf("cat o[u]t/{a,'b,c'}")).toEqual(["cat", "o[u]t/a", "o[u]t/b,c"]);
  expect(await wordsOf("cat '{a,b}' \"{a,b}\" \\{a,b}")).toEqual(["cat", "{a,b}", "{a,b}", "{a,b}"]);
  expect(await wordsOf("{r,}m{,} -rf")).toEqual(["rm", "rm", "m", "m", "-rf"]);
});
