/** The text of Word and PowerPoint markup: a line for each paragraph, and for each row of a table. */

import type { TextSink } from "./text-sink.ts";
import type { XmlListener } from "./xml.ts";

/**
 * What has nothing to read: properties (a `tab` there is a stop of the ruler), and what stands in for
 * something that is there as well: `Fallback`, and what was moved, which is where it is now too.
 */
const skipped = new Set(["pPr", "rPr", "sectPr", "tblPr", "trPr", "tcPr", "Fallback", "moveFrom"]);
/** The number of a slide, which is a field in its text. */
const COUNTER = "slidenum";

export function createOfficeText(sink: TextSink): XmlListener {
  /** How many elements are open from the one on that is passed over. */
  let skippedDepth = 0;
  let textDepth = 0;
  let cellDepth = 0;

  /** In a cell there is only one line. */
  function endLine(): void {
    if (cellDepth > 0) sink.separate(" ");
    else sink.endLine();
  }

  function open(name: string): void {
    if (name === "t") textDepth += 1;
    if (name === "tc") cellDepth += 1;
    if (name === "tab") sink.separate(cellDepth > 0 ? " " : "\t");
    if (name === "br" || name === "cr") endLine();
    if (name === "noBreakHyphen") sink.add("-");
  }

  function close(name: string): void {
    if (name === "t") textDepth -= 1;
    if (name === "tc") {
      cellDepth -= 1;
      sink.separate(cellDepth > 0 ? " " : "\t");
    }
    if (name === "p" || name === "tr") endLine();
  }

  return {
    open(name, attribute) {
      const isSkipped = skipped.has(name) || (name === "fld" && attribute("type") === COUNTER);
      if (skippedDepth > 0 || isSkipped) skippedDepth += 1;
      else open(name);
    },
    close(name) {
      if (skippedDepth > 0) skippedDepth -= 1;
      else close(name);
    },
    text(text) {
      // Line ends in it are how the file is written, and nothing that was typed.
      if (textDepth > 0 && skippedDepth === 0) sink.add(text.replace(/[\r\n]+/g, " "));
    },
  };
}
