/** Small documents, made as the programs make them that people use. */

import { strToU8, type Zippable, zipSync } from "fflate";

export type Members = Readonly<Record<string, string>>;

export function makeZip(members: Members): Uint8Array<ArrayBuffer> {
  const files: Zippable = {};
  for (const [name, text] of Object.entries(members)) files[name] = strToU8(text);
  return zipSync(files);
}

const HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** `body` is WordprocessingML. */
export function makeDocx(body: string, others: Members = {}): Uint8Array<ArrayBuffer> {
  return makeZip({
    "[Content_Types].xml": `${HEADER}<Types/>`,
    "word/document.xml": `${HEADER}<w:document><w:body>${body}</w:body></w:document>`,
    ...others,
  });
}

export function paragraph(text: string): string {
  return `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

export function relationships(relations: readonly (readonly [kind: string, target: string])[]): string {
  const rows = relations.map(
    ([kind, target], index) =>
      `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${kind}" Target="${target}"/>`,
  );
  return `${HEADER}<Relationships>${rows.join("")}</Relationships>`;
}

/** `sheets` are names and their `sheetData`; the second is the first file, so that only the workbook has the order. */
export function makeXlsx(
  sheets: readonly (readonly [name: string, rows: string])[],
  { strings = "", styles = "", properties = "" } = {},
): Uint8Array<ArrayBuffer> {
  const files = sheets.map((_, index) => `sheet${sheets.length - index}.xml`);
  const members: Record<string, string> = {
    "xl/workbook.xml": `${HEADER}<workbook>${properties}<sheets>${sheets
      .map(([name], index) => `<sheet name="${name}" sheetId="${index + 7}" r:id="rId${index + 1}"/>`)
      .join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships([
      ...files.map((file) => ["worksheet", `worksheets/${file}`] as const),
      ["sharedStrings", "/xl/sharedStrings.xml"],
      ["styles", "styles.xml"],
    ]),
    "xl/sharedStrings.xml": `${HEADER}<sst>${strings}</sst>`,
    "xl/styles.xml": `${HEADER}<styleSheet>${styles}</styleSheet>`,
  };
  for (const [index, [, rows]] of sheets.entries()) {
    members[`xl/worksheets/${files[index]}`] =
      `${HEADER}<worksheet><sheetData>${rows}</sheetData></worksheet>`;
  }
  return makeZip(members);
}

/** `slides` are DrawingML, with notes or without; their files are numbered from the last. */
export function makePptx(
  slides: readonly { readonly body: string; readonly notes?: string }[],
): Uint8Array<ArrayBuffer> {
  const numbers = slides.map((_, index) => slides.length - index);
  const members: Record<string, string> = {
    "ppt/presentation.xml": `${HEADER}<p:presentation><p:sldIdLst>${slides
      .map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`)
      .join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relationships(
      numbers.map((number) => ["slide", `slides/slide${number}.xml`] as const),
    ),
  };
  for (const [index, { body, notes }] of slides.entries()) {
    const number = numbers[index];
    members[`ppt/slides/slide${number}.xml`] = `${HEADER}<p:sld>${body}</p:sld>`;
    if (notes === undefined) continue;
    members[`ppt/slides/_rels/slide${number}.xml.rels`] = relationships([
      ["slideLayout", "../slideLayouts/slideLayout1.xml"],
      ["notesSlide", `../notesSlides/notesSlide${number}.xml`],
    ]);
    members[`ppt/notesSlides/notesSlide${number}.xml`] = `${HEADER}<p:notes>${notes}</p:notes>`;
  }
  return makeZip(members);
}

interface PdfOptions {
  readonly trailer?: string;
  readonly width?: number;
  /** What is drawn by `/X Do`: the first of these by a page, and each next one by the one before it. */
  readonly forms?: readonly string[];
}

/** A page for each text, whose lines stand below each other. Only ASCII without brackets, and as much as fits in a page. */
export function makePdf(
  pages: readonly string[],
  { trailer = "", width = 612, forms = [] }: PdfOptions = {},
): Uint8Array<ArrayBuffer> {
  const contents = pages.map((text) => {
    const shown = text.split("\n").map((line) => `(${line}) Tj T*`);
    return `BT /F1 12 Tf 14 TL 72 720 Td ${shown.join(" ")} ET${forms.length > 0 ? " /X Do" : ""}`;
  });
  const firstForm = 4 + 2 * pages.length;
  const resources = (form: number) =>
    `/Resources<</Font<</F1 3 0 R>>${form < forms.length ? `/XObject<</X ${firstForm + form} 0 R>>` : ""}>>`;
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Count ${pages.length}/Kids[${pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ")}]>>`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ...contents.flatMap((content, index) => [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} 792]${resources(0)}/Contents ${5 + 2 * index} 0 R>>`,
      `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
    ]),
    ...forms.map(
      (content, index) =>
        `<</Subtype/Form/BBox[0 0 9 9]${resources(index + 1)}/Length ${content.length}>>\nstream\n${content}\nendstream`,
    ),
  ];
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  return strToU8(
    `${file}${table}trailer\n<</Size ${objects.length + 1}/Root 1 0 R${trailer}>>\nstartxref\n${file.length}\n%%EOF\n`,
  );
}
