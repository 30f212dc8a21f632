/** Moves a replacement to the indentation that the passage has in the file. */

/** A line of the passage as it was asked for, and as it stands in the file. */
export interface LinePair {
  readonly wanted: string;
  readonly found: string;
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function isBlank(line: string): boolean {
  return line.trim() === "";
}

interface Unit {
  readonly wanted: string;
  readonly found: string;
}

/** By how much each line is deeper than the next one up, in the request and in the file: the file may begin deeper. */
function* stepsOf(indents: ReadonlyMap<string, string>): Generator<readonly [wanted: string, found: string]> {
  const sorted = [...indents].sort(([a], [b]) => a.length - b.length);
  let [above, aboveFound] = sorted.length === 1 ? ["", ""] : (sorted[0] ?? ["", ""]);
  for (const [wanted, found] of sorted) {
    const isDeeper = wanted.startsWith(above) && found.startsWith(aboveFound);
    yield isDeeper ? [wanted.slice(above.length), found.slice(aboveFound.length)] : [wanted, found];
    [above, aboveFound] = [wanted, found];
  }
}

/** Spaces that stand for one tab, or the other way round, where all lines agree on how many. */
function unitOf(indents: ReadonlyMap<string, string>): Unit | undefined {
  let unit: Unit | undefined;
  for (const [wanted, found] of stepsOf(indents)) {
    if (wanted === "" && found === "") continue;
    const [spaces, tabs] = /^\t+$/.test(found) ? [wanted, found] : [found, wanted];
    if (!/^ +$/.test(spaces) || !/^\t+$/.test(tabs)) return undefined;
    const width = spaces.length / tabs.length;
    const own =
      tabs === found
        ? { wanted: " ".repeat(width), found: "\t" }
        : { wanted: "\t", found: " ".repeat(width) };
    if (!Number.isInteger(width) || (unit !== undefined && unit.wanted !== own.wanted)) return undefined;
    unit ??= own;
  }
  return unit;
}

/**
 * What a line that was written like the `wanted` lines must be indented by to stand among the `found` ones:
 * as its like there, else deeper or less deep than the nearest of them by as much as it is in the request.
 */
export function createReindent(pairs: readonly LinePair[]): (line: string) => string {
  const indents = new Map<string, string>();
  for (const { wanted, found } of pairs) {
    const indent = indentOf(wanted);
    if (!isBlank(wanted) && !indents.has(indent)) indents.set(indent, indentOf(found));
  }
  const byLength = [...indents.keys()].sort((a, b) => b.length - a.length);
  const unit = unitOf(indents);
  const convert = (indent: string) => (unit ? indent.replaceAll(unit.wanted, unit.found) : indent);

  function moved(indent: string): string {
    const nearest = byLength.find((known) => indent.startsWith(known));
    if (nearest !== undefined) return (indents.get(nearest) ?? "") + convert(indent.slice(nearest.length));
    const shallowest = byLength.at(-1);
    if (shallowest === undefined) return indent;
    const there = indents.get(shallowest) ?? "";
    const less = convert(shallowest.slice(indent.length)).length;
    return there.slice(0, Math.max(0, there.length - less));
  }

  return (line) => {
    if (isBlank(line)) return line;
    const indent = indentOf(line);
    return moved(indent) + line.slice(indent.length);
  };
}
