/** How a call of a tool that failed reads to the model: made, recognised and taken apart in one place. */

const BEGIN = "Error: ";

/** Behind every error result, because models tend to repeat what failed. */
const END = "\n[Read the error and try another way.]";

/** The result of a call that had started and whose end nobody saw. */
export const INTERRUPTED = `${BEGIN}interrupted, outcome unknown. Check what was done before you repeat it.`;

export function toolFailure(problem: string): string {
  return `${BEGIN}${problem}${END}`;
}

/** What went wrong, if `text` is the result of a call that failed. A text that a tool read may begin like one. */
export function failedBecause(text: string): string | undefined {
  if (text === INTERRUPTED) return text.slice(BEGIN.length);
  return text.startsWith(BEGIN) && text.endsWith(END) ? text.slice(BEGIN.length, -END.length) : undefined;
}

const NO_TOOL = 'there is no tool "';
const ARGUMENTS = "the arguments ";

/** Why a call was not made that names no tool of ours. */
export function unknownTool(name: string, suggestion: string | undefined, known: readonly string[]): string {
  const hint = suggestion === undefined ? "." : `; did you mean "${suggestion}"?`;
  return `${NO_TOOL}${name}"${hint} The tools are: ${known.join(", ")}`;
}

/** Why a call was not made whose arguments are none: `unfitArguments("are too long")`. */
export function unfitArguments(why: string): string {
  return ARGUMENTS + why;
}

/** What a call was not made for, as far as it can be told from why. Everything but that may be worded anew. */
export type NotMade = { readonly for: "name"; readonly name: string } | { readonly for: "arguments" };

/** `undefined` of a call that was made. */
export function notMadeFor(problem: string): NotMade | undefined {
  if (problem.startsWith(ARGUMENTS)) return { for: "arguments" };
  if (!problem.startsWith(NO_TOOL)) return undefined;
  return { for: "name", name: /^(.*?)"[.;]/s.exec(problem.slice(NO_TOOL.length))?.[1] ?? "" };
}
