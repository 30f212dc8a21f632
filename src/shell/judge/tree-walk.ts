/** Walks a syntax tree of the shell and reports the simple commands, functions and variables in it. */

import { names } from "./names.ts";
import type { Certainty, Stdin } from "./parsed.ts";
import { readRedirects } from "./redirects.ts";
import { inScope, type Surroundings } from "./surroundings.ts";
import { type Node, OPERATOR, type ShellSyntax } from "./syntax.ts";
import { visitCall, visitDeclaration } from "./tree-calls.ts";
import { createTreeContext, type TreeListener, TreeProblem } from "./tree-context.ts";
import { visitExpansion } from "./tree-expansions.ts";
import { readWord, readWords, staticText, type Word } from "./word.ts";

const PIPES: ReadonlySet<unknown> = new Set([OPERATOR.pipe, OPERATOR.pipeAll]);
const WRITE_ALL: ReadonlySet<unknown> = new Set([OPERATOR.writeAll, OPERATOR.appendAll]);
/** `-eq` and its like, whose sides are arithmetic, and `-v` and `-R`, which take names. */
const EVALUATING: ReadonlySet<unknown> = new Set(OPERATOR.evaluating);

/**
 * The fields of a node that hold nodes, for the types in which nothing else is to see. A type that is in no
 * table is refused: a command might hide in it.
 */
const fields: Readonly<Record<string, readonly string[]>> = {
  CaseClause: ["Word", "Items"],
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
const arithmetic: ReadonlySet<string> = names(
  "ArithmExp ArithmCmd ParenArithm UnaryArithm BinaryArithm CStyleLoop",
);

/** Reports what it finds below a node. Throws for a tree it does not know all types of. */
export function createTreeWalk(
  syntax: ShellSyntax,
  listener: TreeListener,
): (node: Node, surroundings: Surroundings) => void {
  const { child, children } = syntax;
  const context = createTreeContext(syntax, listener, visit);
  const { each, report, keyword, evaluated } = context;

  function visit(node: Node | undefined, at: Surroundings): void {
    if (node === undefined) return;
    switch (node.type) {
      case "File": {
        const statements = children(node, "Stmts");
        for (const one of statements)
          visit(one, statements.length === 1 ? at : { ...at, certainty: ungated(at) });
        return;
      }
      case "Stmt":
        visitStatement(node, at);
        return;
      case "BinaryCmd":
        visitBinary(node, at);
        return;
      case "Block":
        visitList(children(node, "Stmts"), inScope(at, { isApart: false }));
        return;
      case "Subshell":
        visitList(children(node, "Stmts"), inScope(at, { isApart: true }));
        return;
      case "IfClause":
        each(node, ["Cond"], at);
        visitList(children(node, "Then"), inScope(at, { isApart: false }));
        each(node, ["Else"], at);
        return;
      case "CaseItem":
        each(node, ["Patterns"], at);
        visitList(children(node, "Stmts"), inScope(at, { isApart: false }));
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
        visitList(children(node, "Stmts"), {
          ...inScope(at, { isApart: true }),
          quoted: false,
          feeds: true,
        });
        return;
      case "ProcSubst": {
        const stdin: Stdin = node.raw["Op"] === OPERATOR.toCommand ? { kind: "pipe" } : at.stdin;
        const inner = { ...inScope(at, { isApart: true }), quoted: false, feeds: true, stdin };
        visitList(children(node, "Stmts"), inner);
        return;
      }
      case "ParamExp":
        visitExpansion(context, node, at);
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

  function visitList(statements: readonly Node[], at: Surroundings): void {
    const certainty = statements.length === 1 ? "gate" : "always";
    for (const one of statements) visit(one, { ...at, certainty });
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
      kept:
        outer.kept || redirects.some(({ writes, target }) => writes && staticText(target) !== "/dev/null"),
      certainty: certaintyOf(node, command, outer),
    };
    if (command?.type === "CallExpr") {
      visitCall(context, command, redirects, at);
      return;
    }
    if (command?.type === "DeclClause") {
      visitDeclaration(context, command, redirects, at);
      return;
    }
    if (redirects.length > 0) report({ words: [], redirects }, at);
    visit(command, at);
  }

  function certaintyOf({ raw }: Node, command: Node | undefined, at: Surroundings): Certainty {
    const isCall = command?.type === "CallExpr" || command?.type === "BinaryCmd";
    if (!isCall || raw["Background"] === true) return "maybe";
    return raw["Negated"] === true ? ungated(at) : at.certainty;
  }

  const ungated = ({ certainty }: Surroundings): Certainty => (certainty === "gate" ? "always" : certainty);

  function visitBinary(node: Node, at: Surroundings): void {
    if (!PIPES.has(node.raw["Op"])) {
      const gates = at.certainty === "gate" && node.raw["Op"] === OPERATOR.and;
      visit(child(node, "X"), { ...at, certainty: gates ? "gate" : ungated(at) });
      visit(child(node, "Y"), { ...at, certainty: gates ? "gate" : "maybe" });
      return;
    }
    visit(child(node, "X"), { ...at, concurrent: true, certainty: "maybe", feeds: true });
    visit(child(node, "Y"), { ...at, concurrent: true, certainty: "maybe", stdin: { kind: "pipe" } });
  }

  function testOperator({ type, raw }: Node): unknown {
    return type === "BinaryTest" || type === "UnaryTest" ? raw["Op"] : undefined;
  }

  function visitWhile(node: Node, at: Surroundings): void {
    const conditions = children(node, "Cond");
    for (const one of conditions) visit(one, { ...at, repeats: true });
    const call =
      conditions.length === 1 && conditions[0] !== undefined ? child(conditions[0], "Cmd") : undefined;
    const [first] = call?.type === "CallExpr" ? children(call, "Args") : [];
    const condition = first === undefined ? "" : (staticText(readWord(syntax, first)) ?? "");
    const endless = [":", "true"].includes(condition) && node.raw["Until"] !== true;
    const body = children(node, "Do");
    if (endless && body.some((one) => one.raw["Background"] === true)) {
      listener.suspect({ rule: "fork-bomb", reason: "an endless loop starts processes in the background" });
    }
    for (const one of body) visit(one, { ...at, repeats: true });
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
    for (const one of children(node, "Do")) visit(one, { ...at, repeats: true });
  }

  function tested(node: Node | undefined): readonly Word[] {
    if (node === undefined) return [];
    if (node.type === "Word") return [readWord(syntax, node)];
    // What stands right of `=~` and `==` is a pattern.
    const sides = node.type === "BinaryTest" && child(node, "X")?.type === "Word" ? ["X"] : ["X", "Y"];
    return sides.flatMap((side) => tested(child(node, side)));
  }

  return visit;
}
