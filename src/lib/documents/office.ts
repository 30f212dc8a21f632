/** The program of the threads that turn the documents of office programs into text. */

import { UserError } from "../../core/errors.ts";
import type { OfficeKind, WorkerProgram } from "../../core/workers.ts";
import { createOfficeText } from "./office-text.ts";
import { readPresentation } from "./presentation.ts";
import { readRelations } from "./relations.ts";
import { readSpreadsheet } from "./spreadsheet.ts";
import { createTextSink, type TextSink } from "./text-sink.ts";
import { readXml } from "./xml.ts";
import { type Archive, openArchive } from "./zip.ts";

function readDocument(archive: Archive, main: string, sink: TextSink): void {
  for (const name of [main, "word/footnotes.xml", "word/endnotes.xml"]) {
    readXml(archive.read(name), createOfficeText(sink), sink.isFull);
  }
}

interface Format {
  readonly kind: OfficeKind;
  readonly folder: string;
  /** What the member that all else hangs on is called, nearly always. */
  readonly main: string;
  readonly read: (archive: Archive, main: string, sink: TextSink) => void;
}

const formats: readonly Format[] = [
  { kind: "docx", folder: "word/", main: "word/document.xml", read: readDocument },
  { kind: "xlsx", folder: "xl/", main: "xl/workbook.xml", read: readSpreadsheet },
  { kind: "pptx", folder: "ppt/", main: "ppt/presentation.xml", read: readPresentation },
];

function findMain(archive: Archive): { format: Format; main: string } | undefined {
  const usual = formats.find(({ main }) => archive.has(main));
  if (usual !== undefined) return { format: usual, main: usual.main };
  const main = readRelations(archive, "").find(({ kind }) => kind === "officeDocument")?.target ?? "";
  const format = formats.find(({ folder }) => main.startsWith(folder));
  return format !== undefined && archive.has(main) ? { format, main } : undefined;
}

export const officeProgram: WorkerProgram<"office"> = async ({ bytes, maxChars }) => {
  const archive = await openArchive(bytes);
  const found = findMain(archive);
  if (found === undefined) {
    throw new UserError("it is a ZIP archive and no document of Word, Excel or PowerPoint");
  }
  const sink = createTextSink(maxChars);
  found.format.read(archive, found.main, sink);
  return { kind: found.format.kind, ...sink.finish() };
};
