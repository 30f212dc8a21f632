import { expect, test } from "bun:test";
import fc from "fast-check";
import { applyKey, emptyEditor } from "../../../src/channels/cli/editor.ts";
import { drawInput, drawSubmitted } from "../../../src/channels/cli/input-line.ts";
import { createScreen } from "../../../src/channels/cli/screen.ts";
import { createFakeTerminal, key, pasted } from "../../fakes/terminal.ts";
import { createEmulator } from "./emulator.ts";

const look = { width: (text: string) => Bun.stringWidth(text), color: false };

/** What the screen shows of a text whose cursor stands at `|`. */
function seen(marked: string, columns: number) {
  const text = marked.replace("|", "");
  const emulator = createEmulator(columns);
  const terminal = createFakeTerminal({ tty: true, columns, onWrite: emulator.write });
  createScreen(terminal, { footer: "out" }).setFooter((width) =>
    drawInput({ text, cursor: marked.indexOf("|") }, width, look),
  );
  return { rows: emulator.rows, cursor: [emulator.cursor.row, emulator.cursor.column] };
}

test("drawInput() puts the cursor behind the prompt when there is no text", () => {
  expect(seen("|", 20)).toEqual({ rows: ["›"], cursor: [0, 2] });
});

test("drawInput() wraps a long line one cell before the edge", () => {
  expect(seen("0123456789|", 10)).toEqual({ rows: ["› 0123456", "  789"], cursor: [1, 5] });
});

test("drawInput() keeps the cursor on the row that is just full", () => {
  expect(seen("0123456|", 10)).toEqual({ rows: ["› 0123456"], cursor: [0, 9] });
});

test("drawInput() puts the cursor on the next row when text follows a full row", () => {
  expect(seen("0123456|789", 10)).toEqual({ rows: ["› 0123456", "  789"], cursor: [1, 2] });
});

test("drawInput() counts two cells for a wide character and does not cut it at the edge", () => {
  expect(seen("日本語日|本", 10)).toEqual({ rows: ["› 日本語", "  日本"], cursor: [1, 4] });
});

test("drawInput() counts a joined emoji as one", () => {
  expect(seen("👩‍👧a|b", 20)).toEqual({ rows: ["› 👩‍👧ab"], cursor: [0, 5] });
});

test("drawInput() indents the lines below the first", () => {
  expect(seen("one\n\ntw|o", 20)).toEqual({ rows: ["› one", "", "  two"], cursor: [2, 4] });
});

test("drawInput() shows a tab as two cells", () => {
  expect(seen("a\tb|", 20)).toEqual({ rows: ["› a  b"], cursor: [0, 6] });
});

const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);

test("drawInput() shows ten rows around the cursor of a long text, and that there is more", () => {
  const marked = lines.map((line) => (line === "line 15" ? "line 15|" : line)).join("\n");
  const { rows, cursor } = seen(marked, 20);
  expect(rows).toHaveLength(10);
  expect(rows[0]).toBe("… line 10");
  expect(rows[9]).toBe("… line 19");
  expect(cursor).toEqual([5, 9]);
});

test("drawInput() shows the end of a long text with the cursor behind it", () => {
  const { rows } = seen(`${lines.join("\n")}|`, 20);
  expect([rows[0], rows.at(-1)]).toEqual(["… line 20", "  line 29"]);
});

test("drawSubmitted() shows the beginning of a long text and that there is more", () => {
  const rows = drawSubmitted(lines.join("\n"), 20, look).split("\n");
  expect([rows.length, rows[0], rows[9]]).toEqual([10, "› line 0", "… line 9"]);
});

const words = fc.array(fc.constantFrom("a", "word ", "語", "👩‍👧", "\n", "e\u0301", "🇦🇹"), { maxLength: 40 });

test("drawInput() never fills the last column, shows all of a short text, and finds the cursor's cell", () => {
  fc.assert(
    fc.property(words, fc.nat(), fc.integer({ min: 8, max: 40 }), (parts, steps, columns) => {
      let state = applyKey(emptyEditor(), pasted(parts.join(""))).state;
      for (let step = 0; step < steps % 20; step += 1) state = applyKey(state, key("left")).state;
      const { rows, cursorRow, cursorColumn } = drawInput(state, columns, look);
      for (const { text, cells } of rows) {
        expect(cells).toBe(look.width(text));
        expect(cells).toBeLessThan(columns);
      }
      expect(cursorColumn).toBeLessThan(columns);
      const end = rows.at(-1)?.text.slice(2) ?? "";
      if (rows.length < 10) {
        expect(rows.map(({ text }) => text.slice(2)).join("")).toBe(state.text.replaceAll("\n", ""));
        if (state.cursor === state.text.length) expect(cursorColumn).toBe(2 + look.width(end));
      }
      expect(rows[cursorRow]).toBeDefined();
    }),
    { numRuns: 300 },
  );
});
