/** Turns shell text into a syntax tree: mvdan-sh, loaded at the first command. */

import { lazy } from "../../lib/lazy.ts";

/** A node as the parser made it. Which fields it has depends on its type. */
export interface Node {
  readonly type: string;
  readonly raw: Readonly<Record<string, unknown>>;
  /** Nodes that were read from it, because every reading of a list copies it out of the parser's world. */
  readonly seen: Map<string, readonly Node[]>;
}

/** What bash reads, and what a `sh` reads that knows nothing of bash. */
export type Dialect = "bash" | "posix";

/** The parser's numbers for the operators that matter. */
export const OPERATOR = {
  and: 10,
  pipe: 12,
  pipeAll: 13,
  read: 56,
  readWrite: 57,
  readCopy: 58,
  writeCopy: 59,
  /** `<<` and `<<-` */
  hereDocuments: [61, 62],
  hereString: 63,
  writeAll: 64,
  appendAll: 65,
  /** `>(command)` */
  toCommand: 67,
  /** `+`, `:+`, `-`, `:-`, `?`, `:?`, `=` and `:=` in an expansion. */
  alternatives: [68, 69, 70, 71, 72, 73, 74, 75],
  /** `${name@operator}` */
  transform: 84,
  /** `-R`, `-v`, and the comparisons of numbers. */
  evaluating: [110, 111, 116, 117, 118, 119, 120, 121],
} as const;

/** A stretch of a text, in bytes. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface ShellSyntax {
  /** Throws what the parser throws; `problemOf()` reads it. */
  parse(text: string, dialect: Dialect): Node;
  /** The node in a field, or `undefined` where there is none. */
  child(node: Node, field: string): Node | undefined;
  /** The nodes in a field, which may hold one or a list. */
  children(node: Node, field: string): readonly Node[];
  /** The nodes in a field of a record that is no node itself. */
  inRecord(record: unknown, field: string): readonly Node[];
  /** Where a node stands in the text that it was read from. */
  span(node: Node): Span;
  /** The comments of a text that `parse` took. */
  comments(text: string): readonly Span[];
}

/** The part of mvdan-sh that is used here; it brings no types. */
interface MvdanSh {
  readonly syntax: {
    NewParser(...options: readonly unknown[]): Parser;
    NodeType(node: unknown): string;
    Variant(language: unknown): unknown;
    KeepComments(keep: boolean): unknown;
    Walk(node: unknown, visit: (node: unknown) => boolean): void;
    readonly LangPOSIX: unknown;
  };
}

/** What the parser's nodes can do. */
interface Placed {
  Pos(): { Offset(): number };
  End(): { Offset(): number };
}

interface Parser {
  Parse(source: string, name: string): unknown;
}

function isMvdanSh(loaded: unknown): loaded is MvdanSh {
  return typeof loaded === "object" && loaded !== null && "syntax" in loaded;
}

export const loadSyntax: () => Promise<ShellSyntax> = lazy(async () => {
  const { default: loaded }: { readonly default: unknown } = await import("mvdan-sh");
  if (!isMvdanSh(loaded)) throw new Error("The shell parser is not what it was when this was written");
  const { syntax } = loaded;
  const parsers: Readonly<Record<Dialect, Parser>> = {
    bash: syntax.NewParser(),
    posix: syntax.NewParser(syntax.Variant(syntax.LangPOSIX)),
  };
  const types = new Map<unknown, string>();

  /** Asking the parser costs more than parsing a short command, so it is asked once for every kind of object. */
  function typeOf(raw: object): string {
    const inner = "__internal_object__" in raw ? raw.__internal_object__ : undefined;
    const kind = typeof inner === "object" && inner !== null ? inner.constructor : undefined;
    const known = types.get(kind);
    if (kind !== undefined && kind !== Object && known !== undefined) return known;
    const type = syntax.NodeType(raw);
    types.set(kind, type);
    return type;
  }

  function walkComments(text: string, visit: (comment: Placed & { readonly Text: unknown }) => void): void {
    const onNode = (node: unknown): boolean => {
      if (typeof node !== "object" || node === null) return true;
      if ("Hash" in node && "Text" in node) visit(node as unknown as Placed & { readonly Text: unknown });
      // The parser's own walk leaves these out.
      if ("Slice" in node) {
        for (const { raw } of [...inRecord(node.Slice, "Offset"), ...inRecord(node.Slice, "Length")]) {
          syntax.Walk(raw, onNode);
        }
      }
      return true;
    };
    syntax.Walk(syntax.NewParser(syntax.KeepComments(true)).Parse(text, "command"), onNode);
  }

  /** The parser lets a comment go on behind a backslash at the end of its line. To a shell the next line is code. */
  function hidesLine(text: string): boolean {
    if (!text.split("\\\n").some((before) => before.includes("#", before.lastIndexOf("\n") + 1)))
      return false;
    let hides = false;
    walkComments(text, ({ Text }) => {
      hides ||= String(Text).includes("\\\n");
    });
    return hides;
  }

  function wrap(raw: unknown): Node | undefined {
    if (typeof raw !== "object" || raw === null) return undefined;
    // The parser's nodes are objects whose fields are getters.
    return { type: typeOf(raw), raw: raw as Readonly<Record<string, unknown>>, seen: new Map() };
  }

  function wrapAll(held: unknown): readonly Node[] {
    return (Array.isArray(held) ? held : [held]).map(wrap).filter((found) => found !== undefined);
  }

  function children(node: Node, field: string): readonly Node[] {
    let nodes = node.seen.get(field);
    if (nodes === undefined) {
      nodes = wrapAll(node.raw[field]);
      node.seen.set(field, nodes);
    }
    return nodes;
  }

  function inRecord(record: unknown, field: string): readonly Node[] {
    if (typeof record !== "object" || record === null) return [];
    return wrapAll((record as Readonly<Record<string, unknown>>)[field]);
  }

  return {
    parse(text, dialect) {
      const file = wrap(parsers[dialect].Parse(text, "command"));
      if (hidesLine(text)) throw new Error("a comment in it ends in a backslash");
      if (file === undefined) throw new Error("The shell parser answered without a tree");
      return file;
    },
    child: (node, field) => children(node, field)[0],
    children,
    inRecord,
    span: ({ raw }) => spanOf(raw as unknown as Placed),
    comments(text) {
      const spans: Span[] = [];
      walkComments(text, (comment) => spans.push(spanOf(comment)));
      return spans;
    },
  };
});

function spanOf(placed: Placed): Span {
  return { from: placed.Pos().Offset(), to: placed.End().Offset() };
}

/** What the parser has against a text, in one line. Errors of the parser are not `Error`s. */
export function problemOf(error: unknown): string {
  if (error instanceof RangeError) return "it is nested too deeply";
  if (typeof error === "object" && error !== null && "Text" in error) {
    if (typeof error.Text === "string") return error.Text;
  }
  return error instanceof Error ? error.message : "the shell parser could not read it";
}
