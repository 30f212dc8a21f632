import { describe, expect, test } from "bun:test";
import { cleanHits } from "../../../src/web/search/hits.ts";
import { plainText } from "../../../src/web/search/plain-text.ts";

const hit = (url: unknown, title: unknown = "Title", snippet: unknown = "Snippet") => ({
  url,
  title,
  snippet,
});

describe("cleanHits()", () => {
  test.each([
    ["javascript:alert(1)"],
    ["data:text/html,x"],
    ["file:///etc/passwd"],
    ["ftp://example.com/"],
    ["//example.com/"],
    ["not an address"],
    ["https://bank.example@evil.example/"],
    ["https://user:word@example.com/"],
    [`https://example.com/${"a".repeat(2_000)}`],
    [""],
    [undefined],
    [7],
    [{ href: "https://example.com/" }],
  ])("leaves out what has %p for an address", (url) => {
    expect(cleanHits([hit(url), hit("https://example.com/good")], 5)).toEqual([
      { url: "https://example.com/good", title: "Title", snippet: "Snippet" },
    ]);
  });

  test("spells addresses so that none looks like another", () => {
    const raw = [hit("HTTPS://EXAMPLE.com/a b\u202e"), hit("https://\u0430pple.example/")];
    expect(cleanHits(raw, 5).map(({ url }) => url)).toEqual([
      "https://example.com/a%20b%E2%80%AE",
      "https://xn--pple-43d.example/",
    ]);
  });

  test("gives an address once", () => {
    const raw = [hit("https://example.com", "First"), hit("https://example.com/", "Second")];
    expect(cleanHits(raw, 5).map(({ title }) => title)).toEqual(["First"]);
  });

  test("shows the address where there is no title", () => {
    expect(
      cleanHits([hit("https://example.com/", null), hit("https://example.org/", " \u200b ")], 5),
    ).toMatchObject([{ title: "https://example.com/" }, { title: "https://example.org/" }]);
  });

  test("cuts long texts without breaking a character", () => {
    const [first] = cleanHits([hit("https://example.com/", "🐈".repeat(500), "🐈".repeat(5_000))], 5);
    expect(first?.title.length).toBeLessThanOrEqual(200);
    expect(first?.snippet.length).toBeLessThanOrEqual(600);
    expect([first?.title.isWellFormed(), first?.snippet.isWellFormed()]).toEqual([true, true]);
  });

  test("looks at no more than a hundred", () => {
    const raw = Array.from({ length: 200 }, (_, at) => hit(at < 100 ? "no" : `https://example.com/${at}`));
    expect(cleanHits(raw, 5)).toEqual([]);
  });
});

describe("plainText()", () => {
  test.each([
    [
      "tags",
      "<b>bold</b> and <a href='x'>link</a><br/>next <SPAN class=\"x\">span</SPAN>",
      "bold and link next span",
    ],
    [
      "no code that only looks like tags",
      "Vec<String> and #include <vector> if a < b && c > d",
      "Vec<String> and #include <vector> if a < b && c > d",
    ],
    [
      "entities, once",
      "a &amp; b &lt;b&gt; &#x27;c&#39; &nbsp;d &amp;lt; &hellip;",
      "a & b <b> 'c' d &lt; …",
    ],
    ["no entity that it does not know", "&fjlig; &; & &#; &bogus;", "&fjlig; &; & &#; &bogus;"],
    ["entities of no character", "a&#0;b&#xD800;c&#x110000;d", "a\ufffdb\ufffdc\ufffdd"],
    ["escape sequences whole", "\u001b[31mred\u001b[0m \u009b1mx", "red 1mx"],
    ["controls that hide in entities", "a&#27;[2J&#x202e;b&#8203;c", "abc"],
    ["what turns or hides text", "a\u202eb\u2066c\u200bd\u00ade\ufefff\u{e0041}g\ufe0fh", "abcdefgh"],
    ["white space of any kind", " a\r\n\tb\u2028c\u3000 d ", "a b c d"],
    ["lone surrogates", "a\ud800b", "a\ufffdb"],
  ])("takes care of %s", (_, text, expected) => {
    expect(plainText(text, 200)).toBe(expected);
  });

  test("is empty for what is no text", () => {
    expect([undefined, null, 7, {}, ["a"]].map((value) => plainText(value, 10))).toEqual([
      "",
      "",
      "",
      "",
      "",
    ]);
  });
});
