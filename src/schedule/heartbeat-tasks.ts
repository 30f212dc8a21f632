/** Which lines of HEARTBEAT.md are tasks. One too many costs a call each time; one too few is never done. */

import { folded, type Heading, type Part, partsOf } from "./heartbeat-lines.ts";

/** What somebody could act on. A line of nothing but marks is a rule, a bullet or the border of a table. */
const SUBSTANCE = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;
/** Also as in the Chinese template of the original. */
const ACTIVE = /^(?:active tasks|活动任务)/;
/** How the sentences of the original's templates begin, for when the headings around them are gone. */
const OF_OLD_TEMPLATES = /^(?:this file is checked |add tasks below that |if this file has no tasks)/;
const LIST_MARKS = /^(?:(?:[-*+•‣·–—]|\d{1,9}[.)])(?:\s+|$|(?=\[)))+/;
const CHECKBOX = /^\[\s*([^\]\s]?)\s*\](?=\s|$)/u;
const TICKS = new Set(["x", "✓", "✔", "✅", "☑", "√"]);

/** A line of a list as it is compared: what it says, and whether it is ticked. */
function itemOf(line: string): { readonly says: string; readonly tick: string | undefined } {
  const bare = folded(line)
    .replace(/^[\s>]+/, "")
    .replace(LIST_MARKS, "");
  const box = CHECKBOX.exec(bare);
  return { says: bare.slice(box?.[0].length ?? 0).trim(), tick: box?.[1] };
}

function lettersOf(line: string): string {
  return folded(line).replace(/[^\p{L}\p{N}]+/gu, "");
}

/** Lines are the template's whatever became of their marks, such as of those of a comment. */
function linesOf(template: string): ReadonlySet<string> {
  const lines = new Set(template.split("\n").map(lettersOf));
  lines.delete("");
  return lines;
}

/** What stands under the headings that say so, or everything where none does. */
function* inScope(parts: readonly Part[]): Generator<Part> {
  const isActive = (part: Part) => part.kind === "heading" && ACTIVE.test(part.title);
  const isEverywhere = !parts.some(isActive);
  let level: number | undefined;
  for (const part of parts) {
    if (part.kind === "heading" && level !== undefined && part.level <= level) level = undefined;
    if (isEverywhere || level !== undefined) yield part;
    else if (part.kind === "heading" && isActive(part)) level = part.level;
  }
}

function indentOf(line: string): number {
  return line.search(/\S/);
}

/**
 * The tasks in `text`, as they are written and in order, each behind the headings that it stands under: those can say
 * when it is due. Empty when there are no tasks. What is ticked is done, with the lines that belong to it.
 */
export function tasksOf(text: string, template = ""): readonly string[] {
  const ofTemplate = linesOf(template);
  const found: string[] = [];
  /** Those that nothing was found under yet. */
  let above: readonly Heading[] = [];
  /** How far the last ticked line stands in. */
  let done: number | undefined;

  function isTask(line: string): boolean {
    const { says, tick } = itemOf(line);
    const indent = indentOf(line);
    if (done !== undefined && indent > done && tick === undefined) return false;
    done = tick !== undefined && TICKS.has(tick) ? indent : undefined;
    if (done !== undefined || !SUBSTANCE.test(says)) return false;
    return !ofTemplate.has(lettersOf(line)) && !OF_OLD_TEMPLATES.test(says);
  }

  for (const part of inScope(partsOf(text))) {
    if (part.kind === "heading") {
      done = undefined;
      above = [...above.filter(({ level }) => level < part.level), part];
    } else if (part.text.trim() !== "" && isTask(part.text)) {
      found.push(...above.map((heading) => heading.text), part.text);
      above = [];
    }
  }
  return found;
}
