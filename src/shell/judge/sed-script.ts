/** Reads a script of sed as far as to tell what it runs and which files it opens. */

export interface SedScript {
  /** What `e` runs. */
  readonly commands: readonly string[];
  /** What it runs is made at run time: `s///e`, or `e` alone. */
  readonly runsInput: boolean;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

const ADDRESS =
  /\d+(?:~\d+)?|\$|\/(?:[^/\\[]|\\[\s\S]|\[\^?\]?[^\]]*\])*\/[IM]*|\\(.)(?:\\[\s\S]|(?!\1)[\s\S])*?\1[IM]*/y;
const BETWEEN = /[\s;{}]*/y;
const REST_OF_LINE = /[^\n]*/y;
const LABEL = /[^\n;}]*/y;
const TEXT = /(?:\\[\s\S]|[^\\\n])*/y;

/** `undefined` for what cannot be followed to its end. */
export function readSedScript(script: string): SedScript | undefined {
  const found = { commands: [] as string[], runsInput: false, reads: [] as string[], writes: [] as string[] };
  let at = 0;

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const taken = pattern.exec(script)?.[0];
    at += taken?.length ?? 0;
    return taken;
  }

  /** Up to and with the delimiter. */
  function skipTo(delimiter: string): boolean {
    for (; at < script.length; at++) {
      if (script[at] === "\\") at++;
      else if (script[at] === delimiter) {
        at++;
        return true;
      }
    }
    return false;
  }

  function substitute(command: string): boolean {
    const delimiter = script[at++];
    if (delimiter === undefined || /[\\\n]/.test(delimiter)) return false;
    if (!skipTo(delimiter) || !skipTo(delimiter)) return false;
    const flags = take(/[gpiIMme\d]*/y) ?? "";
    if (command === "s" && flags.includes("e")) found.runsInput = true;
    if (script[at] === "w") {
      at++;
      found.writes.push((take(REST_OF_LINE) ?? "").trim());
    }
    return true;
  }

  for (take(BETWEEN); at < script.length; take(BETWEEN)) {
    if (take(ADDRESS) !== undefined) {
      take(/\s*,\s*[+~]?/y);
      take(ADDRESS);
    }
    take(/[\s!]*/y);
    const command = script[at++];
    if (command === undefined) break;
    if (command === "{" || command === "}") continue;
    if (command === "s" || command === "y") {
      if (!substitute(command)) return undefined;
    } else if (command === "e") {
      const code = (take(REST_OF_LINE) ?? "").trim();
      if (code === "" || /^[;}]/.test(code)) found.runsInput = true;
      else found.commands.push(code);
    } else if (/[rRwW]/.test(command)) {
      const file = (take(REST_OF_LINE) ?? "").trim();
      (/[rR]/.test(command) ? found.reads : found.writes).push(file);
    } else if (/[aic]/.test(command)) take(TEXT);
    else if (/[btT:]/.test(command)) take(LABEL);
    else if (command === "#") take(REST_OF_LINE);
    else if (/[qQlL]/.test(command)) take(/\s*\d*/y);
    else if (!/[=dDgGhHnNpPxzF]/.test(command)) return undefined;
  }
  return found;
}
