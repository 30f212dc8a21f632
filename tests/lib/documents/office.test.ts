import { expect, test } from "bun:test";
import fc from "fast-check";
import { UserError } from "../../../src/core/errors.ts";
import { officeProgram } from "../../../src/lib/documents/office.ts";
import { makeDocx, makePptx, makeXlsx, makeZip, paragraph, relationships } from "../../fakes/documents.ts";

async function textOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return (await officeProgram({ bytes, maxChars: 100_000 })).text;
}

function cell(text: string): string {
  return `<w:tc><w:tcPr><w:tcW w:w="10"/></w:tcPr>${text}</w:tc>`;
}

test("officeProgram() gives a line for each paragraph of a docx, the empty ones too", async () => {
  const bytes = makeDocx(`${paragraph("First")}<w:p/>${paragraph("Second")}`);
  expect(await officeProgram({ bytes, maxChars: 100 })).toEqual({
    kind: "docx",
    text: "First\n\nSecond",
    truncated: false,
  });
});

test("officeProgram() joins the runs of a paragraph", async () => {
  const run = (text: string) => `<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
  expect(await textOf(makeDocx(`<w:p>${run("nano")}${run("bot ")}${run("runs")}</w:p>`))).toBe(
    "nanobot runs",
  );
});

test("officeProgram() takes tabs, breaks and hyphens from the text, and no tab stops", async () => {
  const body =
    '<w:p><w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr>' +
    "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r></w:p>";
  expect(await textOf(makeDocx(body))).toBe("a\tb\nc-d");
});

test("officeProgram() puts tabs between the cells of a table, and what is in a cell on one line", async () => {
  const row = `<w:tr>${cell(paragraph("a") + paragraph("b"))}${cell("<w:p/>")}${cell(paragraph("c"))}</w:tr>`;
  const bytes = makeDocx(`${paragraph("above")}<w:tbl>${row}${row}</w:tbl>${paragraph("below")}`);
  expect(await textOf(bytes)).toBe("above\na b\t\tc\na b\t\tc\nbelow");
});

test("officeProgram() keeps a table within a cell in the line of the cell", async () => {
  const inner = `<w:tbl><w:tr>${cell(paragraph("x"))}${cell(paragraph("y"))}</w:tr></w:tbl>`;
  const bytes = makeDocx(`<w:tbl><w:tr>${cell(inner)}${cell(paragraph("z"))}</w:tr></w:tbl>`);
  expect(await textOf(bytes)).toBe("x y\tz");
});

test("officeProgram() shows what was moved once, where it is now", async () => {
  const body =
    `<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>${paragraph("first")}` +
    "<w:p><w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo></w:p>";
  expect(await textOf(makeDocx(body))).toBe("first\nmoved");
});

test("officeProgram() shows the formula of a cell that has no value yet", async () => {
  const rows =
    '<row><c r="A1"><f>SUM(B1:C1)&amp;"x"</f></c><c r="B1"><f>1+1</f><v>2</v></c><c r="C1"><f/></c></row>' +
    "<row><c><f>A1</f><v></v></c></row>";
  expect(await textOf(makeXlsx([["S", rows]]))).toBe('[Sheet: S]\n=SUM(B1:C1)&"x"\t2\n=A1');
});

test("officeProgram() leaves out what was deleted, instructions of fields, and stand-ins", async () => {
  const body =
    "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r>" +
    "<mc:AlternateContent><mc:Choice><w:r><w:t>once</w:t></w:r></mc:Choice>" +
    "<mc:Fallback><w:r><w:t>twice</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>";
  expect(await textOf(makeDocx(body))).toBe("once");
});

test("officeProgram() adds the footnotes", async () => {
  const bytes = makeDocx(paragraph("body"), {
    "word/footnotes.xml": `<w:footnotes><w:footnote>${paragraph("note")}</w:footnote></w:footnotes>`,
  });
  expect(await textOf(bytes)).toBe("body\nnote");
});

test("officeProgram() shows the sheets of an xlsx in the order of the workbook, with shared and inline strings", async () => {
  const bytes = makeXlsx(
    [
      ["Costs &amp; more", '<row r="1"><c r="A1" t="s"><v>1</v></c><c r="B1"><v>12.5</v></c></row>'],
      ["Empty", ""],
      ["Last", '<row r="1"><c r="A1" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c></row>'],
    ],
    { strings: "<si><t>zero</t></si><si><r><t>Ren</t></r><r><t>t</t></r><rPh><t>hint</t></rPh></si>" },
  );
  expect(await officeProgram({ bytes, maxChars: 1_000 })).toEqual({
    kind: "xlsx",
    text: "[Sheet: Costs & more]\nRent\t12.5\n\n[Sheet: Empty]\n\n[Sheet: Last]\ninline",
    truncated: false,
  });
});

test("officeProgram() leaves room for cells that are not there, with or without references", async () => {
  const rows =
    '<row><c r="B1"><v>1</v></c><c r="AA1"><v>2</v></c></row>' +
    '<row><c><v>3</v></c><c/><c t="str"><f>A1&amp;"x"</f><v>a\nb</v></c></row>';
  expect(await textOf(makeXlsx([["S", rows]]))).toBe(`[Sheet: S]\n\t1${"\t".repeat(25)}2\n3\t\ta b`);
});

test("officeProgram() takes no column that no sheet can have", async () => {
  const text = await textOf(makeXlsx([["S", '<row><c r="ZZZ1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>']]));
  expect(text).toBe(`[Sheet: S]\n1${"\t".repeat(16_383)}2`);
});

test.each([
  { what: "a date", style: 1, value: "45123", shown: "2023-07-16" },
  { what: "a date and a time", style: 2, value: "45123.75", shown: "2023-07-16 18:00:00" },
  { what: "a time", style: 3, value: "0.5", shown: "12:00:00" },
  { what: "a number with a unit", style: 4, value: "45123", shown: "45123" },
  { what: "a number", style: 0, value: "45123", shown: "45123" },
  { what: "a date in a style that is not there", style: 9, value: "45123", shown: "45123" },
  { what: "a date after the last", style: 1, value: "1e300", shown: "1e300" },
  { what: "a date before the first", style: 1, value: "-1", shown: "-1" },
])("officeProgram() shows $what as $shown", async ({ style, value, shown }) => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/>' +
    '<numFmt numFmtId="165" formatCode="#,##0 &quot;days&quot;;[Red]\\d0"/></numFmts>' +
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>' +
    '<xf numFmtId="164"/><xf numFmtId="21"/><xf numFmtId="165"/></cellXfs>';
  const rows = `<row><c s="${style}"><v>${value}</v></c></row>`;
  expect(await textOf(makeXlsx([["S", rows]], { styles }))).toBe(`[Sheet: S]\n${shown}`);
});

test("officeProgram() counts dates from 1904 where the workbook says so", async () => {
  const options = {
    styles: '<cellXfs><xf numFmtId="14"/></cellXfs>',
    properties: '<workbookPr date1904="1"/>',
  };
  expect(await textOf(makeXlsx([["S", "<row><c><v>1</v></c></row>"]], options))).toBe(
    "[Sheet: S]\n1904-01-02",
  );
});

test("officeProgram() shows truth and errors of cells, and a string that is not there as nothing", async () => {
  const rows = '<row><c t="b"><v>1</v></c><c t="s"><v>5</v></c><c t="e"><v>#DIV/0!</v></c></row>';
  expect(await textOf(makeXlsx([["S", rows]]))).toBe("[Sheet: S]\nTRUE\t\t#DIV/0!");
});

test("officeProgram() shows the slides of a pptx in the order of the presentation, with their notes", async () => {
  const line = (text: string) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const number = '<a:p><a:fld type="slidenum"><a:t>7</a:t></a:fld></a:p>';
  const table = `<a:tbl><a:tr><a:tc>${line("l")}</a:tc><a:tc>${line("r")}</a:tc></a:tr></a:tbl>`;
  const bytes = makePptx([
    { body: line("Title") + line("One<!-- no -->"), notes: line("Say hello") + number },
    { body: table },
  ]);
  expect(await officeProgram({ bytes, maxChars: 1_000 })).toEqual({
    kind: "pptx",
    text: "[Slide 1]\nTitle\nOne\n[Notes]\nSay hello\n\n\n[Slide 2]\nl\tr",
    truncated: false,
  });
});

test.each([
  ["word/document2.xml", paragraph("found")],
  ["xl/book.xml", ""],
  ["ppt/show.xml", ""],
])("officeProgram() finds the main part where the document says that it is: %s", async (main, body) => {
  const bytes = makeZip({
    "_rels/.rels": relationships([["officeDocument", main]]),
    [main]: `<d>${body}</d>`,
  });
  const { kind, text } = await officeProgram({ bytes, maxChars: 100 });
  expect([kind, text]).toEqual([
    /^w/.test(main) ? "docx" : /^x/.test(main) ? "xlsx" : "pptx",
    body && "found",
  ]);
});

test("officeProgram() reads a sheet once, however often it is named", async () => {
  const sheet = '<sheet name="S" r:id="rId1"/>';
  const bytes = makeZip({
    "xl/workbook.xml": `<workbook><sheets>${sheet.repeat(3)}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships([["worksheet", "s.xml"]]),
    "xl/s.xml": "<worksheet><row><c><v>1</v></c></row></worksheet>",
  });
  expect(await textOf(bytes)).toBe("[Sheet: S]\n1");
});

test("officeProgram() refuses a document that links more than there can be", async () => {
  const links = Array.from({ length: 20_001 }, () => ["worksheet", "s.xml"] as const);
  const bytes = makeZip({
    "xl/workbook.xml": "<workbook/>",
    "xl/_rels/workbook.xml.rels": relationships(links),
  });
  await expect(textOf(bytes)).rejects.toThrow("it is damaged (too much in it is linked)");
});

test("officeProgram() takes no more of a cell than a cell can hold", async () => {
  const rows = `<row><c><v>${"1".repeat(5_000_000)}</v></c><c t="inlineStr"><is><t>${"a".repeat(300_000)}</t></is></c></row>`;
  const { text } = await officeProgram({ bytes: makeXlsx([["S", rows]]), maxChars: 2_000_000 });
  expect(text.length).toBe("[Sheet: S]\n\t".length + 200_000);
});

test("officeProgram() stops where there is enough, between characters, and says so", async () => {
  const bytes = makeDocx(paragraph("ab😀cd") + paragraph("more").repeat(1_000));
  expect(await officeProgram({ bytes, maxChars: 3 })).toEqual({ kind: "docx", text: "ab", truncated: true });
});

test("officeProgram() replaces no entity that the document defines", async () => {
  const bytes = makeZip({
    "word/document.xml":
      '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' +
      `<w:document>${paragraph("&b; &lt;&#65;&#x1F600;&amp;lt;&#xD800;&#0;")}</w:document>`,
  });
  expect(await textOf(bytes)).toBe("&b; <A😀&lt;\ufffd\ufffd");
});

test("officeProgram() refuses an archive that is no document", async () => {
  await expect(officeProgram({ bytes: makeZip({ "a.txt": "a" }), maxChars: 10 })).rejects.toThrow(
    new UserError("it is a ZIP archive and no document of Word, Excel or PowerPoint"),
  );
});

test("officeProgram() refuses markup that never ends", async () => {
  await expect(textOf(makeDocx(`<w:p a="${"x".repeat(2_000_000)}`))).rejects.toThrow(
    new UserError("it is damaged (a tag in it never ends)"),
  );
});

const samples = [
  makeDocx(paragraph("some text").repeat(20)),
  makeXlsx([["S", '<row><c r="A1" t="s"><v>0</v></c></row>']], { strings: "<si><t>shared</t></si>" }),
  makePptx([{ body: "<a:p><a:t>slide</a:t></a:p>", notes: "<a:p><a:t>note</a:t></a:p>" }]),
];

test("officeProgram() reads a damaged document or says what is wrong with it", async () => {
  const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...samples),
      damage,
      fc.double({ min: 0.5, max: 1, noNaN: true }),
      async (sample, changes, kept) => {
        const bytes = sample.slice(0, Math.ceil(sample.length * kept));
        for (const [where, value] of changes) bytes[Math.floor(where * (bytes.length - 1))] = value;
        try {
          const { text } = await officeProgram({ bytes, maxChars: 1_000 });
          expect(text.length).toBeLessThanOrEqual(1_000);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
        }
      },
    ),
    { numRuns: 500 },
  );
});
