/** Which numbers in the cells of a spreadsheet are dates: only their format says so. */

import { readXml } from "./xml.ts";
import type { Archive } from "./zip.ts";

export interface CellFormats {
  /** `value` as it is in the file, or as a date where `style` is one of a date. */
  show(value: string, style: number): string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Day 0. It is one day off before March 1900, as it is in the programs that write these files. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
/** As many as a spreadsheet can have. */
const MOST_FORMATS = 65_536;
/** The last day of the year 9999. */
const LAST_DAY = 2_958_465;

/** The formats that every spreadsheet has. The others are in it. */
function isStandardDate(format: number): boolean {
  return (format >= 14 && format <= 22) || (format >= 45 && format <= 47);
}

/** Letters that are no literal text, colour or condition. */
function isDateCode(code: string): boolean {
  return /[dmyhs]/i.test(code.replace(/"[^"]*"|\[[^\]]*\]|[\\_*]./g, ""));
}

function showDate(days: number, epoch: number): string {
  const [date = "", time = ""] = new Date(epoch + Math.round(days * DAY_MS)).toISOString().split("T");
  const clock = time.slice(0, 8);
  if (days < 1) return clock;
  return clock === "00:00:00" ? date : `${date} ${clock}`;
}

export function readCellFormats(archive: Archive, name: string, is1904: boolean): CellFormats {
  const codes = new Map<number, boolean>();
  const isDate: boolean[] = [];
  let isInCells = false;
  readXml(archive.read(name), {
    open(element, attribute) {
      const format = Number(attribute("numFmtId"));
      if (element === "numFmt" && codes.size < MOST_FORMATS) {
        codes.set(format, isDateCode(attribute("formatCode") ?? ""));
      }
      if (element === "cellXfs") isInCells = true;
      if (element === "xf" && isInCells && isDate.length < MOST_FORMATS)
        isDate.push(codes.get(format) ?? isStandardDate(format));
    },
    close(element) {
      if (element === "cellXfs") isInCells = false;
    },
  });
  return {
    show(value, style) {
      const days = Number(value);
      const canBe = value.trim() !== "" && days >= 0 && days <= LAST_DAY;
      if (!canBe || isDate[style] !== true) return value;
      return showDate(days, is1904 ? EPOCH_1904 : EPOCH_1900);
    },
  };
}
