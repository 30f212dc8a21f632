/**
 * Output as whole lines that stay, and below them a footer (the prompt, the spinner) that is drawn, erased
 * and drawn again. Everything that moves the cursor is written here.
 */

import type { Terminal } from "../../core/platform.ts";

export type Stream = "out" | "err";

/** What a footer looks like at some width. No row is as wide as the terminal, so that none ever wraps. */
export interface Picture {
  readonly rows: readonly { readonly text: string; readonly cells: number }[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

export interface Screen {
  /** Adds whole lines above the footer. A missing last newline is added; nothing at all is not a line. */
  print(text: string, stream: Stream): void;
  /** Draws another footer, or none. */
  setFooter(paint: ((columns: number) => Picture) | undefined): void;
  /** Empties the screen, as Ctrl-L does. */
  clear(): void;
  /** Removes the footer and listens no more. */
  close(): void;
}

/** The width to lay text out for; a terminal that does not know says 0. */
export function columnsOf(terminal: Terminal): number {
  return terminal.columns > 0 ? terminal.columns : 80;
}

function draw({ rows, cursorRow, cursorColumn }: Picture): string {
  const up = rows.length - 1 - cursorRow;
  return `${rows.map((row) => row.text).join("\n")}\r${up > 0 ? `\x1b[${up}A` : ""}${
    cursorColumn > 0 ? `\x1b[${cursorColumn}C` : ""
  }`;
}

/** Back to where the picture began. A terminal that became narrower has wrapped its rows meanwhile. */
function erase({ rows, cursorRow, cursorColumn }: Picture, columns: number): string {
  let up = Math.floor(cursorColumn / columns);
  for (const { cells } of rows.slice(0, cursorRow)) up += Math.max(1, Math.ceil(cells / columns));
  return `${up > 0 ? `\x1b[${up}A` : ""}\r\x1b[J`;
}

/** The screen of `terminal`, its footer on the stream that was chosen for it, or nowhere. */
export function createScreen(terminal: Terminal, { footer }: { footer: Stream | undefined }): Screen {
  const write = (text: string, stream: Stream) =>
    text === "" ? undefined : stream === "out" ? terminal.out(text) : terminal.err(text);
  let paint: ((columns: number) => Picture) | undefined;
  let drawn: Picture | undefined;
  let unsubscribe: (() => void) | undefined;

  function erased(): string {
    const text = drawn === undefined ? "" : erase(drawn, columnsOf(terminal));
    drawn = undefined;
    return text;
  }

  function painted(): string {
    drawn = paint?.(columnsOf(terminal));
    return drawn === undefined ? "" : draw(drawn);
  }

  function repaint(): void {
    if (footer === undefined) return;
    // Listening to a terminal costs time and memory: only what draws pays for it.
    if (paint !== undefined) unsubscribe ??= terminal.onResize(repaint);
    write(erased() + painted(), footer);
  }

  return {
    print(text, stream) {
      if (text === "") return;
      const lines = text.endsWith("\n") ? text : `${text}\n`;
      if (footer === undefined) write(lines, stream);
      else if (footer === stream) write(erased() + lines + painted(), stream);
      else {
        write(erased(), footer);
        write(lines, stream);
        write(painted(), footer);
      }
    },

    setFooter(next) {
      paint = next;
      repaint();
    },

    clear() {
      if (footer === undefined) return;
      drawn = undefined;
      write(`\x1b[H\x1b[2J${painted()}`, footer);
    },

    close() {
      unsubscribe?.();
      unsubscribe = undefined;
      paint = undefined;
      repaint();
    },
  };
}
