/** Walks a syntax tree of the shell and reports the simple commands, functions and variables in it. */

import type { Assignment, Redirect, SimpleCommand, Stdin, Suspicion } from "./parsed.ts";
import { readRedirects } from "./redirects.ts";
import { hiddenCommand } from "./subscripts.ts";
import type { Dialect, Node, ShellSyntax } from "./syntax.ts";
import { readWord, readWords, staticText, textWord, type Word } from "./word.ts";

/** What is true of a command because of where it stands. */
export interface Surroundings {
  readonly depth: number;
  readonly via: readonly string[];
  readonly within: readonly string[];
  readonly concurrent: boolean;
  readonly remote: boolean;
  readonly stdin: Stdin;
  readonly definite: boolean;
  readonly feeds: boolean;
  readonly dialect: Dialect;
  readonly supposed: boolean;
  /** How this tree was read, where a shell may read it in more than one way. */
  readonly reading: Dialect;
  /** Between double quotes, or in a here-document. */
  readonly quoted: boolean;
}

export const topLevel: Surroundings = {
  depth: 0,
  via: [],
  within: [],
  concurrent: false,
  remote: false,
  stdin: { kind: "inherited" },
  definite: true,
  feeds: false,
  dialect: "bash",
  supposed: false,
  reading: "bash",
  quoted: false,
};

export interface TreeListener {
  command(command: SimpleCommand): void;
  defined(name: string): void;
  assigned(name: string, value: Word | undefined): void;
  suspect(suspicion: Suspicion): void;
}

/** The parser's numbers for the operators that matter. */
const PIPES: ReadonlySet<unknown> = new Set([12, 13]);
const AND = 10;
/** `&>` and `&>>` */
const WRITE_ALL: ReadonlySet<unknown> = new Set([64, 65]);
/** `>(command)` */
const TAKES_OUTPUT = 67;
/** `-eq` and its like, whose sides are arithmetic, and `-v` and `-R`, which take names. */
const EVALUATING: ReadonlySet<unknown> = new Set([110, 111, 116, 117, 118, 119, 120, 121]);
/** `${name@operator}` */
const AT_OPERATOR = 84;

/**
 * The fields of a node that hold nodes, for the types in which nothing else is to see. A type that is in no
 * table is refused: a command might hide in it.
 */
const fields: Readonly<Record<string, readonly string[]>> = {
  Block: ["Stmts"],
  Subshell: ["Stmts"],
  IfClause: ["Cond", "Then", "Else"],
  CaseClause: ["Word", "Items"],
  CaseItem: ["Patterns", "Stmts"],
  TimeClause: ["Stmt"],
  Word: ["Parts"],
  Lit: [],
  SglQuoted: [],
  ArithmExp: ["X"],
  ArithmCmd: ["X"],
  ParenArithm: ["X"],
  UnaryArithm: ["X"],
  BinaryArithm: ["X", "Y"],
  ParenTest: ["X"],
  UnaryTest: ["X"],
  BinaryTest: ["X", "Y"],
  CStyleLoop: ["Init", "Cond", "Post"],
  ArrayExpr: ["Elems"],
  ArrayElem: ["Index", "Value"],
};

/** Nodes whose words are evaluated as arithmetic. */
const arithmetic: ReadonlySet<string> = new Set(
  "ArithmExp ArithmCmd ParenArithm UnaryArithm BinaryArithm CStyleLoop".split(" "),
);

class TreeProblem extends Error {}

/** Reports what it finds below a node. Throws for a tree it does not know all types of. */
export function createTreeWalk(
  syntax: ShellSyntax,
  listener: TreeListener,
): (node: Node, surroundings: Surroundings) => void {
  const { child, children } = syntax;

  function visit(node: Node | undefined, at: Surroundings): void {
    if (node === undefined) return;
    switch (node.type) {
      case "File": {
        const statements = children(node, "Stmts");
        for (const one of statements) visit(one, { ...at, definite: at.definite && statements.length === 1 });
        return;
      }
      case "Stmt":
        visitStatement(node, at);
        return;
      case "BinaryCmd":
        visitBinary(node, at);
        return;
      case "FuncDecl": {
        const name = String(child(node, "Name")?.raw["Value"] ?? "");
        listener.defined(name);
        visit(child(node, "Body"), { ...at, within: [...at.within, name] });
        return;
      }
      case "WhileClause":
        visitWhile(node, at);
        return;
      case "ForClause":
        visitFor(node, at);
        return;
      case "TestClause":
        keyword("[[", tested(child(node, "X")), at);
        visit(child(node, "X"), at);
        return;
      case "CoprocClause":
        visit(child(node, "Stmt"), { ...at, concurrent: true, feeds: true, stdin: { kind: "pipe" } });
        return;
      case "DblQuoted":
        each(node, ["Parts"], { ...at, quoted: true });
        return;
      case "CmdSubst":
        each(node, ["Stmts"], { ...at, quoted: false, feeds: true });
        return;
      case "ProcSubst": {
        const stdin: Stdin = node.raw["Op"] === TAKES_OUTPUT ? { kind: "pipe" } : at.stdin;
        each(node, ["Stmts"], { ...at, quoted: false, feeds: true, stdin });
        return;
      }
      case "ParamExp":
        visitExpansion(node, at);
        return;
      case "ExtGlob":
        // The parser does not look inside.
        if (/[$`<>]/.test(String(child(node, "Pattern")?.raw["Value"] ?? ""))) {
          throw new TreeProblem("an extended pattern holds an expansion");
        }
        return;
      case "LetClause":
        for (const word of children(node, "Exprs")) evaluated("let", word);
        each(node, ["Exprs"], at);
        return;
      default: {
        const below = fields[node.type];
        if (below === undefined) throw new TreeProblem(`it uses ${node.type}, which is not understood`);
        const evaluates = arithmetic.has(node.type) || EVALUATING.has(testOperator(node));
        if (evaluates) for (const name of below) evaluated("arithmetic", ...children(node, name));
        each(node, below, at);
        return;
      }
    }
  }

  function each(node: Node, names: readonly string[], outer: Surroundings): void {
    const at = { ...outer, definite: false };
    for (const name of names) for (const one of children(node, name)) visit(one, at);
  }

  function visitStatement(node: Node, outer: Surroundings): void {
    const command = child(node, "Cmd");
    const nodes = children(node, "Redirs");
    for (const one of nodes) {
      if (outer.reading === "posix" && WRITE_ALL.has(one.raw["Op"])) {
        throw new TreeProblem("sh reads &> in another way than bash");
      }
      each(one, ["Word"], outer);
      each(one, ["Hdoc"], { ...outer, quoted: true });
    }
    const { redirects, stdin } = readRedirects(syntax, nodes);
    const at: Surroundings = {
      ...outer,
      concurrent: outer.concurrent || node.raw["Background"] === true || node.raw["Coprocess"] === true,
      stdin: stdin ?? outer.stdin,
      definite:
        outer.definite &&
        node.raw["Negated"] !== true &&
        node.raw["Background"] !== true &&
        (command?.type === "CallExpr" || command?.type === "BinaryCmd"),
    };
    if (command?.type === "CallExpr") {
      visitCall(command, redirects, at);
      return;
    }
    if (command?.type === "DeclClause") {
      visitDeclaration(command, redirects, at);
      return;
    }
    if (redirects.length > 0) report([], [], redirects, at);
    visit(command, at);
  }

  function visitBinary(node: Node, at: Surroundings): void {
    if (!PIPES.has(node.raw["Op"])) {
      visit(child(node, "X"), { ...at, definite: at.definite && node.raw["Op"] === AND });
      visit(child(node, "Y"), { ...at, definite: false });
      return;
    }
    visit(child(node, "X"), { ...at, concurrent: true, definite: false, feeds: true });
    visit(child(node, "Y"), { ...at, concurrent: true, definite: false, stdin: { kind: "pipe" } });
  }

  function visitCall(node: Node, redirects: readonly Redirect[], at: Surroundings): void {
    const assignments = children(node, "Assigns").map((one) => readAssignment(one, at));
    const args = children(node, "Args");
    for (const word of args) visit(word, { ...at, definite: false });
    const words = args.flatMap((word) => readWords(syntax, word));
    if (words.length === 0) for (const { name, value } of assignments) listener.assigned(name, value);
    if (words.length > 0 || assignments.length > 0 || redirects.length > 0) {
      report(words, assignments, redirects, at);
    }
  }

  function visitDeclaration(node: Node, redirects: readonly Redirect[], at: Surroundings): void {
    const words = [textWord(String(child(node, "Variant")?.raw["Value"] ?? "declare"))];
    const assignments: Assignment[] = [];
    for (const one of children(node, "Args")) {
      if (one.raw["Naked"] !== true) {
        const assignment = readAssignment(one, at);
        assignments.push(assignment);
        listener.assigned(assignment.name, assignment.value);
        continue;
      }
      const name = child(one, "Name")?.raw["Value"];
      const value = child(one, "Value");
      visit(value, at);
      // `declare "$x"` can set anything.
      if (value !== undefined) words.push(...readWords(syntax, value));
      else words.push(textWord(String(name ?? "")));
    }
    report(words, assignments, redirects, at);
  }

  function readAssignment(node: Node, at: Surroundings): Assignment {
    each(node, ["Index", "Array", "Value"], at);
    const name = String(child(node, "Name")?.raw["Value"] ?? "");
    const value = child(node, "Value");
    const appends = node.raw["Append"] === true;
    const array = child(node, "Array");
    const word = value === undefined ? undefined : readWord(syntax, value);
    // Arithmetic evaluates what a variable holds, subscripts with commands in them included.
    if (value !== undefined) evaluated(name, value);
    evaluated(name, ...children(node, "Index"));
    if (array !== undefined) {
      const items = children(array, "Elems").flatMap((item) => {
        const held = child(item, "Value");
        evaluated(name, ...children(item, "Index"), ...children(item, "Value"));
        return held === undefined ? [] : readWords(syntax, held);
      });
      keyword("for", items, at);
      return { name, value: undefined };
    }
    if (word === undefined) return { name, value: appends ? undefined : textWord("") };
    if (appends || child(node, "Index") !== undefined) {
      keyword("for", [word], at);
      return { name, value: undefined };
    }
    return { name, value: word };
  }

  function evaluated(where: string, ...nodes: readonly Node[]): void {
    for (const node of nodes) {
      if (node.type !== "Word") continue;
      for (const suspicion of hiddenCommand(where, staticText(readWord(syntax, node))))
        listener.suspect(suspicion);
    }
  }

  function testOperator({ type, raw }: Node): unknown {
    return type === "BinaryTest" || type === "UnaryTest" ? raw["Op"] : undefined;
  }

  function visitWhile(node: Node, at: Surroundings): void {
    const conditions = children(node, "Cond");
    for (const one of conditions) visit(one, at);
    const call =
      conditions.length === 1 && conditions[0] !== undefined ? child(conditions[0], "Cmd") : undefined;
    const [first] = call?.type === "CallExpr" ? children(call, "Args") : [];
    const condition = first === undefined ? "" : (staticText(readWord(syntax, first)) ?? "");
    const endless = [":", "true"].includes(condition) && node.raw["Until"] !== true;
    const body = children(node, "Do");
    if (endless && body.some((one) => one.raw["Background"] === true)) {
      listener.suspect({ rule: "fork-bomb", reason: "an endless loop starts processes in the background" });
    }
    for (const one of body) visit(one, at);
  }

  function visitFor(node: Node, at: Surroundings): void {
    const loop = child(node, "Loop");
    if (loop?.type === "WordIter") {
      const items = children(loop, "Items");
      for (const item of items) visit(item, at);
      const words = items.flatMap((item) => readWords(syntax, item));
      const name = String(child(loop, "Name")?.raw["Value"] ?? "");
      if (words.length === 0) listener.assigned(name, undefined);
      for (const word of words) listener.assigned(name, word);
      keyword("for", words, at);
    } else {
      visit(loop, at);
    }
    for (const one of children(node, "Do")) visit(one, at);
  }

  function tested(node: Node | undefined): readonly Word[] {
    if (node === undefined) return [];
    if (node.type === "Word") return [readWord(syntax, node)];
    // What stands right of `=~` and `==` is a pattern.
    const sides = node.type === "BinaryTest" && child(node, "X")?.type === "Word" ? ["X"] : ["X", "Y"];
    return sides.flatMap((side) => tested(child(node, side)));
  }

  function visitExpansion(node: Node, at: Surroundings): void {
    evaluated("a subscript", ...children(node, "Index"));
    visit(child(node, "Index"), at);
    for (const [holder, names] of [
      ["Slice", ["Offset", "Length"]],
      ["Repl", ["Orig", "With"]],
      ["Exp", ["Word"]],
    ] as const) {
      // These three are plain records of nodes, without a type of their own.
      const record = node.raw[holder];
      for (const one of names.flatMap((name) => syntax.inRecord(record, name))) {
        visit(one, { ...at, definite: false });
        if (holder === "Exp" && at.quoted) refuseQuotes(one);
        if (holder === "Exp" && isPrompt(record, one)) {
          listener.suspect({
            rule: "dynamic-code",
            reason: "an expansion with @P runs what the variable holds",
          });
        }
      }
    }
  }

  /** Single quotes in `"${x-'…'}"` quote nothing for the shell, and the parser takes what is in them for text. */
  function refuseQuotes(word: Node): void {
    for (const part of children(word, "Parts")) {
      if (part.type === "SglQuoted" && /[$`"\\}]/.test(String(part.raw["Value"]))) {
        throw new TreeProblem("there are single quotes in an expansion that is in double quotes");
      }
    }
  }

  /** `${name@P}` */
  function isPrompt(record: unknown, word: Node): boolean {
    const operator = typeof record === "object" && record !== null && "Op" in record ? record.Op : undefined;
    return operator === AT_OPERATOR && staticText(readWord(syntax, word)) === "P";
  }

  function keyword(name: string, words: readonly Word[], at: Surroundings): void {
    if (words.length > 0) report([textWord(name), ...words], [], [], at, true);
  }

  function report(
    words: readonly Word[],
    assignments: readonly Assignment[],
    redirects: readonly Redirect[],
    { via, within, concurrent, remote, stdin, definite, feeds, dialect, supposed }: Surroundings,
    isKeyword = false,
  ): void {
    listener.command({
      words,
      assignments,
      redirects,
      via,
      within,
      concurrent,
      remote,
      stdin,
      feeds,
      dialect,
      supposed,
      definite: definite && assignments.length === 0,
      keyword: isKeyword,
    });
  }

  return visit;
}
