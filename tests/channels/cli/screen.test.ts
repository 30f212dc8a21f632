import { expect, test } from "bun:test";
import { drawInput } from "../../../src/channels/cli/input-line.ts";
import { createScreen } from "../../../src/channels/cli/screen.ts";
import { createFakeTerminal } from "../../fakes/terminal.ts";
import { createEmulator } from "./emulator.ts";

const look = { width: (text: string) => Bun.stringWidth(text), color: false };

function screenOf(columns: number) {
  const emulator = createEmulator(columns);
  const terminal = createFakeTerminal({ tty: true, columns, onWrite: emulator.write });
  const screen = createScreen(terminal, { footer: "out" });
  const edit = (text: string, cursor = text.length) =>
    screen.setFooter((width) => drawInput({ text, cursor }, width, look));
  const resize = (next: number) => {
    emulator.resize(next);
    terminal.resize(next);
  };
  return { emulator, terminal, screen, edit, resize };
}

test("createScreen() prints lines above the footer and draws it again", () => {
  const { emulator, screen, edit } = screenOf(20);
  edit("one\ntwo", 1);
  screen.print("answer", "out");
  screen.print("aside\n", "err");
  expect(emulator.rows).toEqual(["answer", "aside", "› one", "  two"]);
  expect(emulator.cursor).toEqual({ row: 2, column: 3 });
});

test("createScreen() leaves nothing of a footer that became smaller", () => {
  const { emulator, edit } = screenOf(12);
  edit("a long text of some rows");
  edit("short");
  expect(emulator.rows).toEqual(["› short"]);
});

for (const next of [10, 15, 20, 60]) {
  test(`createScreen() draws the footer anew when a terminal of 30 columns gets ${next}`, () => {
    const { emulator, screen, edit, resize } = screenOf(30);
    screen.print("stays", "out");
    edit("some words that take more than one row 日本語 of the terminal", 45);
    resize(next);
    const fresh = screenOf(next);
    fresh.screen.print("stays", "out");
    fresh.edit("some words that take more than one row 日本語 of the terminal", 45);
    expect(emulator.rows).toEqual(fresh.emulator.rows);
    expect(emulator.cursor).toEqual(fresh.emulator.cursor);
  });
}

test("createScreen() empties the screen and keeps the footer on clear()", () => {
  const { emulator, screen, edit } = screenOf(20);
  screen.print("old", "out");
  edit("text");
  screen.clear();
  expect(emulator.rows).toEqual(["› text"]);
});

test("createScreen() removes the footer and ignores resizes after close()", () => {
  const { emulator, terminal, screen, edit } = screenOf(20);
  screen.print("stays", "out");
  edit("text");
  screen.close();
  expect(emulator.rows).toEqual(["stays"]);
  const written = terminal.written;
  terminal.resize(10);
  expect(terminal.written).toBe(written);
});

test("createScreen() writes plain lines only when there is nowhere to draw", () => {
  const terminal = createFakeTerminal();
  const screen = createScreen(terminal, { footer: undefined });
  screen.setFooter(() => ({ rows: [{ text: "x", cells: 1 }], cursorRow: 0, cursorColumn: 1 }));
  screen.print("a", "out");
  screen.print("b\n", "err");
  screen.print("", "out");
  terminal.resize(10);
  screen.close();
  expect([terminal.stdout, terminal.stderr]).toEqual(["a\n", "b\n"]);
});
