import { expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import fc from "fast-check";
import type { Workers } from "../../src/core/workers.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { MOST_PAGES, parsePages } from "../../src/tools/read-document.ts";
import { readFile } from "../../src/tools/read-file.ts";
import { createWorkers } from "../../src/workers.ts";
import { makeDocx, makePdf, makeZip, paragraph } from "../fakes/documents.ts";
import { GIF, JPEG, PNG, pngOf, WEBP } from "../fakes/images.ts";
import { createFixture } from "./fixture.ts";

const workers = createWorkers({ clock: systemClock });
const { put, call } = createFixture({ ports: { workers } });

test.each([
  { name: "a.png", bytes: PNG, mime: "image/png" },
  { name: "b.gif", bytes: GIF, mime: "image/gif" },
  { name: "c.jpg", bytes: JPEG, mime: "image/jpeg" },
  { name: "named-wrongly.txt", bytes: WEBP, mime: "image/webp" },
])("readFile() shows $name as the image it is by its bytes", async ({ name, bytes, mime }) => {
  put(name, bytes);
  expect(await call(readFile, { path: name })).toEqual({
    ok: true,
    text: `(The image "${name}": ${mime}, ${bytes.length} bytes)`,
    images: [{ mime, data: bytes.toString("base64"), name }],
  });
});

test("readFile() shows an image of the largest size, and refuses one that is a byte larger", async () => {
  put("largest.png", pngOf(3_932_160));
  expect((await call(readFile, { path: "largest.png" })).images).toHaveLength(1);
  put("larger.png", pngOf(3_932_161));
  expect(await call(readFile, { path: "larger.png" })).toEqual({
    ok: false,
    text: 'Cannot show "larger.png": the image has 3932161 bytes, and the most is 3932160; make a smaller one of it first',
  });
});

test("readFile() refuses an image that no model would take", async () => {
  put("half.png", PNG.subarray(0, 40));
  expect((await call(readFile, { path: "half.png" })).text).toBe(
    'Cannot show "half.png": the image is not whole, its end is missing',
  );
});

test("readFile() reads a text that begins like an image or an archive as text", async () => {
  put("gif.txt", "GIF89a is a format\n");
  put("zip.txt", "PK are two letters\n");
  expect((await call(readFile, { path: "gif.txt" })).text).toStartWith("1| GIF89a is a format\n");
  expect((await call(readFile, { path: "zip.txt" })).text).toStartWith("1| PK are two letters\n");
});

test.each([
  { name: "a.png", bytes: PNG },
  { name: "a.pdf", bytes: makePdf(["one"]) },
  { name: "a.docx", bytes: makeDocx(paragraph("one")) },
])("readFile() does not show $name again while it has not changed, unless it is forced to", async (file) => {
  const fixture = createFixture({ ports: { workers } });
  fixture.put(file.name, file.bytes);
  const first = await fixture.call(readFile, { path: file.name });
  expect(first.ok).toBe(true);
  const second = await fixture.call(readFile, { path: file.name });
  expect(second.text).toStartWith("File unchanged since last read");
  expect(await fixture.call(readFile, { path: file.name, force: true })).toEqual(first);
});

test("readFile() shows the pages of a PDF as numbered lines and says that these are all", async () => {
  put("two.pdf", makePdf(["Hello\nworld", ""]));
  expect(await call(readFile, { path: "two.pdf" })).toEqual({
    ok: true,
    text: [
      "1| [Page 1]",
      "2| Hello",
      "3| world",
      "4| ",
      "5| [Page 2]",
      "6| (No text: it may be a scan or a picture)",
      "",
      "(End of file — 6 lines total)",
      "(Pages 1-2 of 2.)",
    ].join("\n"),
  });
});

test("readFile() finds a PDF behind what somebody put before it, and no PDF in a text about one", async () => {
  put("sent.pdf", Buffer.concat([Buffer.from([0, 0xff, 0x0a]), makePdf(["behind"])]));
  put("about.txt", "It begins with %PDF-1.4\n");
  expect((await call(readFile, { path: "sent.pdf" })).text).toContain("2| behind");
  expect((await call(readFile, { path: "about.txt" })).text).toContain("1| It begins");
});

test("readFile() shows twenty pages of a PDF, and goes on where it says", async () => {
  put("long.pdf", makePdf(Array.from({ length: 23 }, (_, index) => `text ${index + 1}`)));
  const first = await call(readFile, { path: "long.pdf" });
  expect(first.text).toContain("| text 20\n");
  expect(first.text).not.toContain("text 21");
  expect(first.text).toEndWith('(Pages 1-20 of 23. Use pages="21-" to go on)');
  const rest = await call(readFile, { path: "long.pdf", pages: "21-" });
  expect(rest.text).toStartWith("1| [Page 21]\n2| text 21\n");
  expect(rest.text).toEndWith("(Pages 21-23 of 23.)");
});

test("readFile() shows the page of a PDF that is asked for, and a window of its lines", async () => {
  put("lines.pdf", makePdf(["one", "a\nb\nc\nd"]));
  const window = await call(readFile, { path: "lines.pdf", pages: "2", offset: 3, limit: 2 });
  expect(window.text).toBe("3| b\n4| c\n\n(Showing lines 3-4. Use offset=5 to continue.)\n(Page 2 of 2.)");
  const end = await call(readFile, { path: "lines.pdf", pages: "2", offset: -1 });
  expect(end.text).toStartWith("-1| d\n");
});

test("readFile() says how many pages a PDF has when that one is not there", async () => {
  put("one.pdf", makePdf(["one"]));
  expect(await call(readFile, { path: "one.pdf", pages: "2-3" })).toEqual({
    ok: false,
    text: 'Cannot read "one.pdf": it has 1 page, and page 2 is not one of them',
  });
});

test.each(["0", "5-2", "x", "", "1,2", "-3"])(
  "readFile() says how pages are named after %p",
  async (pages) => {
    put("named.pdf", makePdf(["one"]));
    const { ok, text } = await call(readFile, { path: "named.pdf", pages });
    expect(ok).toBe(false);
    expect(text).toBe(`Cannot read pages "${pages}": name them like "3", "2-5" or "7-", from 1 on`);
  },
);

test("readFile() takes pages for PDFs only", async () => {
  put("a.txt", "text");
  expect(await call(readFile, { path: "a.txt", pages: "1" })).toEqual({
    ok: false,
    text: 'Cannot read pages of "a.txt": it is no PDF; leave pages out',
  });
});

test("readFile() says that a PDF is damaged", async () => {
  put("damaged.pdf", "%PDF-1.4\nnothing else");
  expect(await call(readFile, { path: "damaged.pdf" })).toEqual({
    ok: false,
    text: 'Cannot read "damaged.pdf": it is damaged (Invalid PDF structure)',
  });
});

test("readFile() shows a window of the lines of an office document, whatever it is called", async () => {
  put("report", makeDocx([1, 2, 3, 4].map((number) => paragraph(`line ${number}`)).join("")));
  expect(await call(readFile, { path: "report", offset: 2, limit: 2 })).toEqual({
    ok: true,
    text: "2| line 2\n3| line 3\n\n(Showing lines 2-3. Use offset=4 to continue.)",
  });
  expect((await call(readFile, { path: "report", offset: -1 })).text).toStartWith("-1| line 4\n");
});

test("readFile() says that an office document has no text, and what an archive is", async () => {
  put("blank.docx", makeDocx("<w:p/>"));
  put("plain.docx", makeZip({ "a.txt": "a" }));
  expect((await call(readFile, { path: "blank.docx" })).text).toBe(
    'Cannot read "blank.docx": there is no text in it',
  );
  expect((await call(readFile, { path: "plain.docx" })).text).toBe(
    'Cannot read "plain.docx": it is a ZIP archive and no document of Word, Excel or PowerPoint',
  );
});

test("readFile() names an office document that is too old or encrypted", async () => {
  put("old.doc", Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(504)]));
  expect((await call(readFile, { path: "old.doc" })).text).toBe(
    'Cannot read "old.doc": it is an old or an encrypted document of Word, Excel or PowerPoint (512 bytes); save it as docx, xlsx or pptx without a password',
  );
});

test("readFile() names the kind of a binary file where that is known", async () => {
  put("a.gz", Buffer.from("1f8b0800000000000003", "hex"));
  expect((await call(readFile, { path: "a.gz" })).text).toBe(
    'Cannot read "a.gz": it is a binary file (application/gzip, 10 bytes); use exec with a program that reads it',
  );
});

test.each(["%PDF-1.4\n", "PK\x03\x04"])(
  "readFile() reads no document that is larger than may be: %j",
  async (head) => {
    const started: string[] = [];
    const run: Workers["run"] = async (role) => {
      started.push(role);
      return { ok: false, reason: "it was read" };
    };
    const fixture = createFixture({ ports: { workers: { run, endAll() {} } } });
    truncateSync(fixture.put("huge", head), 50 * 1024 * 1024 + 1);
    expect(await fixture.call(readFile, { path: "huge" })).toEqual({
      ok: false,
      text: 'Cannot read "huge": it has more than 50 MiB, which is the most for a PDF or an office document',
    });
    expect(started).toEqual([]);
  },
);

test("readFile() says that there is more than it could take of a document", async () => {
  const line = "x".repeat(100_000);
  put("long.docx", makeDocx(paragraph(line).repeat(21)));
  const page = Array.from({ length: 21 }, () => line).join("\n");
  put("wide.pdf", makePdf(["first", page, "third"], { width: 1_000_000 }));
  expect((await call(readFile, { path: "long.docx", offset: -1 })).text).toEndWith(
    "(The document is longer: only so much of its text can be read)",
  );
  expect((await call(readFile, { path: "wide.pdf", limit: 2 })).text).toEndWith(
    '(Page 2 is longer: only so much of its text can be read)\n(Pages 1-2 of 3. Use pages="3-" to go on)',
  );
});

test("readFile() stops when it is aborted while a document is read", async () => {
  const abort = new AbortController();
  const run: Workers["run"] = (_role, _input, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      abort.abort(new Error("enough"));
    });
  const fixture = createFixture({ signal: abort.signal, ports: { workers: { run, endAll() {} } } });
  fixture.put("a.docx", makeDocx(""));
  await expect(fixture.call(readFile, { path: "a.docx" })).rejects.toThrow("enough");
});

test.each([
  { pages: "3", first: 3, last: 3 },
  { pages: " 2 - 5 ", first: 2, last: 5 },
  { pages: "7-", first: 7, last: 26 },
  { pages: "1-1000", first: 1, last: 20 },
  { pages: "2–3", first: 2, last: 3 },
])("parsePages() takes $pages", ({ pages, first, last }) => {
  expect(parsePages(pages)).toEqual({ first, last });
});

test("parsePages() gives a range that can be shown, or nothing", () => {
  const written = fc.stringMatching(/^[-–0-9 ]{0,12}$/);
  fc.assert(
    fc.property(fc.oneof(fc.string(), written), (pages) => {
      const range = parsePages(pages);
      if (range === undefined) return;
      expect(range.first).toBeGreaterThanOrEqual(1);
      expect(range.last).toBeGreaterThanOrEqual(range.first);
      expect(range.last - range.first).toBeLessThan(MOST_PAGES);
    }),
  );
});
