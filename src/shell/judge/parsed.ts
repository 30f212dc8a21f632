/** What a shell text consists of, as the judge sees it. */

import type { Dialect } from "./syntax.ts";
import type { Word } from "./word.ts";

export interface Assignment {
  readonly name: string;
  /** `undefined` for arrays and for what is appended to a value of before. */
  readonly value: Word | undefined;
}

export interface Redirect {
  readonly writes: boolean;
  readonly target: Word;
}

/** A program in another language than the shell's, given on the command line. */
export interface Opaque {
  readonly language: string;
  /** Its text, where it is known. */
  readonly text: string | undefined;
}

/** Where standard input comes from, as far as the text says. */
export type Stdin =
  | { readonly kind: "inherited" | "pipe" | "file" }
  | { readonly kind: "text"; readonly text: string | undefined };

/**
 * `gate`: everything after it runs only if it succeeds, as in a list that is joined by `&&` alone. `always`: it
 * runs in the shell itself whatever comes before, and what follows runs even if it fails.
 */
export type Certainty = "gate" | "always" | "maybe";

/**
 * A list of commands after which the folder may be another than before it: the one of before where it is a shell
 * of its own (`isApart`), else either that or the one it went to. Told apart by identity.
 */
export interface Scope {
  readonly isApart: boolean;
}

/** One program with its arguments, wherever in the text it stands. */
export interface SimpleCommand {
  /** The name first. Empty where there are only assignments or redirections. */
  readonly words: readonly Word[];
  readonly assignments: readonly Assignment[];
  readonly redirects: readonly Redirect[];
  readonly stdin: Stdin;
  /** In a pipeline or in the background, which is how a fork bomb grows. */
  readonly concurrent: boolean;
  /** The functions whose bodies it is part of, outermost first. */
  readonly within: readonly string[];
  /** What runs it: `sudo`, `xargs`, `sh -c`. Empty for what stands in the text itself. */
  readonly via: readonly string[];
  /** Within the innermost of its scopes. */
  readonly certainty: Certainty;
  /** The lists that it is part of, outermost first. */
  readonly scopes: readonly Scope[];
  /** In a loop of its shell, so that what stands behind it may run before it. */
  readonly repeats: boolean;
  /** Runs on another machine, where paths mean something else. */
  readonly remote: boolean;
  /** Another command is given what it puts out: through a pipe, a substitution or a process substitution. */
  readonly feeds: boolean;
  /** What it puts out goes to a file. */
  readonly kept: boolean;
  /** Of the shell that reads it: what bash is sure to read, or what any `sh` may. */
  readonly dialect: Dialect;
  /** Code that some program may run, as far as can be told from outside. */
  readonly supposed: boolean;
  /** A keyword of the shell such as `for` or `[[`, whose words are looked at and which runs nothing. */
  readonly keyword: boolean;
}

/** Something that is wrong with the command however its words are judged. */
export interface Suspicion {
  readonly rule: "dynamic-command" | "pipe-to-shell" | "fork-bomb" | "dynamic-code";
  readonly reason: string;
}

export interface ParsedCommand {
  readonly commands: readonly SimpleCommand[];
  readonly functions: ReadonlySet<string>;
  /** Everything a variable is set to in the text; `undefined` among the values where that is not known. */
  readonly variables: ReadonlyMap<string, readonly (Word | undefined)[]>;
  readonly opaque: readonly Opaque[];
  readonly suspicions: readonly Suspicion[];
  /** The text without what these words say where they stand in it themselves, and without comments. */
  textWithout(words: readonly Word[]): string;
}

export type ParseResult =
  | { readonly kind: "parsed"; readonly parsed: ParsedCommand }
  | { readonly kind: "refused"; readonly reason: string };
