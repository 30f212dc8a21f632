/** Tables as Markdown, whatever they are made of: without a head, with cells that span others, around other tables. */

import type TurndownService from "turndown";

interface Cell {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

interface Row {
  readonly cells: readonly Cell[];
  readonly isHead: boolean;
}

/** The part of an element that is used here. */
interface TableElement {
  readonly nodeName: string;
  readonly parentNode: TableElement | null;
  getAttribute(name: string): string | null;
  querySelector(selector: string): TableElement | null;
  querySelectorAll(selector: string): ArrayLike<TableElement>;
}

const MOST_COLUMNS = 50;
const MOST_ROWS = 500;
/** What cells that span others are filled up with in all, which is more than any honest table has. */
const MOST_FILLING = 20_000;

function span(element: TableElement, attribute: string, most: number): number {
  const span = Number(element.getAttribute(attribute) ?? 1);
  return span >= 1 && span <= most ? Math.floor(span) : 1;
}

/** Around other tables, or with a single cell, it only says where things go. */
function isLayout(table: TableElement): boolean {
  if (/^(presentation|none)$/.test(table.getAttribute("role") ?? "")) return true;
  return table.querySelector("table") !== null || table.querySelectorAll("td, th").length < 2;
}

/** One line, as a row has to be. */
function inline(content: string): string {
  return content
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ")
    .replaceAll("|", "\\|");
}

export function addTables(turndown: TurndownService): void {
  const layouts = new Map<TableElement, boolean>();
  const rowsOf = new Map<TableElement, Row[]>();
  const cellsOf = new Map<TableElement, Cell[]>();

  function tableOf(element: TableElement): TableElement | undefined {
    for (let at = element.parentNode; at !== null; at = at.parentNode) {
      if (at.nodeName === "TABLE") return at;
    }
    return undefined;
  }

  /** `undefined` where there is no table, or none of data. */
  function dataTable(element: TableElement): TableElement | undefined {
    const table = tableOf(element);
    if (table === undefined) return undefined;
    const known = layouts.get(table) ?? isLayout(table);
    layouts.set(table, known);
    return known ? undefined : table;
  }

  turndown.addRule("cell", {
    filter: ["td", "th"],
    replacement(content, node) {
      const element = node as TableElement;
      const row = element.parentNode;
      if (row === null || dataTable(element) === undefined) return `\n\n${content}\n\n`;
      const cells = cellsOf.get(row) ?? [];
      cellsOf.set(row, cells);
      cells.push({
        text: inline(content),
        columns: span(element, "colspan", MOST_COLUMNS),
        rows: span(element, "rowspan", MOST_ROWS),
      });
      return "";
    },
  });

  turndown.addRule("row", {
    filter: "tr",
    replacement(content, node) {
      const element = node as TableElement;
      const table = dataTable(element);
      if (table === undefined) return content;
      const rows = rowsOf.get(table) ?? [];
      rowsOf.set(table, rows);
      const isHead =
        element.parentNode?.nodeName === "THEAD" ||
        (rows.length === 0 && element.querySelector("th") !== null && element.querySelector("td") === null);
      rows.push({ cells: cellsOf.get(element) ?? [], isHead });
      return content;
    },
  });

  turndown.addRule("table", {
    filter: "table",
    replacement(content, node) {
      const rows = rowsOf.get(node as TableElement);
      // What stands in a table beside its rows is a caption.
      const caption = content.trim() === "" ? "" : `${content.trim()}\n\n`;
      return rows === undefined ? `\n\n${content}\n\n` : `\n\n${caption}${layOut(rows)}\n\n`;
    },
  });
}

function layOut(rows: readonly Row[]): string {
  const grid = fill(rows);
  const columns = Math.max(1, ...grid.map((cells) => cells.length));
  const [first = [], ...others] = grid;
  const hasHead = rows[0]?.isHead ?? false;
  const head = hasHead ? [...first, ...blanks(columns - first.length)] : blanks(columns);
  const body = hasHead ? others : grid;
  return [head, Array(columns).fill("---"), ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const blanks = (count: number): string[] => Array(count).fill("");

/** Puts an empty cell wherever another reaches. */
function fill(rows: readonly Row[]): string[][] {
  let left = MOST_FILLING;
  /** By column: how many more rows the cell above reaches into. */
  let reaching: number[] = [];
  return rows.map(({ cells }) => {
    const line: string[] = [];
    const next: number[] = [];
    const occupied = () => {
      while ((reaching[line.length] ?? 0) > 0 && left > 0) {
        next[line.length] = (reaching[line.length] ?? 0) - 1;
        line.push("");
        left -= 1;
      }
    };
    for (const { text, columns, rows: reach } of cells) {
      occupied();
      for (let column = 0; column < columns && (column === 0 || left > 0); column += 1) {
        if (reach > 1) next[line.length] = reach - 1;
        line.push(column === 0 ? text : "");
        if (column > 0) left -= 1;
      }
    }
    occupied();
    reaching = next;
    return line;
  });
}
