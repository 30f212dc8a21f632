/** Options whose value is code for a shell: `tar -I`, `ssh -o ProxyCommand=`, `su -c`. */

import { type OptionSpec, readOptions } from "./options.ts";
import type { Word } from "./word.ts";

interface CodeOptions extends OptionSpec {
  /** Those of the options with a value that hold code, by letter or name. */
  readonly code: readonly string[];
  /** What stands before the code in the value; a value without it is none. */
  readonly prefix?: RegExp;
}

const archive: CodeOptions = {
  short: "fCIFTXbgHKLNV",
  long: [
    "to-command",
    "use-compress-program",
    "checkpoint-action",
    "info-script",
    "new-volume-script",
    "rsh-command",
    "file",
    "directory",
    "exclude",
  ],
  code: [
    "I",
    "F",
    "to-command",
    "use-compress-program",
    "checkpoint-action",
    "info-script",
    "new-volume-script",
    "rsh-command",
  ],
};

/** Settings of ssh that are commands. */
const connection: CodeOptions = {
  short: "bcDEeFIiJLlmOopQRSWwP",
  code: ["o"],
  prefix: /^\s*(?:Proxy|Local|KnownHosts|Remote)Command(?:\s*=\s*|\s+)/i,
};

const callback: CodeOptions = { short: "dnOsutCcAFGPSWX", code: ["C"] };

const programs: Readonly<Record<string, CodeOptions>> = {
  tar: archive,
  gtar: archive,
  bsdtar: archive,
  rsync: { short: "efTBM", long: ["rsh"], code: ["e", "rsh"] },
  ssh: connection,
  sftp: connection,
  scp: connection,
  man: { short: "PHCLmMSsepEr", long: ["pager", "html"], code: ["P", "H", "pager", "html"] },
  split: { short: "abClnt", long: ["filter"], code: ["filter"] },
  sort: { short: "koStT", long: ["compress-program"], code: ["compress-program"] },
  tcpdump: { short: "cCFGijrsTwWyzZ", code: ["z"] },
  fzf: { long: ["preview", "bind"], code: ["preview"] },
  mapfile: callback,
  readarray: callback,
  complete: callback,
};

/** The values that are code, `undefined` among them where one is left out. */
export function codeValues(name: string, args: readonly Word[]): readonly (Word | undefined)[] {
  const spec = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (spec === undefined) return [];
  const { values } = readOptions(args, spec);
  return spec.code.flatMap((option) => values.get(option) ?? []);
}

/** What of the value a shell reads; `undefined` where it is no code. */
export function codeIn(name: string, value: string): string | undefined {
  const spec = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (spec?.prefix === undefined) return value.replace(/^exec=/, "");
  return spec.prefix.test(value) ? value.replace(spec.prefix, "") : undefined;
}
