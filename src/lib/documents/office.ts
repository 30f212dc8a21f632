/** The program of the threads that turn the documents of office programs into text. */

import { UserError } from "../../core/errors.ts";
import type { OfficeKind, WorkerProgram } from "../../core/workers.ts";
import { createOfficeText } from "./office-text.ts";
import { PRESENTATION, readPresentation } from "./presentation.ts";
import { readSpreadsheet, WORKBOOK } from "./spreadsheet.ts";
import { createTextSink, type TextSink } from "./text-sink.ts";
import { readXml } from "./xml.ts";
import { type Archive, openArchive } from "./zip.ts";

const DOCUMENT = "word/document.xml";

function readDocument(archive: Archive, sink: TextSink): void {
  for (const name of [DOCUMENT, "word/footnotes.xml", "word/endnotes.xml"]) {
    readXml(archive.read(name), createOfficeText(sink), sink.isFull);
  }
}

interface Format {
  readonly kind: OfficeKind;
  /** The member that each document of the kind has. */
  readonly main: string;
  readonly read: (archive: Archive, sink: TextSink) => void;
}

const formats: readonly Format[] = [
  { kind: "docx", main: DOCUMENT, read: readDocument },
  { kind: "xlsx", main: WORKBOOK, read: readSpreadsheet },
  { kind: "pptx", main: PRESENTATION, read: readPresentation },
];

export const officeProgram: WorkerProgram<"office"> = async ({ bytes, maxChars }) => {
  const archive = await openArchive(bytes);
  const format = formats.find(({ main }) => archive.has(main));
  if (format === undefined) {
    throw new UserError("it is a ZIP archive and no document of Word, Excel or PowerPoint");
  }
  const sink = createTextSink(maxChars);
  format.read(archive, sink);
  return { kind: format.kind, ...sink.finish() };
};
