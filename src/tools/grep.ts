/** The tool that searches the contents of files, line by line. */

import * as v from "valibot";
import { UserError } from "../core/errors.ts";
import { defineTool, type ToolContext, toolOk } from "../core/tool.ts";
import { createBreather } from "../lib/breather.ts";
import { quote } from "../lib/file-error.ts";
import { createLineMatcher } from "../lib/regex/automaton.ts";
import { literalNode, parsePattern } from "../lib/regex/parse.ts";
import { createFinder, requiredText } from "../lib/regex/required.ts";
import type { SearchPattern } from "./decoded-lines.ts";
import { type Matches, type Shown, searchAll, showBlocks } from "./grep-results.ts";
import { collectTargets, MAX_FOLDER_FILE_BYTES, MAX_NAMED_FILE_BYTES, type Targets } from "./grep-targets.ts";
import { flag, text, whole } from "./parameters.ts";
import { describeWalk, nameSome, spellPath } from "./shown-paths.ts";

const DEFAULT_RESULTS = 250;
const MOST_OFFSET = 1_000_000;
const MAX_CHARS = 128_000;

export const grep = defineTool({
  name: "grep",
  section: "file",
  description:
    "Search the contents of files, line by line, with a regular expression as ripgrep takes it. " +
    "Leaves out folders of versioning, packaging and build tools. To find files by name use find_files.",
  parameters: v.strictObject({
    pattern: v.pipe(v.string(), v.description("The regular expression, without look-around")),
    path: text("The file or folder to search (default: the workspace)"),
    glob: text('Only these files, such as "*.ts", or "src/**/*.test.ts"; "!*.md" for all others'),
    type: text("Only this kind of files, such as py, ts, md or json"),
    case_insensitive: flag("Upper and lower case are the same (default false)"),
    fixed_strings: flag("The pattern is plain text (default false)"),
    output_mode: v.optional(
      v.pipe(
        v.picklist(["files_with_matches", "content", "count"]),
        v.description("The files, the newest first (default); the lines; or how many lines in each file"),
      ),
    ),
    context_before: whole("With content: how many lines to show before each match", 0, 20),
    context_after: whole("With content: how many lines to show after each match", 0, 20),
    head_limit: whole(
      `How many matches or files to show (default ${DEFAULT_RESULTS}; 0 for as many as fit)`,
      0,
      MOST_OFFSET,
    ),
    offset: whole("How many matches or files to pass over first", 0, MOST_OFFSET),
    max_matches: whole("Older name of head_limit, for content", 1, MOST_OFFSET),
    max_results: whole("Older name of head_limit, for files and counts", 1, MOST_OFFSET),
  }),
  readOnly: true,

  async execute(args, context) {
    const { pattern, path = ".", output_mode: mode = "files_with_matches", offset = 0 } = args;
    const legacy = mode === "content" ? args.max_matches : args.max_results;
    const limit = args.head_limit ?? legacy ?? DEFAULT_RESULTS;
    const most = limit === 0 ? Infinity : limit;
    const tree = args.fixed_strings
      ? plain(pattern, args.case_insensitive ?? false)
      : parsePattern(pattern, { ignoreCase: args.case_insensitive ?? false });
    const required = requiredText(tree);
    const search: SearchPattern = {
      matcher: createLineMatcher(tree),
      literal: required?.ignoreCase === false ? required.text : undefined,
      isLiteral: required?.ignoreCase === false && required.isAll,
      find: required && createFinder(required),
    };

    const breather = createBreather(context.ports.clock);
    const targets = await collectTargets(path, { ...args, required, breather, order: mode }, context);
    const options = {
      system: context.ports.files.system,
      files: context.ports.files,
      pattern: search,
      breather,
      signal: context.signal,
    };
    const matches = await searchAll(targets, { ...options, mode, wanted: offset + most + 1 });
    const page = { offset, most };
    const shown =
      mode === "content"
        ? await showBlocks(matches, {
            ...options,
            ...page,
            before: args.context_before ?? 0,
            after: args.context_after ?? 0,
            room: MAX_CHARS,
          })
        : showList(matches, mode, page, context);
    return toolOk(describe(shown, { targets, matches, offset, pattern, path }));
  },
});

function plain(pattern: string, ignoreCase: boolean) {
  const hint = "Name something to search for, on one line";
  if (pattern === "") throw new UserError("Cannot search for nothing", { hint });
  if (pattern.length > 4_000)
    throw new UserError("Cannot search for a text of more than 4000 characters", { hint });
  if (/[\r\n]/.test(pattern)) {
    throw new UserError(`Cannot search for ${quote(pattern)}: lines are searched one at a time`, {
      hint: "Search for one of the lines with output_mode content and context_after",
    });
  }
  return literalNode(pattern, { ignoreCase });
}

function showList(
  { found, isComplete }: Matches,
  mode: "files_with_matches" | "count",
  { offset, most }: { offset: number; most: number },
  { ports: { files } }: ToolContext,
): Shown {
  const parts: string[] = [];
  let room = MAX_CHARS;
  for (const { file, count: lines } of found.slice(offset, offset + most)) {
    const name = spellPath(files.display(file.path));
    const line = mode === "count" ? `${name}: ${lines}` : name;
    room -= line.length + 1;
    if (room < 0) break;
    parts.push(line);
  }
  const total = found.reduce((sum, { count: lines }) => sum + lines, 0);
  const summary =
    mode === "count" && isComplete && found.length > 0
      ? [
          `(${total} matching ${total === 1 ? "line" : "lines"} in ${found.length} ${found.length === 1 ? "file" : "files"})`,
        ]
      : [];
  return { parts, separator: "\n", total: found.length, next: offset + parts.length, summary };
}

interface Described {
  readonly targets: Targets;
  readonly matches: Matches;
  readonly offset: number;
  readonly pattern: string;
  readonly path: string;
}

function describe(
  { parts, separator, total, next, summary }: Shown,
  { targets, matches: { binary, unreadable, isComplete }, offset, pattern, path }: Described,
): string {
  const notes = [...summary];
  if (total === 0 && binary.length === 0) {
    const searched = `${targets.searched} ${targets.searched === 1 ? "file" : "files"}`;
    notes.push(`(No match for ${quote(pattern)} in ${quote(path)}; searched ${searched})`);
  } else if (total > 0 && offset >= total) notes.push(`(There are only ${total}. Use an offset below that)`);
  else if (next < total) {
    notes.push(`(${isComplete ? total - next : "At least 1"} more. Go on with offset=${next})`);
  }
  if (binary.length > 0) notes.push(`(Binary files that match, not shown: ${nameSome(binary)})`);
  if (targets.tooLarge.length > 0) {
    const inMb = (bytes: number) => `${bytes / 1024 / 1024} MB`;
    notes.push(
      `(Larger than ${inMb(MAX_FOLDER_FILE_BYTES)}, not searched; name one of up to ${inMb(MAX_NAMED_FILE_BYTES)} with path: ${nameSome(targets.tooLarge)})`,
    );
  }
  if (unreadable.length > 0) notes.push(`(Not readable: ${nameSome(unreadable)})`);
  notes.push(...describeWalk(targets.notes));
  return [parts.join(separator), notes.join("\n")].filter((section) => section !== "").join("\n\n");
}
