/** What the words of a command can stand for, given what the text sets its variables to. */

import { names } from "./names.ts";
import type { ParsedCommand, SimpleCommand } from "./parsed.ts";
import { type Piece, type Word, whyDynamic } from "./word.ts";

/** One thing that a word can stand for. */
interface Reading {
  /** Its known beginning. */
  readonly text: string;
  /** `false` where only the beginning is known. */
  readonly whole: boolean;
  /** The whole of it, with `UNKNOWN` for every part that is not known. */
  readonly outline: string;
  readonly glob: boolean;
  /** Why the rest is not known. */
  readonly why: string | undefined;
}

/** In the place of what only the shell can work out. No command contains it. */
export const UNKNOWN = "\0";

/** More than this is not followed one by one. */
const MOST_READINGS = 16;

/** Of values behind values, for one word: variables that are made of each other multiply. */
const MOST_VALUES = 256;

/** Set in every shell, to what is not known here. */
const alwaysSet: ReadonlySet<string> = names(
  "PATH USER LANG TERM SHELL HOSTNAME RANDOM SECONDS LINENO UID EUID PPID BASHPID BASH BASH_VERSION BASH_SOURCE",
  "FUNCNAME EPOCHSECONDS HOSTTYPE OSTYPE MACHTYPE REPLY OPTARG OPTIND COLUMNS LINES PYTHONUNBUFFERED # ? $ - 0",
);

/** What an argument that is left out would make of a path, where nobody would write it as the end of one. */
const rooted = /^\/(?:etc|home|root|proc|boot|mnt|media|private|Users)(?:\/|$)/;

export interface Reader {
  read(word: Word): readonly Reading[];
  /** The command that is read from now on: what `$1` is depends on where it stands. */
  lookAt(command: SimpleCommand): void;
}

export function createReader(
  parsed: ParsedCommand,
  {
    home,
    temporaryFolder,
    folders,
    previous,
  }: {
    readonly home: string | undefined;
    readonly temporaryFolder: string | undefined;
    folders(): readonly string[] | undefined;
    /** What `OLDPWD` may be, where it is set for certain. */
    previous(): readonly string[] | undefined;
  },
): Reader {
  /** Values that are being read, so that `x=$x/y` ends. */
  const open = new Set<Word>();
  let valuesLeft = MOST_VALUES;
  const separators = new RegExp(`[\\s${knownSeparators(parsed)}]+`);
  let hasArguments = false;

  function read(word: Word): readonly Reading[] {
    let readings: readonly Reading[] = [{ ...known(""), glob: word.glob }];
    for (const piece of word.pieces) {
      const values = piece.kind === "text" ? [known(piece.text)] : valuesOf(piece, word);
      const few = readings.length * values.length > MOST_READINGS ? [unknown(word)] : values;
      readings = readings.flatMap((one) => few.map((value) => joined(one, value)));
    }
    if (word.tilde) readings = readings.flatMap(withHome);
    const splits = word.pieces.some((piece) => piece.kind === "variable" && piece.splits);
    return splits ? readings.flatMap(split) : readings;
  }

  function valuesOf(piece: Exclude<Piece, { kind: "text" }>, word: Word): readonly Reading[] {
    if (piece.kind === "dynamic") return [unknown(word)];
    const { name, otherwise } = piece;
    return [
      ...(assigned(name) ?? unassigned(name, word)),
      ...(otherwise === undefined ? [] : readOpen(otherwise)),
    ];
  }

  function assigned(name: string): readonly Reading[] | undefined {
    const values = parsed.variables.get(name);
    if (values === undefined) return undefined;
    if (values.length > MOST_READINGS) return [unknown(undefined, name)];
    return values.flatMap((value) => (value === undefined ? [unknown(undefined, name)] : readOpen(value)));
  }

  function readOpen(value: Word): readonly Reading[] {
    if (open.has(value)) return [];
    if (--valuesLeft < 0) return [unknown(value)];
    open.add(value);
    const readings = read(value);
    open.delete(value);
    return readings;
  }

  function unassigned(name: string, word: Word): readonly Reading[] {
    if (name === "HOME" && home !== undefined) return [known(home)];
    if (name === "TMPDIR" && temporaryFolder !== undefined) return [known(temporaryFolder)];
    if (name === "PWD") return folders()?.map(known) ?? [unknown(word)];
    const before = name === "OLDPWD" ? previous()?.map(known) : undefined;
    if (before !== undefined) return before;
    if (name === "IFS") return [known(" \t\n")];
    if (alwaysSet.has(name)) return [unknown(word)];
    // Arguments that a function or a program is given, unless it is given none.
    return /^(?:\d+|[@*])$/.test(name) && hasArguments ? [unknown(word)] : [unknown(word), known("")];
  }

  function withHome(reading: Reading): readonly Reading[] {
    if (!/^~(?:\/|$)/.test(reading.text)) return [reading];
    const homes = assigned("HOME") ?? (home === undefined ? [] : [known(home)]);
    const rest = { ...reading, text: reading.text.slice(1), outline: reading.outline.slice(1) };
    return homes.length === 0 ? [reading] : homes.map((one) => joined(one, rest));
  }

  /** Blanks in a value part words where it is not quoted. Both readings are kept. */
  function split(reading: Reading): readonly Reading[] {
    const parts = reading.outline.split(separators).filter((part) => part !== "" && part !== reading.outline);
    return [reading, ...parts.map((part) => ({ ...reading, ...outlined(part) }))];
  }

  return {
    read(word) {
      valuesLeft = MOST_VALUES;
      const readings = read(word);
      if (!hasArguments || !word.pieces.some(isArgument)) return readings;
      const rest = readings[0]?.outline.split(UNKNOWN).at(-1) ?? "";
      return rooted.test(rest) ? [...readings, { ...known(rest), glob: word.glob }] : readings;
    },
    lookAt({ within, via }) {
      hasArguments = within.length > 0 || via.length > 0;
    },
  };
}

const isArgument = (piece: Piece) => piece.kind === "variable" && /^(?:\d+|[@*])$/.test(piece.name);

function known(text: string): Reading {
  return { text, outline: text, whole: true, glob: false, why: undefined };
}

function unknown(word: Word | undefined, name = ""): Reading {
  const why = word === undefined ? `the variable $${name}` : whyDynamic(word);
  return { text: "", outline: UNKNOWN, whole: false, glob: false, why };
}

function outlined(outline: string): Pick<Reading, "text" | "outline" | "whole"> {
  const [text = ""] = outline.split(UNKNOWN, 1);
  return { text, outline, whole: !outline.includes(UNKNOWN) };
}

function joined(one: Reading, other: Reading): Reading {
  return {
    text: one.whole ? one.text + other.text : one.text,
    outline: one.outline + other.outline,
    whole: one.whole && other.whole,
    glob: one.glob || other.glob,
    why: one.why ?? other.why,
  };
}

/** Characters that the text makes part words, escaped for a class. */
function knownSeparators({ variables }: ParsedCommand): string {
  const texts = (variables.get("IFS") ?? []).flatMap((word) => word?.pieces ?? []);
  const characters = texts.map((piece) => (piece.kind === "text" ? piece.text : "")).join("");
  return characters.replace(/[\\\]^-]/g, "\\$&");
}
