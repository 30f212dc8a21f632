/** Where a text stops being JSON, and why, for whoever wrote it by hand. */

/** What the parser missed, by the name of its error, in words. */
const problems: Readonly<Record<string, string>> = {
  PropertyNameExpected: "expected a key in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: "expected a colon after the key",
  CommaExpected: "a comma is missing",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  EndOfFileExpected: "there is more after the end",
  InvalidCommentToken: "JSON has no comments",
  UnexpectedEndOfComment: "JSON has no comments",
  UnexpectedEndOfString: "a string is not closed",
  InvalidUnicode: "a \\u is not followed by four hexadecimal digits",
  InvalidEscapeCharacter: "a backslash in a string must be written twice",
  InvalidCharacter: "a control character in a string must be escaped",
};

/** Counted from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

export interface JsonProblem {
  /** Counted from 1; `undefined` when it is no one line's. */
  readonly line: number | undefined;
  readonly problem: string;
}

/** Why `text` is not JSON. Nothing of it is quoted, since secrets may be in it. */
export async function findJsonProblem(text: string): Promise<JsonProblem> {
  if (text.trim() === "") return { line: undefined, problem: "it is empty" };
  const { parseTree, printParseErrorCode } = await import("jsonc-parser");
  const errors: Parameters<typeof parseTree>[1] = [];
  try {
    parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    // The parser calls itself for each level.
    if (!(error instanceof RangeError)) throw error;
    return { line: undefined, problem: "it is nested too deeply" };
  }
  const error = errors[0];
  // What only the engine refuses has no place.
  if (error === undefined) return { line: undefined, problem: "it is not valid JSON" };
  const before = text.slice(0, error.offset).trimEnd();
  if (before.endsWith(",") && /^[}\]]/.test(text.slice(error.offset)))
    return { line: lineAt(text, before.length - 1), problem: "there is a comma too many" };
  const name = printParseErrorCode(error.error);
  const isMissing = name.startsWith("Close") || name === "CommaExpected";
  const line = lineAt(text, isMissing ? before.length : error.offset);
  return { line, problem: problems[name] ?? "this is not JSON" };
}

/** The same in one text, as in `line 12: there is a comma too many`. */
export async function jsonProblem(text: string): Promise<string> {
  const { line, problem } = await findJsonProblem(text);
  return line === undefined ? problem : `line ${line}: ${problem}`;
}
