/** Shell code inside the programs of awk and sed. */

import { readOptions } from "./options.ts";
import type { Suspicion } from "./parsed.ts";
import { shown, staticText, type Word } from "./word.ts";

type Inner =
  | { readonly kind: "code"; readonly via: string; readonly text: string }
  | { readonly kind: "opaque"; readonly via: string; readonly text: string | undefined }
  | { readonly kind: "suspicion"; readonly suspicion: Suspicion };

const STRING = String.raw`"((?:[^"\\]|\\.)*)"`;

export function awkCode(via: string, args: readonly Word[]): readonly Inner[] {
  const { operands, values, letters } = readOptions(args, { short: "Fvfe", long: ["source", "file"] }, false);
  const given = [...(values.get("e") ?? []), ...(values.get("source") ?? [])];
  const programs = given.length > 0 || letters.has("f") ? given : operands.slice(0, 1);
  return programs.flatMap((word) => {
    const text = word === undefined ? undefined : staticText(word);
    const source = text ?? (word === undefined ? "" : shown(word));
    const codes = [
      ...matches(source, new RegExp(String.raw`system\s*\(\s*${STRING}\s*\)`, "g")),
      ...matches(source, new RegExp(String.raw`\|&?\s*${STRING}`, "g")),
      ...matches(source, new RegExp(String.raw`${STRING}\s*\|&?\s*getline`, "g")),
    ];
    const calls = (source.match(/system\s*\(|\|&?\s*getline|(?<!\|)\|&?\s*(?![|\s&])/g) ?? []).length;
    const found: Inner[] = codes.map((code) => ({ kind: "code", via, text: code }));
    found.push({ kind: "opaque", via, text });
    return calls > codes.length || (text === undefined && /system|getline|\|/.test(source))
      ? [...found, hiddenCode(via)]
      : found;
  });
}

function matches(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, inside = ""]) => inside.replace(/\\(.)/g, "$1"));
}

function hiddenCode(via: string): Inner {
  const reason = `${via} would run a command that its program puts together; run the command itself`;
  return { kind: "suspicion", suspicion: { rule: "dynamic-code", reason } };
}

/** GNU sed runs what the commands `e` and `s///e` say. */
export function sedCode(args: readonly Word[]): readonly Inner[] {
  return sedScripts(args).flatMap((word) => {
    const script = staticText(word);
    if (script === undefined) return [];
    const called = /(?:^|[;\n{}]|[\d$/!])\s*e\s+([^\n]+)/.exec(script)?.[1];
    if (called !== undefined) return [{ kind: "code", via: "sed", text: called } as const];
    return runsReplacement(script) ? [hiddenCode("sed")] : [];
  });
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

/** Whether a script holds `s` with the flag `e`, or `e` alone. */
function runsReplacement(script: string): boolean {
  if (/(?:^|[;\n{}]|[\d$])\s*e\s*(?:$|[;\n}])/.test(script)) return true;
  for (const { index } of script.matchAll(/s(?=[^\w\s\\])/g)) {
    const delimiter = script[index + 1] ?? "/";
    let at = index + 2;
    for (let part = 0; part < 2 && at < script.length; at++) {
      if (script[at] === "\\") at++;
      else if (script[at] === delimiter) part++;
    }
    if (/^[gpiIMm\d]*e/.test(script.slice(at))) return true;
  }
  return false;
}
