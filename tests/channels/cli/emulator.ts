/** A terminal's screen, as far as the channel uses one: what a person sees after some writes. */

interface Row {
  cells: string[];
  /** The line goes on in the next row because it was too long for this one. */
  wrapped: boolean;
}

export interface Emulator {
  write(text: string): void;
  /** Lines that became too long wrap, wrapped ones join again, as most terminals do it. */
  resize(columns: number): void;
  /** The rows from the first to the last that is not blank, without trailing blanks. */
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const token = /\x1b\[([0-9;?]*)([A-Za-z])|[\n\r]|[^\x00-\x1f\x7f]+|[\s\S]/g;

export function createEmulator(initialColumns: number): Emulator {
  let columns = initialColumns;
  let rows: Row[] = [{ cells: [], wrapped: false }];
  let row = 0;
  let column = 0;

  function current(): Row {
    while (rows.length <= row) rows.push({ cells: [], wrapped: false });
    return rows[row] as Row;
  }

  function put(grapheme: string): void {
    const width = Bun.stringWidth(grapheme);
    if (column + width > columns) {
      current().wrapped = true;
      row += 1;
      column = 0;
    }
    const { cells } = current();
    while (cells.length < column) cells.push(" ");
    if (width === 0 && column > 0) cells[column - 1] += grapheme;
    else cells.splice(column, width, grapheme, ...Array<string>(Math.max(0, width - 1)).fill(""));
    column += width;
  }

  function eraseBelow(): void {
    current().cells.length = Math.min(column, current().cells.length);
    current().wrapped = false;
    rows.length = row + 1;
  }

  function control(parameters: string, command: string): void {
    const count = Number(parameters || 1);
    if (command === "m") return;
    if (command === "A") row = Math.max(0, row - count);
    else if (command === "C") column = Math.min(columns - 1, column + count);
    else if (command === "H" && parameters === "") row = column = 0;
    else if (command === "J" && parameters === "2") rows = [];
    else if (command === "J" && parameters === "") eraseBelow();
    else throw new Error(`Cannot emulate "${command}" with "${parameters}"`);
  }

  return {
    write(text) {
      for (const [whole, parameters, command] of text.matchAll(token)) {
        if (command !== undefined) control(parameters ?? "", command);
        else if (whole === "\r") column = 0;
        else if (whole === "\n") {
          current().wrapped = false;
          row += 1;
          column = 0;
          current();
        } else if (/^[\x00-\x1f\x7f]/.test(whole)) throw new Error(`Cannot emulate ${JSON.stringify(whole)}`);
        else for (const { segment } of graphemes.segment(whole)) put(segment);
      }
    },

    resize(next) {
      current();
      const old = rows;
      const cursor = { row, column };
      rows = [];
      columns = next;
      row = 0;
      column = 0;
      let target = { row: 0, column: 0 };
      old.forEach(({ cells, wrapped }, index) => {
        if (index === cursor.row) {
          const cell = column + cursor.column;
          target = { row: row + Math.floor(cell / next), column: cell % next };
        }
        for (const cell of cells) if (cell !== "") put(cell);
        if (wrapped) return;
        current();
        row += 1;
        column = 0;
      });
      ({ row, column } = target);
    },

    get rows() {
      const texts = rows.map(({ cells }) => cells.join("").trimEnd());
      return texts.slice(0, texts.findLastIndex((text) => text !== "") + 1);
    },
    get cursor() {
      return { row, column };
    },
  };
}
