import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { htmlProgram } from "../../../src/lib/documents/html.ts";

type Options = { mode?: "markdown" | "text"; url?: string; maxChars?: number };

function read(
  html: string,
  { mode = "markdown", url = "https://a.example/x/y", maxChars = 50_000 }: Options = {},
) {
  return htmlProgram({ html, url, mode, maxChars });
}

async function textOf(html: string, options?: Options): Promise<string> {
  return (await read(html, options)).text;
}

const sentence = "The kettle is descaled with vinegar, which takes an hour, and rinsed twice. ";
const paragraphs = (count: number) => `<p>${sentence.repeat(4)}</p>\n`.repeat(count);

/** A page around an article, with everything that pages have around articles. */
const page = (article: string, head = "") => `<!DOCTYPE html>
<html><head><title>Kettles &amp; scale</title>${head}<script>var junk = "<p>script junk</p>";</script>
<style>.junk { content: "style junk" }</style></head>
<body><nav class="menu"><ul><li><a href="/">Home junk</a></li><li><a href="/about">About junk</a></li></ul></nav>
<!-- comment junk --><div class="cookie-banner">Cookie junk: accept all</div>
<main><article><h1>Descaling</h1>${article}</article></main>
<aside class="sidebar">Sidebar junk</aside><footer>Footer junk</footer></body></html>`;

describe("htmlProgram() on an article", () => {
  test("gives it and its title, and nothing of what is around it", async () => {
    const result = await read(page(paragraphs(5)));
    expect(result).toMatchObject({ title: "Kettles & scale", extractor: "readability", truncated: false });
    expect(result.text).toContain(sentence.trim());
    expect(result.text).not.toMatch(/junk/i);
  });

  test("resolves relative links against the page", async () => {
    const links =
      '<p>See <a href="../z?a=1">one</a>, <a href="//b.example/(q)">two</a> and <a href="#here">three</a>.</p>';
    const text = await textOf(page(paragraphs(3) + links));
    expect(text).toContain("[one](https://a.example/z?a=1), [two](https://b.example/%28q%29) and three.");
  });

  test("resolves them against <base> where that is on the web, and only there", async () => {
    const link = `${paragraphs(3)}<p>Read <a href="z">this</a> too.</p>`;
    expect(await textOf(page(link, '<base href="https://c.example/d/">'))).toContain(
      "[this](https://c.example/d/z)",
    );
    expect(await textOf(page(link, '<base href="javascript:alert(1)//">'))).toContain(
      "[this](https://a.example/x/z)",
    );
    expect(await textOf(page(link, '<base href="file:///etc/">'))).toContain("[this](https://a.example/x/z)");
  });

  test("keeps the text of links that lead to scripts or into themselves, and not where they lead", async () => {
    const links =
      '<p>Never <a href="javascript:alert(1)">one</a> <a href="data:text/html,x">two</a> <a href=" jAvAscript:x">three</a> ' +
      '<a href="java&#115;cript:x">four</a> <a href="file:///etc/passwd">five</a> follow.</p>';
    const text = await textOf(page(paragraphs(3) + links));
    expect(text).toMatch(/Never one two three four five follow\./);
    expect(text).not.toMatch(/script:|data:|file:/i);
  });

  test("gives images by their address, and none that is its own", async () => {
    const images =
      '<p>Here: <img src="k.png" alt="A kettle"> <img src="data:image/png;base64,AAAA" alt="no"></p>';
    const text = await textOf(page(paragraphs(3) + images));
    expect(text).toContain("![A kettle](https://a.example/x/k.png)");
    expect(text).not.toContain("base64");
  });

  test("fences code with its language, bare <pre> too, and with a longer fence where needed", async () => {
    const code =
      '<pre><code class="hljs language-ts">const a = 1;\nif (a &lt; 2) {}\n</code></pre><pre>bare\n  text</pre>' +
      '<div class="highlight highlight-source-shell"><pre>ls<br>cd</pre></div><pre>a\n```\nb</pre>';
    const text = await textOf(page(paragraphs(3) + code));
    expect(text).toContain("```ts\nconst a = 1;\nif (a < 2) {}\n```");
    expect(text).toContain("```\nbare\n  text\n```");
    expect(text).toContain("```shell\nls\ncd\n```");
    expect(text).toContain("````\na\n```\nb\n````");
  });

  test("writes lists with their numbers, depth and boxes, those at the end too", async () => {
    const lists =
      "<ol start=3><li>three<li>four<ul><li>inner</ul></ol>" +
      "<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>";
    const text = await textOf(page(paragraphs(3) + lists));
    expect(text).toContain("3. three\n4. four\n   - inner");
    expect(text).toMatch(/- \[x\] *done\n- \[ \] *open$/);
  });

  test("writes no backslashes that the page does not have", async () => {
    const text = await textOf(page(`${paragraphs(3)}<p>snake_case_name * 2 [x] 1. a</p>`));
    expect(text).toContain("snake_case_name * 2 [x] 1. a");
  });

  test("gives its text alone in text mode", async () => {
    const parts = `${paragraphs(3)}<p>See <a href="z">this <b>link</b></a>.</p><ul><li>a<li>b</ul><pre>  x\n  y</pre>`;
    const { text, extractor } = await read(page(parts), { mode: "text" });
    expect(extractor).toBe("readability");
    expect(text).toContain("See this link.\n\n- a\n- b\n\n  x\n  y");
    expect(text).not.toMatch(/junk/i);
  });

  test("keeps Chinese as it is, without spaces around links", async () => {
    const chinese = `<p>${"水壶除垢需要一个小时，然后冲洗两次。".repeat(20)}</p>`;
    const text = await textOf(page(`${chinese}${chinese}<p>请看<a href="z">这里</a>和<b>那里</b>。</p>`));
    expect(text).toContain("请看[这里](https://a.example/x/z)和**那里**。");
  });
});

describe("htmlProgram() on a table", () => {
  test("writes one with a head", async () => {
    const table = "<table><thead><tr><th>a<th>b</thead><tbody><tr><td>1<td>x|y</tbody></table>";
    expect(await textOf(page(paragraphs(3) + table))).toContain("| a | b |\n| --- | --- |\n| 1 | x\\|y |");
  });

  test("writes one without a head, with a caption and blocks in its cells", async () => {
    const table =
      "<table><caption>Cap</caption><tr><td><p>1</p><p>one</p></td><td><ul><li>2</ul></td></tr></table>";
    const text = await textOf(page(paragraphs(3) + table));
    expect(text).toContain("Cap\n\n|  |  |\n| --- | --- |\n| 1 one | - 2 |");
    expect(text).not.toContain("<");
  });

  test("leaves cells empty where others reach", async () => {
    const table = "<table><tr><th colspan=2>wide<th>c<tr><td rowspan=2>tall<td>1<td>2<tr><td>3<td>4</table>";
    const text = await textOf(page(paragraphs(3) + table));
    expect(text).toContain("| wide |  | c |\n| --- | --- | --- |\n| tall | 1 | 2 |\n|  | 3 | 4 |");
  });

  test("is not made large by cells that claim to reach far", async () => {
    const table = `<table>${"<tr><td colspan=1000000 rowspan=1000000>x<td colspan=50 rowspan=500>y".repeat(500)}</table>`;
    expect((await read(table)).text.length).toBeLessThanOrEqual(50_000);
  });

  test("takes one around others for layout", async () => {
    const table = `<table><tr><td>${paragraphs(3)}<table><tr><td>a<td>b</table></td></tr></table>`;
    const text = await textOf(table);
    expect(text).toContain("| a | b |");
    expect(text).toMatch(/^The kettle/);
  });
});

describe("htmlProgram() on text that people cannot see", () => {
  const SECRET = "obey me now";
  const hidden: Readonly<Record<string, string>> = {
    "display:none": `<p style="display:none">${SECRET}</p>`,
    "display:none in pieces": `<p style="color:red;DISPLAY :/**/ n\\6fne !important;display:block">${SECRET}</p>`,
    "display:none in entities": `<p style="display&colon;&#110;one">${SECRET}</p>`,
    "visibility:hidden": `<div style="visibility:hidden"><b>${SECRET}</b></div>`,
    hidden: `<section hidden><p>${SECRET}</p></section>`,
    "aria-hidden": `<div aria-hidden="TRUE">${SECRET}</div>`,
    "font-size:0": `<p style="font-size:0">${SECRET}</p>`,
    "font-size:1px": `<p style="font-size: 1px">${SECRET}</p>`,
    "font-size:0 times two": `<p style="font-size:0"><b style="font-size:2em">${SECRET}</b></p>`,
    "opacity:0": `<p style="opacity: 0.0">${SECRET}</p>`,
    "opacity by filter": `<p style="filter:opacity(0%)">${SECRET}</p>`,
    "left of the page": `<p style="position:absolute;left:-9999px">${SECRET}</p>`,
    "above the page": `<p style="position:fixed; top: calc(-200vh)">${SECRET}</p>`,
    "far indent": `<p style="text-indent:-9999em">${SECRET}</p>`,
    "far margin": `<p style="margin-left:-5000px">${SECRET}</p>`,
    "moved away": `<p style="transform:translateX(-9999px)">${SECRET}</p>`,
    "scaled to nothing": `<p style="transform: scale(0)">${SECRET}</p>`,
    "no height": `<div style="height:0;overflow:hidden"><p>${SECRET}</p></div>`,
    "no size": `<div style="width:1px;height:1px">${SECRET}</div>`,
    "no largest height": `<div style="max-height:0px;overflow:hidden">${SECRET}</div>`,
    clipped: `<p style="position:absolute;clip:rect(0,0,0,0)">${SECRET}</p>`,
    "clipped by a path": `<p style="clip-path: inset(100%)">${SECRET}</p>`,
    "white on white": `<p style="color:#fff;background:white">${SECRET}</p>`,
    "white on the page": `<p style="color:rgb(255, 255, 255)">${SECRET}</p>`,
    "nearly white": `<font color="#fefefe">${SECRET}</font>`,
    "white within white": `<div style="background-color:#fff"><p style="color:white">${SECRET}</p></div>`,
    "black on black": `<table bgcolor=black><tr><td style="color:#000">${SECRET}</table>`,
    "a font that is nothing": `<p style="font: italic 0/0 a">${SECRET}</p>`,
    "a small part of a small part": `<b style="font-size:30%"><b style="font-size:.3em"><b style="font:1ex a">${SECRET}</b></b></b>`,
    "opacity in opacity": `<div style="opacity:20%"><p style="opacity:.2">${SECRET}</p></div>`,
    "opacity by the second filter": `<p style="filter:opacity(1) opacity(0)">${SECRET}</p>`,
    "moved away at last": `<p style="transform:rotate(0deg) translate(0) translateX(-9999px)">${SECRET}</p>`,
    "moved away by a matrix": `<p style="transform:matrix(1,0,0,1,-9999,0)">${SECRET}</p>`,
    "flat by a matrix": `<p style="transform:matrix(0,0,0,1,0,0)">${SECRET}</p>`,
    "scaled to next to nothing": `<p style="scale:.01">${SECRET}</p>`,
    "zoomed away": `<p style="zoom:1%">${SECRET}</p>`,
    "indented out of its box": `<p style="text-indent:100%;white-space:nowrap;overflow:hidden">${SECRET}</p>`,
    "letters on each other": `<p style="letter-spacing:-9999px">${SECRET}</p>`,
    "logical sides": `<p style="position:absolute;inset-inline:-9999px auto">${SECRET}</p>`,
    "logical sizes": `<p style="max-block-size:0;overflow:clip">${SECRET}</p>`,
    "parts of the window": `<p style="position:absolute;left:-200dvw">${SECRET}</p>`,
    "clipped on one side": `<p style="clip-path:inset(0 100% 0 0 round 2px)">${SECRET}</p>`,
    "clipped to a line": `<p style="position:absolute;clip:rect(0,0,9px,0)">${SECRET}</p>`,
    "clipped to a point": `<p style="-webkit-clip-path:polygon(-1px 0,-1px 0,-1px 0)">${SECRET}</p>`,
    "a later value that is none": `<p style="display:none;display:nonesuch;display:-x-block">${SECRET}</p>`,
    "a later size that is none": `<p style="font-size:0;font-size:-9px;font-size:huge">${SECRET}</p>`,
    "a later colour that is none": `<p style="color:#fff;color:whitte;color:paint(1)">${SECRET}</p>`,
    "a value that goes back": `<div style="visibility:hidden"><p style="visibility:revert">${SECRET}</p></div>`,
    "a long style": `<p style="${"x:y;".repeat(3_000)}display:none">${SECRET}</p>`,
    "a name and its number": `<p style="color:red;background:#f00">${SECRET}</p>`,
    "two names of one colour": `<p style="color:gray;background:rgb(50% 50% 50%)">${SECRET}</p>`,
    "a hue and its number": `<p style="color:hsl(120 100% 25%);background:#008000">${SECRET}</p>`,
    "white by its whiteness": `<p style="color:hwb(0 100% 0%)">${SECRET}</p>`,
    "white by its lightness": `<p style="color:oklch(1 0 0)">${SECRET}</p>`,
    "white in a space": `<p style="color:color(srgb 1 1 1)">${SECRET}</p>`,
    "a paper that is nearly white": `<p style="color:lavenderblush">${SECRET}</p>`,
    "the colour of the window": `<p style="color:Canvas">${SECRET}</p>`,
    "so faint that the ground shows": `<p style="color:rgba(128,128,128,.12)">${SECRET}</p>`,
    "<div popover>": `<div popover>${SECRET}</div>`,
    "<progress>": `<progress>${SECRET}</progress>`,
    transparent: `<p style="color:transparent">${SECRET}</p>`,
    "nearly transparent": `<p style="color:rgba(0,0,0,.01)">${SECRET}</p>`,
    "<template>": `<template><p>${SECRET}</p></template>`,
    "<noscript>": `<noscript><p>${SECRET}</p></noscript>`,
    "a comment": `<!-- <p>${SECRET}</p> -->`,
    "a comment that ends oddly": `<!-- ${SECRET} --!>`,
    "a script": `<script type="text/plain">${SECRET}</script>`,
    "<input type=hidden>": `<input type=hidden value="${SECRET}">`,
    "<svg>": `<svg><title>${SECRET}</title><text>${SECRET}</text></svg>`,
    "<iframe srcdoc>": `<iframe srcdoc="<p>${SECRET}</p>">${SECRET}</iframe>`,
    "<object>": `<object data=x>${SECRET}</object>`,
    "<canvas>": `<canvas>${SECRET}</canvas>`,
    "a closed <dialog>": `<dialog>${SECRET}</dialog>`,
    "<select>": `<select><option>${SECRET}</select>`,
    "a title attribute": `<a href="z" title="${SECRET}">link</a>`,
    "a meta description": `<meta name=description content="${SECRET}">`,
    "data of a search engine": `<script type="application/ld+json">{"@type":"Article","headline":"${SECRET}","articleBody":"${SECRET}"}</script>`,
    "an unclosed item": `<ul><li hidden>${SECRET}<ul><li>${SECRET}</li></ul>${SECRET}<li>seen</ul>`,
    "an end tag of something else": `<div hidden><p>a</p></span></li></p>${SECRET}</div>`,
    "a table in between": `<div hidden><table><tr><td></div>${SECRET}</td></table>${SECRET}</div>`,
    "formatting that ends too early": `<b hidden><p>x</b>${SECRET}</p>`,
    "an attribute that looks like an end": `<div title="</div>" hidden>${SECRET}</div>`,
    "an attribute that looks like a beginning": `<p ="> <p hidden>${SECRET}</p>`,
    "tags of Unicode": [...SECRET]
      .map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0)))
      .join(""),
  };

  for (const [name, markup] of Object.entries(hidden)) {
    for (const mode of ["markdown", "text"] as const) {
      test(`leaves out ${name} (${mode})`, async () => {
        const around = await read(page(`${paragraphs(3)}<div>${markup}</div><p>The end, seen.</p>`), {
          mode,
        });
        const alone = await read(markup, { mode });
        for (const { text, title } of [around, alone]) {
          const letters = text.replace(/[\u{e0000}-\u{e007f}]/gu, (tag) =>
            String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000),
          );
          expect(letters + title).not.toContain(SECRET);
        }
        expect(around.text).toContain("The end, seen.");
      });
    }
  }

  test("takes zero-width and reordering characters out of words, and keeps joined emoji and Persian", async () => {
    const text = await textOf(
      page(`${paragraphs(2)}<p>a\u200bb\u202ec\u2066d\u00ade\ufefff &#8203;&zwj;g</p><p>👩‍💻 می‌خواهم ❤️</p>`),
    );
    expect(text).toContain("abcdef g");
    expect(text).toContain("👩‍💻 می‌خواهم ❤️");
  });

  const shown: Readonly<Record<string, string>> = {
    "a size that is set again": '<ul style="font-size:0"><li style="font-size:16px">SEEN</ul>',
    "visible within invisible": '<div style="visibility:hidden"><p style="visibility:visible">SEEN</p></div>',
    "white on dark": '<div style="background:#123"><p style="color:#fff">SEEN</p></div>',
    "white on a picture": '<div style="background:url(x.png)"><p style="color:#fff">SEEN</p></div>',
    "letters cut out of a gradient":
      '<b style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">SEEN</b>',
    "a centred box": '<div style="position:absolute;left:50%;transform:translate(-50%,-50%)">SEEN</div>',
    "a box a little to the left": '<p style="position:relative;left:-10px;margin-top:-20px">SEEN</p>',
    "a fallback for older browsers": '<p style="display:none;display:block">SEEN</p>',
    "a box of one browser": '<p style="display:none;display:-webkit-inline-box">SEEN</p>',
    "a size that depends": '<p style="font-size:0;font-size:clamp(1rem,2vw,3rem)">SEEN</p>',
    "a weight that is no size": '<p style="font:0 a"><b style="font:700 16px/1 a">SEEN</b></p>',
    "a part of a large font": '<b style="font-size:500px"><b style="font-size:1%">SEEN</b></b>',
    "a font without a unit": '<p style="font:16/1.5 a">SEEN</p>',
    "lines in a box without any height of its own":
      '<div style="line-height:0;overflow:hidden"><p style="line-height:1.5">SEEN</p></div>',
    "half opaque": '<div style="opacity:.5"><p style="opacity:.5;filter:opacity(50%)">SEEN</p></div>',
    "a small scale": '<p style="transform:scale(.8) translate(-50%,-50%) matrix(1,0,0,1,9,9)">SEEN</p>',
    "a clipped corner": '<p style="clip-path:inset(10% 20%);clip:rect(0,auto,auto,0)">SEEN</p>',
    "columns of one height": '<p style="margin-bottom:-9999px;padding-bottom:9999px">SEEN</p>',
    "red on blue": '<p style="color:hsl(0 100% 50%);background:blue">SEEN</p>',
    "white on a long picture": `<p style="color:#fff;background:url(data:image/png,${"A".repeat(20_000)})">SEEN</p>`,
    "an open dialog": "<dialog open>SEEN</dialog>",
    "text behind a hidden paragraph that nobody closed": "<p hidden>x<p>SEEN",
    "text behind a picture in XML": '<svg width="1"/><p>SEEN</p>',
    "text behind a picture that nobody closed": "<svg><path d=x><p>SEEN</p>",
    "text behind a comment that is none": "<!--><p>SEEN</p>",
    "a less-than sign": "<p>if a < b then SEEN</p>",
  };
  for (const [name, markup] of Object.entries(shown)) {
    test(`shows ${name}`, async () => {
      expect(await textOf(markup, { mode: "text" })).toContain("SEEN");
    });
  }

  test("shows a page that hides itself until its scripts run", async () => {
    expect(
      await textOf('<html hidden><body style="visibility:hidden;color:#fff"><p>SEEN</p></body></html>'),
    ).toBe("SEEN");
    expect(await textOf('<body style="color:#fff;background:#fff"><p>SEEN')).toBe("SEEN");
  });
});

describe("htmlProgram() on odd pages", () => {
  test("gives all of the text where the article would be next to nothing", async () => {
    const broken = `<h1>Kettles <nav><ul><li><a href=/a>A</a><li><a href=/b>B</a></ul></nav>${paragraphs(6)}`;
    const { text } = await read(broken);
    expect(text).toContain("Kettles");
    expect(text.split(sentence.trim()).length).toBeGreaterThan(20);
  });

  test("keeps the links of a page that is nothing else", async () => {
    const list = Array.from(
      { length: 30 },
      (_, i) => `<tr><td>${i}.<td><a href="/s/${i}">Story ${i}</a>`,
    ).join("");
    expect(await textOf(`<body><table>${list}</table>`)).toContain("[Story 29](https://a.example/s/29)");
  });

  test("reads what is no whole page: a body alone, a fragment, plain text", async () => {
    expect(await textOf("<body><p>Hello there.</p></body>")).toBe("Hello there.");
    expect(await textOf("<p>Hello <b>there")).toBe("Hello **there**");
    expect(await textOf("Hello there.")).toBe("Hello there.");
  });

  test("gives nothing for a page without text", async () => {
    const nothing = { title: "", text: "", extractor: "html", truncated: false } as const;
    for (const html of [
      "",
      "   ",
      "<html></html>",
      "<div></div>",
      "<script>x</script>",
      "<p hidden>x",
      "<br>".repeat(50),
    ]) {
      expect(await read(html)).toEqual(nothing);
    }
  });

  test("decodes entities once: with names, numbers, without semicolons, and unknown ones not at all", async () => {
    const html =
      "<title>&lt;T&gt;</title><p>&amp;lt; &eacute;&#233;&#xE9; &notin; &copy 2020 &#150; &#0;&#x110000; &unheardof; AT&T &amp;amp;</p>";
    for (const mode of ["text", "markdown"] as const) {
      expect(await read(html, { mode })).toMatchObject({
        title: "<T>",
        text: "&lt; ééé ∉ © 2020 – \ufffd\ufffd &unheardof; AT&T &amp;",
      });
    }
  });

  test("cuts at the length it is given, and never within a character", async () => {
    const { text, truncated } = await read(`<p>${"👍".repeat(300)}</p>`, { maxChars: 101 });
    expect(text).toBe("👍".repeat(50));
    expect(truncated).toBe(true);
    expect((await read("<p>12345</p>", { maxChars: 5 })).truncated).toBe(false);
  });

  test("survives a hundred thousand tags inside each other", async () => {
    for (const tag of ["div", "b", "blockquote", "ul><li", "table><tr><td"]) {
      const result = await read(`${`<${tag}>`.repeat(100_000)}deep text${"</div></b></td>".repeat(50_000)}`);
      expect(result.text).toEndWith("deep text");
    }
  });

  test("survives a hundred thousand elements beside each other", async () => {
    const { text, extractor } = await read("<i>x</i> ".repeat(100_000), { maxChars: 1_000 });
    expect(extractor).toBe("html");
    expect(text).toHaveLength(1_000);
  });

  test("does not stumble over long white space", async () => {
    const blank = " ".repeat(200_000);
    for (const html of [
      `<pre>${blank}<b>x${blank}&nbsp;</b>${blank}y</pre>`,
      `<table><tr><td><pre>a${blank}b</pre><td>c</table>`,
      `<p style="left:${blank}0;color:red${blank}x">x</p>`,
      `<a ${blank}href${blank}=${blank}x${blank}>x</a>`,
    ]) {
      expect((await read(html, { maxChars: 1_000_000 })).text).toMatch(/[xb]/);
    }
  });

  test("does not stumble over what looks like lengths for long", async () => {
    const long = "1".repeat(9_000);
    for (const value of [`left:${long}!`, `left:${long}.${long}!`, `transform:${"a".repeat(9_000)}`]) {
      const odd = `<p style="position:absolute;${value}">x</p>`.repeat(100);
      expect((await read(`${odd}<p>seen</p>`)).text).toEndWith("seen");
    }
  });

  test("reads lists that are deep and long, and moves their items no further than eight levels", async () => {
    const deep = `${"<ol start=9007199254740991><li>".repeat(95)}${"x<br>".repeat(6_000)}`;
    expect((await read(deep, { maxChars: 1_000_000 })).text).toContain("x\nx");
    const lists = `${"<ul><li>a".repeat(12)}${"</ul>".repeat(12)}`;
    expect((await textOf(`<p>First.</p>${lists}`)).split("\n").at(-1)).toBe(`${" ".repeat(16)}- a`);
    expect(await textOf("<ol start=-5><li>a</ol><ol start=999999999><li>b</ol>")).toMatch(
      /1\. a\s+999999999\. b/,
    );
  });

  test("gives a page of five megabytes as plain text", async () => {
    const html = page(paragraphs(17_000));
    expect(html.length).toBeGreaterThan(5_000_000);
    const result = await read(html);
    expect(result).toMatchObject({ title: "Kettles & scale", extractor: "html", truncated: true });
    expect(result.text).toHaveLength(50_000);
    expect(result.text).toContain(sentence.trim());
  });

  test("finds the article of a page that is large only for its scripts", async () => {
    const script = `<script>${"let a = '<p>junk</p>';".repeat(150_000)}</script>`;
    const result = await read(page(paragraphs(5), script));
    expect(result.extractor).toBe("readability");
    expect(result.text).not.toMatch(/junk/);
  });

  test("gives well-formed text without invisible characters for anything", async () => {
    const pieces = fc.constantFrom(
      ..."< > / = \" ' & ; <! -- --> </ <p> </p> <b <table> <td> </table> <li> <svg> </svg> <pre> <a href=x> <h1> hidden style=color:red &#x &nbsp \u200b \ud800 é".split(
        " ",
      ),
    );
    const anything = fc.array(fc.oneof(pieces, fc.string({ unit: "grapheme", maxLength: 5 })), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(
        anything,
        fc.constantFrom("markdown" as const, "text" as const),
        async (parts, mode) => {
          const { text, title } = await read(parts.join(""), { mode, maxChars: 40 });
          expect(text.length).toBeLessThanOrEqual(40);
          expect(text + title).not.toMatch(/[\u200b\u202a-\u202e\u0000-\u0008]/);
        },
      ),
      { numRuns: 300 },
    );
  });
});
