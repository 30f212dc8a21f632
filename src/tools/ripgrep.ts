/** ripgrep, where the machine has it, as a quick way to tell which files hold a text. */

import type { RealPath, Ripgrep } from "../core/tool.ts";
import { errorCode } from "../lib/error-code.ts";
import { HIDDEN } from "../lib/own-places.ts";
import type { RequiredText } from "../lib/regex/required.ts";
import { NOISE } from "./left-behind.ts";

const SECONDS = 20;
/** Longer ones gain nothing, and a command line has its limits. */
const LONGEST_TEXT = 500;

/**
 * A fixed vector: nothing of what the model wrote is an option, and no configuration of the user's own
 * takes part. It reads every file as text, by the byte order mark as we do, and passes over what it cannot
 * read, so that it finds no less than we would; who finds more does no harm, since what it names is searched
 * again.
 */
function argumentsFor({ text, ignoreCase }: RequiredText, maxBytes: number): readonly string[] {
  return [
    "--no-config",
    "--no-ignore",
    "--hidden",
    "--no-messages",
    "--no-follow",
    "--text",
    "--encoding=auto",
    "--color=never",
    "--files-with-matches",
    "--null",
    "--fixed-strings",
    ignoreCase ? "--ignore-case" : "--case-sensitive",
    `--max-filesize=${maxBytes}`,
    ...[...NOISE, HIDDEN].map((name) => `--glob=!${name}/`),
    `--regexp=${text}`,
    "--",
    ".",
  ];
}

export interface NarrowOptions {
  readonly ripgrep: Ripgrep | undefined;
  readonly root: RealPath;
  readonly required: RequiredText;
  /** Larger files are not looked at. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * The files below `root` that hold the text, as paths below it with `/`. `undefined` when it cannot be
 * said: no ripgrep, no time, or more files than a result takes. Then every file has to be read.
 */
export async function filesHolding({
  ripgrep,
  root,
  required,
  maxBytes,
  signal,
}: NarrowOptions): Promise<ReadonlySet<string> | undefined> {
  // Beyond ASCII the programs need not agree on what is the same letter.
  const isPlain = !required.ignoreCase || /^[\x20-\x7e]+$/.test(required.text);
  if (!isPlain || required.text.length > LONGEST_TEXT || /\p{Cc}/u.test(required.text)) return undefined;
  try {
    const place = { cwd: root, timeoutSeconds: SECONDS, signal };
    const result = await ripgrep?.(argumentsFor(required, maxBytes), place);
    if (result === undefined) return undefined;
    const { exitCode, ended, stdout } = result;
    // 0: found, 1: nothing found. 2 stands for any trouble, which may have cost files.
    if (ended !== undefined || (exitCode !== 0 && exitCode !== 1) || stdout.omittedBytes > 0)
      return undefined;
    const paths = `${stdout.head}${stdout.tail}`.split("\0").filter((path) => path !== "");
    return new Set(paths.map((path) => path.replace(/^\.[/\\]/, "").replaceAll("\\", "/")));
  } catch (error) {
    // It could not be started: reading every file finds the same.
    if (errorCode(error) !== undefined) return undefined;
    throw error;
  }
}
