import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { createPlainText } from "../../../src/lib/markdown/plain-text.ts";
import { createTelegramRenderer } from "../../../src/lib/markdown/telegram-html.ts";
import { markdownish } from "./arbitrary.ts";
import { checkedText } from "./check-html.ts";

const render = await createTelegramRenderer();
const plainText = await createPlainText();

const rendered: readonly (readonly [what: string, markdown: string, html: string])[] = [
  ["bold and italic together", "***both***", "<i><b>both</b></i>"],
  ["bold and italic by underscores", "___both___", "<i><b>both</b></i>"],
  ["marks that cross", "**a *b** c*", "<i>a b c</i>"],
  ["code in bold", "**a `c**d` x**", "<b>a <code>c**d</code> x</b>"],
  ["struck text", "~~gone~~", "<s>gone</s>"],
  ["a spoiler", "||the *end*||", "<tg-spoiler>the <i>end</i></tg-spoiler>"],
  ["an or that is no spoiler", "a || b || c", "a || b || c"],
  ["bold quotes before Chinese", "**“引号”**后文", "<b>“引号”</b>后文"],
  ["bold brackets before Chinese", "**中文（括号）**后文", "<b>中文（括号）</b>后文"],
  ["bold behind Japanese", "これは**「大事」**です", "これは<b>「大事」</b>です"],
  ["bold code before Chinese", "用**`npm i`**命令", "用<b><code>npm i</code></b>命令"],
  ["a bold exclamation before Chinese", "**注意!**请", "<b>注意!</b>请"],
  ["stars of a program", "f(**a) and g(**b)", "f(**a) and g(**b)"],
  ["ors of a program", "if (a||b) and c||d", "if (a||b) and c||d"],
  ["signs of markup in text", "a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"],
  ["named and numbered characters", "&amp; &copy; &#60; &unknown;", "&amp; © &lt; &amp;unknown;"],
  ["an escaped entity", "\\&amp;", "&amp;amp;"],
  ["an entity in code", "`&amp;`", "<code>&amp;amp;</code>"],
  ["HTML as text", "<b>x</b><script>y</script>", "&lt;b&gt;x&lt;/b&gt;&lt;script&gt;y&lt;/script&gt;"],
  ["a link", "[a](http://x.y/?p=1&q=2)", '<a href="http://x.y/?p=1&amp;q=2">a</a>'],
  ["a quote in an address", '[a](<http://x.y/"z">)', '<a href="http://x.y/&quot;z&quot;">a</a>'],
  ["a link to a user", "[a](tg://user?id=1)", '<a href="tg://user?id=1">a</a>'],
  ["a link of a harmful scheme", "[a](javascript:alert(1))", "a"],
  ["a harmful scheme in disguise", "[a](&#106;avascript:alert(1))", "a"],
  ["a link that is no address", "[a](./b.md)", "a (./b.md)"],
  ["a link without a text", "[](http://x.y)", '<a href="http://x.y">http://x.y</a>'],
  ["an address", "<http://x.y> and me@x.org", "http://x.y and me@x.org"],
  ["an image", "![alt](http://x.y/i.png)", '<a href="http://x.y/i.png">alt</a>'],
  ["an image in a link", "[![alt](http://i)](http://x.y)", '<a href="http://x.y">alt</a>'],
  ["code in a link", "[`c`](http://x.y)", '<a href="http://x.y">c</a>'],
  ["a link in a heading", "## A [b](http://x.y)", '<b>A <a href="http://x.y">b</a></b>'],
  ["bold in a heading", "# **T** x", "<b>T x</b>"],
  ["a list", "- a\n- b\n  - c\n    - d", "• a\n• b\n  • c\n    • d"],
  ["a numbered list", "3. a\n4. b", "3. a\n4. b"],
  ["tasks", "- [ ] a\n- [x] b", "☐ a\n☑ b"],
  [
    "code in a list",
    "- a\n  ```js\n  x<1\n    y\n  ```\n- b",
    '• a\n<pre><code class="language-js">x&lt;1\n  y</code></pre>\n• b',
  ],
  ["a quote", "> a\n> b", "<blockquote>a\nb</blockquote>"],
  ["a quote in a quote", "> a\n> > b", "<blockquote>a\n\nb</blockquote>"],
  ["code in a quote", "> ```\n> c\n> ```", "<blockquote><pre>c</pre></blockquote>"],
  ["a fence without an end", "```py\na", '<pre><code class="language-py">a</code></pre>'],
  ["a language that is none", '```"><b>\na\n```', "<pre>a</pre>"],
  ["a table", "|a|中文|\n|-|-|\n|长长|b|", "<pre>a    | 中文\n-----+-----\n长长 | b</pre>"],
  [
    "a table with marks in it",
    "|a|\n|-|\n|**b** [c](http://d)|",
    "<pre>a\n--------------\nb c (http://d)</pre>",
  ],
  ["a footnote", "a[^1]\n\n[^1]: note", "a[^1]\n\n[^1]: note"],
  ["a definition nobody uses", "[r]: http://x.y", "[r]: http://x.y"],
  ["a definition that is used", "[a][r]\n\n[r]: http://x.y", '<a href="http://x.y">a</a>'],
  ["lines", "a\nb  \nc\\\nd", "a\nb\nc\nd"],
  ["a rule", "a\n\n---\n\nb", "a\n\n———\n\nb"],
  ["marks without an end", "**bold `code [a](http://", "**bold `code [a](http://"],
  ["nothing but marks", "```", "```"],
  ["marks around what cannot be seen", "a **\u200b** `\u200b`", "a \u200b \u200b"],
  ["an image whose text cannot be seen", "![\u200b](http://x.y)", '<a href="http://x.y">http://x.y</a>'],
];

test.each(rendered)("createTelegramRenderer() renders %s", (_, markdown, html) => {
  expect(render(markdown)).toBe(html);
  checkedText(html);
});

const shown: readonly (readonly [what: string, markdown: string, text: string])[] = [
  ["a link", "[a](http://x.y)", "a (http://x.y)"],
  ["a link that says where it goes", "[http://x.y](http://x.y)", "http://x.y"],
  ["styles", "**a** _b_ ~~c~~ ||d|| `e`", "a b c d e"],
  ["signs of markup", "a &lt; b & <i>", "a < b & <i>"],
  ["code", "```js\na < b\n```", "a < b"],
  ["a table", "|a|b|\n|-|-|\n|c|d|", "a | b\nc | d"],
  ["a list and a quote", "- a\n\n> b", "• a\n\nb"],
];

test.each(shown)("createPlainText() shows %s without marks", (_, markdown, text) => {
  expect(plainText(markdown)).toBe(text);
});

test("createTelegramRenderer() is right whatever comes in, and never shorter than the plain text", () => {
  fc.assert(
    fc.property(markdownish, (text) => {
      const markdown = text.toWellFormed();
      const html = render(markdown);
      checkedText(html);
      expect(html.length).toBeGreaterThanOrEqual(plainText(markdown).length);
    }),
    { numRuns: 800 },
  );
});

test.each([
  "> ",
  ">",
  "- ",
  "1. ",
  "*_a",
  "*a ",
  "**a ",
  "[",
  "[a](",
  "`a",
  "<a",
  "|a",
  "||a",
  "**“a”",
  "a_",
])("createTelegramRenderer() takes no long time for %p again and again", (text) => {
  const began = performance.now();
  checkedText(render(text.repeat(16_384 / text.length)));
  expect(performance.now() - began).toBeLessThan(2_000);
});

test("createTelegramRenderer() takes no long time for a table that is as wide as it is long", () => {
  const began = performance.now();
  const table = `${"|a".repeat(2_000)}\n${"|-".repeat(2_000)}\n${"|\n".repeat(4_000)}`;
  checkedText(render(table));
  expect(performance.now() - began).toBeLessThan(2_000);
});
