/** Gathers the text of a document line by line, as much of it as is wanted. */

import { head, wellFormed } from "../text.ts";

export interface TextSink {
  /** Of the line that is being written. */
  add(text: string): void;
  /** Something else follows in the line. Nothing is written unless it does: a line ends in no tabs. */
  separate(mark: " " | "\t"): void;
  endLine(): void;
  /** Whatever follows is for nothing. */
  isFull(): boolean;
  /** With the line that was not ended. */
  finish(): { readonly text: string; readonly truncated: boolean };
}

export function createTextSink(maxChars: number): TextSink {
  const lines: string[] = [];
  /** Of the lines, with their ends. */
  let chars = 0;
  let line = "";
  let tabs = 0;
  let hasSpace = false;

  const isFull = () => chars + line.length + tabs > maxChars;

  function startLine(): void {
    line = "";
    tabs = 0;
    hasSpace = false;
  }

  return {
    isFull,
    add(text) {
      if (text === "" || isFull()) return;
      const space = hasSpace && tabs === 0 && line !== "" ? " " : "";
      line += "\t".repeat(tabs) + space + text;
      tabs = 0;
      hasSpace = false;
    },
    separate(mark) {
      if (mark === "\t") tabs += 1;
      hasSpace = mark === " ";
    },
    endLine() {
      if (isFull()) return;
      lines.push(line);
      chars += line.length + 1;
      startLine();
    },
    finish() {
      const text = wellFormed([...lines, line].join("\n").trimEnd());
      return { text: head(text, maxChars), truncated: isFull() };
    },
  };
}
