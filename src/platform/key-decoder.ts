/** What a terminal sends, as key presses. Names are those of node's readline; sequences it does not know are dropped. */

import type { Key } from "../core/platform.ts";
import { head, stripControls } from "../lib/text.ts";

export interface KeyDecoder {
  /** Bytes of one read; a character or a sequence may end in the next one. */
  push(bytes: Uint8Array): Key[];
  /** Whether an ESC waits for what follows it: only time tells the key from the beginning of a sequence. */
  readonly isWaiting: boolean;
  /** Nothing followed: what waits was typed as it is. */
  flush(): Key[];
}

const PASTE_END = "\x1b[201~";
/** Beyond this the rest of a paste is dropped. */
const MAX_PASTE_LENGTH = 4 * 1024 * 1024;

// The Linux console's own function keys, then CSI and SS3. No terminal sends more parameters than that.
const wholeSequence = /^\x1b(?:\[\[[A-E]|\[[0-?]{0,60}[ -/]{0,4}[@-Z\\-~]|O[A-Za-z])/;
const begunSequence = /^\x1b(?:\[\[|\[[0-?]{0,60}[ -/]{0,4}|O)?$/;

const byFinal: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  E: "clear",
  F: "end",
  H: "home",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};

const byNumber: Readonly<Record<string, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

const byControl: Readonly<Record<string, string>> = {
  "\r": "return",
  "\n": "enter",
  "\t": "tab",
  "\b": "backspace",
  "\x7f": "backspace",
  "\x1b": "escape",
};

interface Modifiers {
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly shift: boolean;
}

const plain: Modifiers = { ctrl: false, meta: false, shift: false };

export function createKeyDecoder(): KeyDecoder {
  const utf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  let waiting = "";
  let paste: string | undefined;

  /** Takes one key, or one end of a paste, off the front of `waiting`; `undefined` when it is not complete. */
  function next(): readonly Key[] | undefined {
    if (paste !== undefined) return nextOfPaste(paste);
    if (waiting === "") return undefined;
    if (!waiting.startsWith("\x1b")) return [characterKey(take(firstCharacter(waiting)), plain)];
    const sequence = wholeSequence.exec(waiting)?.[0];
    if (sequence === "\x1b[200~") {
      take(sequence);
      paste = "";
      return [];
    }
    if (sequence !== undefined) return sequenceKeys(take(sequence));
    if (begunSequence.test(waiting)) return undefined;
    return escapeOrMeta();
  }

  function take(text: string): string {
    waiting = waiting.slice(text.length);
    return text;
  }

  function escapeOrMeta(): readonly Key[] {
    take("\x1b");
    if (waiting === "" || waiting.startsWith("\x1b")) return [characterKey("\x1b", plain)];
    return [characterKey(take(firstCharacter(waiting)), { ...plain, meta: true })];
  }

  function nextOfPaste(before: string): readonly Key[] | undefined {
    const end = waiting.indexOf(PASTE_END);
    // The end itself may come in two reads.
    const safe = end >= 0 ? end : Math.max(0, waiting.length - PASTE_END.length + 1);
    paste = before + head(take(waiting.slice(0, safe)), MAX_PASTE_LENGTH - before.length);
    if (end < 0) return undefined;
    take(PASTE_END);
    const text = stripControls(paste.replace(/\r\n?/g, "\n"));
    paste = undefined;
    return [{ name: "paste", text, ...plain }];
  }

  function drain(): Key[] {
    const keys: Key[] = [];
    for (let some = next(); some !== undefined; some = next()) keys.push(...some);
    return keys;
  }

  return {
    push(bytes) {
      waiting += utf8.decode(bytes, { stream: true });
      return drain();
    },
    get isWaiting() {
      return paste === undefined && waiting !== "";
    },
    flush() {
      if (paste !== undefined || waiting === "") return [];
      return [...escapeOrMeta(), ...drain()];
    },
  };
}

function firstCharacter(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 0);
}

function sequenceKeys(sequence: string): readonly Key[] {
  const final = sequence.slice(-1);
  if (sequence.startsWith("\x1bO")) return named(byFinal[final], plain);
  if (sequence.startsWith("\x1b[[")) return named(`f${final.charCodeAt(0) - 64}`, plain);
  // `1;5` or, where a terminal says more, `13:10;5:1`: only the first of each part is ours.
  const parameters = sequence
    .slice(2, -1)
    .split(";")
    .map((part) => part.split(":")[0] ?? "");
  const [first = "", second = "", third = ""] = parameters;
  const modifiers = modifiersOf(second);
  if (final === "Z") return named("tab", { ...modifiers, shift: true });
  if (final === "u") return codeKeys(first, modifiers);
  if (final !== "~") return named(byFinal[final], modifiers);
  return first === "27" ? codeKeys(third, modifiers) : named(byNumber[first], modifiers);
}

function named(name: string | undefined, modifiers: Modifiers): readonly Key[] {
  return name === undefined ? [] : [{ name, text: "", ...modifiers }];
}

/** Keys that a terminal reports by the code of their character, so that Shift and Ctrl are not lost. */
function codeKeys(digits: string, modifiers: Modifiers): readonly Key[] {
  const code = Number(digits);
  const isCharacter = digits !== "" && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? [characterKey(String.fromCodePoint(code), modifiers)] : [];
}

/** One more than a set of bits: shift 1, alt 2, ctrl 4. */
function modifiersOf(digits: string): Modifiers {
  const bits = Math.max(0, Number(digits) - 1) || 0;
  return { shift: (bits & 1) !== 0, meta: (bits & 2) !== 0, ctrl: (bits & 4) !== 0 };
}

function characterKey(character: string, modifiers: Modifiers): Key {
  const control = byControl[character];
  if (control !== undefined) return { name: control, text: "", ...modifiers };
  const code = character.codePointAt(0) ?? 0;
  if (code === 0) return { name: "space", text: "", ...modifiers, ctrl: true };
  // Ctrl takes a letter's upper bits away.
  if (code < 0x1b) return { name: String.fromCharCode(code + 0x60), text: "", ...modifiers, ctrl: true };
  if (code < 0x20) return { name: String.fromCharCode(code + 0x40), text: "", ...modifiers, ctrl: true };
  const isControl = code >= 0x80 && code < 0xa0;
  const text = modifiers.ctrl || modifiers.meta || isControl ? "" : character;
  const name = character === " " ? "space" : character.toLowerCase();
  return { name, text, ...modifiers, shift: modifiers.shift || /^[A-Z]$/.test(character) };
}
