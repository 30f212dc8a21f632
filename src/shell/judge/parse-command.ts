/** Finds every simple command in a shell text: in lists, functions, substitutions, and behind other programs. */

import type { Code } from "./found.ts";
import { names } from "./names.ts";
import type { Opaque, ParsedCommand, ParseResult, SimpleCommand, Suspicion } from "./parsed.ts";
import { type Surroundings, topLevel } from "./surroundings.ts";
import { type Dialect, loadSyntax, type Node, problemOf, type ShellSyntax } from "./syntax.ts";
import { textWithout } from "./text-without.ts";
import { createTreeWalk } from "./tree-walk.ts";
import { unwrap } from "./unwrap.ts";
import type { Word } from "./word.ts";
import { shells } from "./wrappers.ts";

/** Code inside code inside code: nobody writes this many by hand. */
const DEEPEST = 8;
const MOST_COMMANDS = 3000;
const MOST_WORDS = 10_000;

class Refusal extends Error {}

/** What a `sh` that is not bash reads as something else: groups, tests, redirections and quotes. */
const AMBIGUOUS = /(?<!\$)\(\(|\[\[|&>|\$'/;

/** Never throws. What the parser does not understand is refused with the reason. */
export async function parseCommand(text: string, dialect: Dialect = "bash"): Promise<ParseResult> {
  const syntax = await loadSyntax();
  try {
    return { kind: "parsed", parsed: collect(syntax, text, dialect) };
  } catch (error) {
    return { kind: "refused", reason: problemOf(error) };
  }
}

function collect(syntax: ShellSyntax, text: string, dialect: Dialect): ParsedCommand {
  const commands: SimpleCommand[] = [];
  const functions = new Set<string>();
  const variables = new Map<string, (Word | undefined)[]>();
  const opaque: Opaque[] = [];
  const suspicions: Suspicion[] = [];
  /** Those that stand in the text itself, and not in code that it holds. */
  const standing = new Set<Word>();
  let words = 0;

  const walk = createTreeWalk(syntax, {
    command(command) {
      if (command.via.length === 0) for (const word of command.words) standing.add(word);
      add(command, 0);
    },
    defined: (name) => functions.add(name),
    assigned(name, value) {
      const values = variables.get(name);
      if (values === undefined) variables.set(name, [value]);
      else values.push(value);
    },
    suspect: (suspicion) => suspicions.push(suspicion),
  });

  function readText(source: string, surroundings: Surroundings): void {
    if (surroundings.depth > DEEPEST) throw new Refusal("it holds code inside code too many times");
    for (const { tree, reading } of treesOf(source, surroundings)) walk(tree, { ...surroundings, reading });
  }

  /** Which of the two a `sh` is depends on the machine. */
  function treesOf(
    source: string,
    { dialect, supposed }: Surroundings,
  ): readonly { tree: Node; reading: Dialect }[] {
    const ambiguous = dialect === "posix" && AMBIGUOUS.test(source.replaceAll("\\\n", ""));
    const readings: readonly Dialect[] = ambiguous ? ["bash", "posix"] : ["bash"];
    try {
      const problem = unreadable(source);
      if (problem !== undefined) throw new Refusal(problem);
      return readings.map((reading) => ({ tree: syntax.parse(source, reading), reading }));
    } catch (error) {
      // It was no code after all.
      if (supposed) return [];
      throw error;
    }
  }

  function add(command: SimpleCommand, depth: number): void {
    if (commands.length >= MOST_COMMANDS) throw new Refusal(`it has more than ${MOST_COMMANDS} commands`);
    words += command.words.length;
    if (words > MOST_WORDS) throw new Refusal(`it has more than ${MOST_WORDS} words`);
    commands.push(command);
    for (const found of unwrap(command)) {
      const via = [...command.via, found.kind === "suspicion" ? "" : found.via];
      if (via.length > DEEPEST) throw new Refusal("it holds code inside code too many times");
      switch (found.kind) {
        case "command":
          add(
            { ...command, ...found.changes, assignments: [], redirects: [], words: found.words, via },
            depth,
          );
          break;
        case "code":
          addCode(found, command, via);
          break;
        case "opaque":
          opaque.push({ language: found.via, text: found.text });
          break;
        case "suspicion":
          suspicions.push(found.suspicion);
          break;
      }
    }
  }

  function addCode(found: Code, command: SimpleCommand, via: readonly string[]) {
    const { within, concurrent, feeds, kept } = command;
    readText(found.text, {
      ...topLevel,
      depth: via.length,
      via,
      within,
      concurrent,
      remote: command.remote || found.remote === true,
      stdin: found.stdin ?? command.stdin,
      feeds,
      kept,
      supposed: command.supposed || found.supposed === true,
      dialect: dialectOf(found.via, command.dialect),
      certainty: "maybe",
      scopes: command.scopes,
      repeats: command.repeats,
    });
  }

  readText(text, { ...topLevel, dialect });
  return {
    commands,
    functions,
    variables,
    opaque,
    suspicions,
    textWithout: (words) =>
      textWithout(
        syntax,
        text,
        words.filter((word) => standing.has(word)),
      ),
  };
}

/** What the shell that reads the command runs itself. */
const inItself = names("eval trap alias source . mapfile readarray complete compgen");

/** Everything else that runs code gives it to `sh`, unless it is a shell that cannot be one. */
function dialectOf(via: string, outer: Dialect): Dialect {
  if (inItself.has(via)) return outer;
  return shells.has(via) && !["sh", "dash", "ash"].includes(via) ? "bash" : "posix";
}

/** What the parser reads differently from the shell. */
function unreadable(source: string): string | undefined {
  if (source.includes("\0")) return "it contains a NUL character";
  if (source.includes("\r")) return "it contains a carriage return";
  if (!source.isWellFormed()) return "it contains half of a surrogate pair";
  return undefined;
}
