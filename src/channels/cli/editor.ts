/** The multi-line editor as a pure function from a state and a key to the next state. */

import type { Key } from "../../core/platform.ts";
import { stripControls, wellFormed } from "../../lib/text.ts";
import {
  boundaryFrom,
  graphemes,
  lineEnd,
  lineStart,
  nextBoundary,
  nextWord,
  previousBlank,
  previousBoundary,
  previousWord,
} from "./graphemes.ts";
import { MAX_ENTRIES } from "./history.ts";

/** The longest text the editor takes, in UTF-16 code units: every key press lays it out anew. */
export const MAX_TEXT = 256 * 1024;

export interface EditorState {
  /** Well-formed; lines end in `\n`. */
  readonly text: string;
  /** An index into `text`, always on a grapheme boundary. */
  readonly cursor: number;
  /** What was submitted before, oldest first. */
  readonly history: readonly string[];
  /** Which entry of `history` is shown; its length stands for the draft. */
  readonly entry: number;
  /** What was being written when the user went into the history. */
  readonly draft: string;
}

export type EditorAction =
  | { readonly type: "submit"; readonly text: string }
  | { readonly type: "leave" }
  | { readonly type: "interrupt" }
  | { readonly type: "clearScreen" }
  /** The text was not taken, because it would have grown beyond `MAX_TEXT`. */
  | { readonly type: "tooLong" };

export interface EditorStep {
  readonly state: EditorState;
  readonly action?: EditorAction;
}

/** An empty editor. */
export function emptyEditor(history: readonly string[] = []): EditorState {
  return { text: "", cursor: 0, history, entry: history.length, draft: "" };
}

function moved(state: EditorState, cursor: number): EditorStep {
  return { state: { ...state, cursor } };
}

/** Takes out what stands between two boundaries and puts `inserted` there, the cursor behind it. */
function replaced(state: EditorState, start: number, end: number, inserted = ""): EditorStep {
  const text = state.text.slice(0, start) + inserted + state.text.slice(end);
  if (inserted !== "" && text.length > MAX_TEXT) return { state, action: { type: "tooLong" } };
  return { state: { ...state, text, cursor: boundaryFrom(text, start + inserted.length) } };
}

function typed(state: EditorState, text: string): EditorStep {
  const clean = wellFormed(stripControls(text.replace(/\r\n?/g, "\n")));
  return clean === "" ? { state } : replaced(state, state.cursor, state.cursor, clean);
}

function showEntry(state: EditorState, entry: number): EditorStep {
  const draft = state.entry === state.history.length ? state.text : state.draft;
  const text = state.history[entry] ?? draft;
  return { state: { ...state, entry, draft, text, cursor: text.length } };
}

/** The boundary of the line from `start` that has as many graphemes before it as the cursor has now. */
function sameColumn(state: EditorState, start: number): number {
  let column = 0;
  for (const _ of graphemes(state.text.slice(lineStart(state.text, state.cursor), state.cursor))) column += 1;
  let at = start;
  for (const grapheme of graphemes(state.text.slice(start, lineEnd(state.text, start)))) {
    if (column === 0) break;
    column -= 1;
    at += grapheme.length;
  }
  return at;
}

function up(state: EditorState): EditorStep {
  const start = lineStart(state.text, state.cursor);
  if (start > 0) return moved(state, sameColumn(state, lineStart(state.text, start - 1)));
  return state.entry > 0 ? showEntry(state, state.entry - 1) : { state };
}

function down(state: EditorState): EditorStep {
  const end = lineEnd(state.text, state.cursor);
  if (end < state.text.length) return moved(state, sameColumn(state, end + 1));
  return state.entry < state.history.length ? showEntry(state, state.entry + 1) : { state };
}

function enter(state: EditorState): EditorStep {
  const { text, cursor, history } = state;
  if (cursor === text.length && text.endsWith("\\")) return replaced(state, cursor - 1, cursor, "\n");
  if (text.trim() === "") return { state };
  const remembered = history.at(-1) === text ? history : [...history, text].slice(-MAX_ENTRIES);
  return { state: emptyEditor(remembered), action: { type: "submit", text } };
}

function deleteForward(state: EditorState): EditorStep {
  return replaced(state, state.cursor, nextBoundary(state.text, state.cursor));
}

/** Up to the end of the line, or the newline itself when the cursor stands before it. */
function killToLineEnd(state: EditorState): EditorStep {
  const end = lineEnd(state.text, state.cursor);
  return end === state.cursor ? deleteForward(state) : replaced(state, state.cursor, end);
}

function interrupt(state: EditorState): EditorStep {
  if (state.text === "") return { state, action: { type: "interrupt" } };
  return { state: emptyEditor(state.history) };
}

function endOfInput(state: EditorState): EditorStep {
  return state.text === "" ? { state, action: { type: "leave" } } : deleteForward(state);
}

const plainKeys: Readonly<Record<string, (state: EditorState) => EditorStep>> = {
  left: (state) => moved(state, previousBoundary(state.text, state.cursor)),
  right: (state) => moved(state, nextBoundary(state.text, state.cursor)),
  up,
  down,
  home: (state) => moved(state, lineStart(state.text, state.cursor)),
  end: (state) => moved(state, lineEnd(state.text, state.cursor)),
  backspace: (state) => replaced(state, previousBoundary(state.text, state.cursor), state.cursor),
  delete: deleteForward,
  tab: (state) => ({ state }),
};

const wordKeys: Readonly<Record<string, (state: EditorState) => EditorStep>> = {
  left: (state) => moved(state, previousWord(state.text, state.cursor)),
  right: (state) => moved(state, nextWord(state.text, state.cursor)),
  backspace: (state) => replaced(state, previousWord(state.text, state.cursor), state.cursor),
  delete: (state) => replaced(state, state.cursor, nextWord(state.text, state.cursor)),
};

const controlKeys: Readonly<Record<string, (state: EditorState) => EditorStep>> = {
  a: (state) => moved(state, lineStart(state.text, state.cursor)),
  b: (state) => moved(state, previousBoundary(state.text, state.cursor)),
  c: interrupt,
  d: endOfInput,
  e: (state) => moved(state, lineEnd(state.text, state.cursor)),
  f: (state) => moved(state, nextBoundary(state.text, state.cursor)),
  j: (state) => typed(state, "\n"),
  k: killToLineEnd,
  l: (state) => ({ state, action: { type: "clearScreen" } }),
  n: down,
  p: up,
  u: (state) => replaced(state, lineStart(state.text, state.cursor), state.cursor),
  w: (state) => replaced(state, previousBlank(state.text, state.cursor), state.cursor),
};

const metaKeys: Readonly<Record<string, (state: EditorState) => EditorStep>> = {
  b: (state) => moved(state, previousWord(state.text, state.cursor)),
  f: (state) => moved(state, nextWord(state.text, state.cursor)),
  d: (state) => replaced(state, state.cursor, nextWord(state.text, state.cursor)),
};

function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** What `key` does to `state`, and what it asks of whoever holds the editor. */
export function applyKey(state: EditorState, key: Key): EditorStep {
  const { name, text, ctrl, meta, shift } = key;
  if (name === "paste") return typed(state, text);
  if (name === "return" || name === "enter") return meta || shift ? typed(state, "\n") : enter(state);
  if (ctrl || meta) {
    const act = lookUp(wordKeys, name) ?? lookUp(ctrl ? controlKeys : metaKeys, name.toLowerCase());
    return act === undefined ? { state } : act(state);
  }
  const act = lookUp(plainKeys, name);
  return act === undefined ? typed(state, text) : act(state);
}
