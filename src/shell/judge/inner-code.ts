/** Shell code inside the programs of awk and sed. */

import type { Found } from "./found.ts";
import { readOptions } from "./options.ts";
import { readSedScript } from "./sed-script.ts";
import { shown, staticText, textWord, type Word } from "./word.ts";

export function awkCode(via: string, args: readonly Word[]): readonly Found[] {
  const { operands, values, letters } = readOptions(args, { short: "Fvfe", long: ["source", "file"] }, false);
  const given = [...(values.get("e") ?? []), ...(values.get("source") ?? [])];
  const fromFile = letters.has("f") || values.has("file");
  const programs = given.length > 0 || fromFile ? given : operands.slice(0, 1);
  return programs.flatMap((word) =>
    word === undefined ? [] : awkProgram(via, staticText(word), shown(word)),
  );
}

/** `text` is what is known of it, `source` with marks for the rest. */
export function awkProgram(via: string, text: string | undefined, source = text ?? ""): readonly Found[] {
  const { outline, strings } = awkOutline(source);
  const textsOf = (pattern: RegExp) =>
    [...outline.matchAll(pattern)].map(([, index]) => strings[Number(index)] ?? "");
  const codes: readonly Found[] = [
    ...textsOf(/system\s*\(\s*"(\d+)"\s*\)/g).map((code) => ({ kind: "code" as const, via, text: code })),
    ...textsOf(/(?<!["\w)\]]\s*)"(\d+)"\s*\|&?\s*getline/g).map((code) => ({
      kind: "code" as const,
      via,
      text: code,
    })),
    ...textsOf(/\|&?\s*"(\d+)"(?=\s*(?:[;}\n]|$))/g).map((code) => ({
      kind: "code" as const,
      via,
      text: code,
      stdin: { kind: "pipe" as const },
    })),
  ];
  const calls = (outline.match(/system\s*\(|(?<!\|)\|(?!\|)|@\w+\s*\(/g) ?? []).length;
  const found: readonly Found[] = [...codes, { kind: "opaque", via, text }];
  return calls > codes.length || (text === undefined && /system|getline|\|/.test(source))
    ? [...found, hiddenCode(via)]
    : found;
}

/** Comments, and what a slash begins where no division can stand: a regular expression. */
const AWK_TOKEN =
  /"((?:[^"\\]|\\[\s\S])*)"|#[^\n]*|(?<=(?:^|[(,{};!~&|\n=<>?:])\s*)\/(?:[^/\\\n[]|\\.|\[\^?\]?(?:\[:\w+:\]|[^\]\n])*\])+\//g;

/** The program with numbers in the place of its strings, and without regular expressions, in which a `|` is none. */
function awkOutline(source: string): { readonly outline: string; readonly strings: readonly string[] } {
  const strings: string[] = [];
  const outline = source.replace(AWK_TOKEN, (token, string?: string) => {
    if (string === undefined) return token.startsWith("/") ? "0" : "";
    return `"${strings.push(string.replace(/\\(.)/g, "$1")) - 1}"`;
  });
  return { outline, strings };
}

function hiddenCode(via: string): Found {
  const reason = `${via} would run a command that its program puts together; run the command itself`;
  return { kind: "suspicion", suspicion: { rule: "dynamic-code", reason } };
}

/** GNU sed runs what the commands `e` and `s///e` say. */
export function sedCode(args: readonly Word[]): readonly Found[] {
  return sedScripts(args).flatMap((word) => {
    const text = staticText(word);
    if (text === undefined) return [];
    const script = readSedScript(text);
    if (script === undefined) return /e/.test(text) ? [hiddenCode("sed")] : [];
    const codes = script.commands.map((code) => ({ kind: "code" as const, via: "sed", text: code }));
    return script.runsInput ? [...codes, hiddenCode("sed")] : codes;
  });
}

/** The files that the scripts among the arguments of sed open. */
export function sedFiles(args: readonly Word[]): {
  readonly reads: readonly Word[];
  readonly writes: readonly Word[];
} {
  const scripts = sedScripts(args).map((word) => readSedScript(staticText(word) ?? ""));
  return {
    reads: scripts.flatMap((script) => script?.reads.map(textWord) ?? []),
    writes: scripts.flatMap((script) => script?.writes.map(textWord) ?? []),
  };
}

/** The scripts among the arguments of sed. */
export function sedScripts(args: readonly Word[]): readonly Word[] {
  const { operands, values, letters, names } = readOptions(args, {
    short: "efl",
    long: ["expression", "file"],
  });
  const given = [...(values.get("e") ?? []), ...(values.get("expression") ?? [])].filter(
    (word) => word !== undefined,
  );
  const fromFile = letters.has("f") || names.includes("file");
  return given.length > 0 || fromFile ? given : operands.slice(0, 1);
}
