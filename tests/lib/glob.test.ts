import { expect, test } from "bun:test";
import fc from "fast-check";
import { createGlob } from "../../src/lib/glob.ts";

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "deep/er/a.ts", true],
  ["*.ts", "a.tsx", false],
  ["*", ".hidden", true],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/b/a.ts", false],
  ["src/*.ts", "other/src/a.ts", false],
  ["/a.ts", "a.ts", true],
  ["/a.ts", "src/a.ts", false],
  ["./*.ts", "src/a.ts", false],
  ["./src/*", "src/a", true],
  ["src/**", "src/a/b.ts", true],
  ["src/**", "src", false],
  ["src/", "src/a/b", true],
  ["src/", "x/src/a", true],
  ["src/", "src", false],
  ["/src/", "x/src/a", false],
  ["a/src/", "a/src/b/c", true],
  ["**/*.test.ts", "a.test.ts", true],
  ["**/*.test.ts", "x/y/a.test.ts", true],
  ["src/**/test/*.ts", "src/test/a.ts", true],
  ["src/**/test/*.ts", "src/x/y/test/a.ts", true],
  ["**", "a/b", true],
  ["a**b", "axxb", true],
  ["?.md", "a.md", true],
  ["?.md", "😀.md", true],
  ["?.md", "ab.md", false],
  ["[a-c].md", "b.md", true],
  ["[!a-c].md", "b.md", false],
  ["[!a-c].md", "d.md", true],
  ["[^a]x", "bx", true],
  ["[]x].md", "].md", true],
  ["\\[.md", "[.md", true],
  ["*.{ts,tsx}", "a.tsx", true],
  ["*.{ts,tsx}", "a.js", false],
  ["{src,test}/**/*.ts", "test/x/a.ts", true],
  ["{a,{b,c}}.x", "c.x", true],
  ["\\{a", "{a", true],
  ["a,b", "a,b", true],
  ["!*.md", "a.ts", true],
  ["!*.md", "x/a.md", false],
  ["!vendor", "vendor/a/b.ts", false],
  ["!vendor", "x/vendor/b.ts", false],
  ["!vendor/", "vendor/b.ts", false],
  ["!vendor/", "vendor", true],
  ["!/vendor", "x/vendor/b.ts", true],
  ["!src/*", "src/a/b.ts", false],
  ["!src/**/test", "src/a/test/b.ts", false],
  ["!src/**/test", "src/a/tests/b.ts", true],
  ["\\*.md", "*.md", true],
  ["\\*.md", "a.md", false],
  ["a+b(c).$d^|", "a+b(c).$d^|", true],
  ["日本*.txt", "日本語.txt", true],
])("createGlob() knows whether %p means %p", (glob, path, isMeant) => {
  expect(createGlob(glob)(path)).toBe(isMeant);
});

test.each(["", "!", "/"])("createGlob() refuses %p, which means nothing", (glob) => {
  expect(() => createGlob(glob)).toThrow("it is empty");
});

test.each(["../*", "a/../../b", "/../x", "!../x"])("createGlob() refuses %p, which leads up", (glob) => {
  expect(() => createGlob(glob)).toThrow("name another folder with path");
});

test.each([
  ["[z-a].ts", 'the range "z-a" goes backwards'],
  ["{".repeat(150) + "}".repeat(150), "nested too deeply"],
  ["[", 'its "\\[" is not closed; put a backslash'],
  ["a/[]", "is not closed"],
  ["{", 'its "{" is not closed'],
  ["!{a,{b}", "is not closed"],
])("createGlob() says what is wrong with %p in terms of the glob", (glob, why) => {
  expect(() => createGlob(glob)).toThrow(new RegExp(`^Cannot use the glob .*: .*${why}`));
});

test("createGlob() takes any text or says why not", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(..."ab*?[]{}!^-,/\\.&~|()$+:") }),
      fc.string(),
      (glob, path) => {
        try {
          createGlob(glob)(path);
        } catch (error) {
          expect(error).toMatchObject({ name: "UserError" });
        }
      },
    ),
    { numRuns: 3_000 },
  );
});

test("createGlob() means a path that is written as it is", () => {
  const name = fc
    .string({ unit: "grapheme", minLength: 1 })
    .filter((text) => !/[/\n\r]/.test(text) && text !== "..");
  fc.assert(
    fc.property(name, (path) => {
      const glob = path.replace(/[*?[\]{},!\\^&~]/g, (special) => `\\${special}`);
      expect(createGlob(glob)(path)).toBe(true);
      expect(createGlob(glob)(`${path}x`)).toBe(false);
    }),
  );
});

test("createGlob() needs no more time for many stars", () => {
  expect(createGlob(`${"*a".repeat(50)}*b`)("a".repeat(5_000))).toBe(false);
});
