/** The text of an Excel document: its sheets in their order, a line for each row with its cells between tabs. */

import { UserError } from "../../core/errors.ts";
import { head } from "../text.ts";
import { type CellFormats, readCellFormats } from "./cell-formats.ts";
import { readRelations } from "./relations.ts";
import type { TextSink } from "./text-sink.ts";
import { readXml, type XmlListener } from "./xml.ts";
import type { Archive } from "./zip.ts";

/** Sheets only have numbers for them, so that all must be in memory. */
const MOST_STRINGS = 2_000_000;
const MOST_STRING_CHARS = 64 * 1024 * 1024;
/** As many as a sheet can have. */
const MOST_COLUMNS = 16_384;
/** Three times what a cell can hold. */
const MOST_CELL_CHARS = 100_000;

interface Sheet {
  readonly name: string;
  readonly target: string;
}

interface Workbook {
  readonly sheets: readonly Sheet[];
  readonly strings: readonly string[];
  readonly formats: CellFormats;
}

/** A file can claim to have more in a cell than there is memory. */
function append(text: string, piece: string): string {
  return text.length < MOST_CELL_CHARS ? text + head(piece, MOST_CELL_CHARS - text.length) : text;
}

/** Gathers text in `t`, without the hints on how it is pronounced. */
function createStringReader() {
  let text = "";
  let isInText = false;
  let isInHint = false;
  return {
    take(): string {
      const taken = text;
      text = "";
      return taken;
    },
    open(name: string): void {
      if (name === "t") isInText = true;
      if (name === "rPh") isInHint = true;
    },
    close(name: string): void {
      if (name === "t") isInText = false;
      if (name === "rPh") isInHint = false;
    },
    text(piece: string): void {
      if (isInText && !isInHint) text = append(text, piece);
    },
  };
}

function readStrings(archive: Archive, name: string): readonly string[] {
  const strings: string[] = [];
  const reader = createStringReader();
  let chars = 0;
  readXml(archive.read(name), {
    open: reader.open,
    close(element) {
      reader.close(element);
      if (element !== "si") return;
      const text = reader.take();
      chars += text.length;
      strings.push(text);
      if (strings.length > MOST_STRINGS || chars > MOST_STRING_CHARS) {
        throw new UserError("it has too much text in its cells");
      }
    },
    text: reader.text,
  });
  return strings;
}

function readWorkbook(archive: Archive, main: string): Workbook {
  const relations = readRelations(archive, main);
  const targets = new Map(relations.map(({ id, target }) => [id, target]));
  const targetOf = (wanted: string, usual: string) =>
    relations.find(({ kind }) => kind === wanted)?.target ?? usual;
  const sheets = new Map<string, Sheet>();
  let is1904 = false;
  readXml(archive.read(main), {
    open(name, attribute) {
      if (name === "workbookPr") is1904 = ["1", "true"].includes(attribute("date1904") ?? "");
      const target = name === "sheet" ? targets.get(attribute("*:id") ?? "") : undefined;
      if (target !== undefined) sheets.set(target, { name: attribute("name") ?? "", target });
    },
  });
  return {
    sheets: [...sheets.values()],
    strings: readStrings(archive, targetOf("sharedStrings", "xl/sharedStrings.xml")),
    formats: readCellFormats(archive, targetOf("styles", "xl/styles.xml"), is1904),
  };
}

/** From 1. `undefined` when the cell does not say where it is. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0];
  if (letters === undefined) return undefined;
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
  return column <= MOST_COLUMNS ? column : undefined;
}

function createSheetReader({ strings, formats }: Workbook, sink: TextSink): XmlListener {
  const inline = createStringReader();
  /** The column that the line is in. */
  let column = 0;
  let type = "n";
  let style = 0;
  let value = "";
  let isInValue = false;
  let formula = "";
  let isInFormula = false;

  function startCell(attribute: (name: string) => string | undefined): void {
    type = attribute("t") ?? "n";
    style = Number(attribute("s") ?? 0);
    value = "";
    formula = "";
    const next = Math.max(columnOf(attribute("r")) ?? 0, column + 1);
    for (; column < next; column++) if (column > 0) sink.separate("\t");
  }

  function shownValue(): string {
    if (type === "inlineStr") return inline.take();
    // Who wrote it does not calculate, and nobody who does has saved it yet.
    if (value === "" && formula !== "") return `=${formula}`;
    if (type === "s") return strings[Number(value)] ?? "";
    if (type === "b") return value === "1" ? "TRUE" : "FALSE";
    return type === "n" ? formats.show(value, style) : value;
  }

  return {
    open(name, attribute) {
      inline.open(name);
      if (name === "c") startCell(attribute);
      if (name === "v") isInValue = true;
      if (name === "f") isInFormula = true;
    },
    close(name) {
      inline.close(name);
      if (name === "v") isInValue = false;
      if (name === "f") isInFormula = false;
      if (name === "c") sink.add(shownValue().replace(/\s+/g, " ").trim());
      if (name === "row") {
        sink.endLine();
        column = 0;
      }
    },
    text(text) {
      inline.text(text);
      if (isInValue) value = append(value, text);
      if (isInFormula) formula = append(formula, text);
    },
  };
}

export function readSpreadsheet(archive: Archive, main: string, sink: TextSink): void {
  const workbook = readWorkbook(archive, main);
  for (const [index, { name, target }] of workbook.sheets.entries()) {
    if (sink.isFull()) return;
    if (index > 0) sink.endLine();
    sink.add(`[Sheet: ${name.replace(/\s+/g, " ")}]`);
    sink.endLine();
    readXml(archive.read(target), createSheetReader(workbook, sink), sink.isFull);
  }
}
