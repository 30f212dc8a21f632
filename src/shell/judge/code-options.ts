/** Options whose value is code for a shell: `tar -I`, `ssh -o ProxyCommand=`, `su -c`. */

import { type OptionSpec, readOptions } from "./options.ts";
import type { Word } from "./word.ts";

interface CodeOptions extends OptionSpec {
  /** Those of the options with a value that hold code, by letter or name. */
  readonly code: readonly string[];
  /** Of some of these: what stands before the code in the value; a value without it is none. */
  readonly prefixes?: Readonly<Record<string, RegExp>>;
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
  prefixes: { o: /^\s*(?:Proxy|Local|KnownHosts|Remote)Command(?:\s*=\s*|\s+)/i },
};

/** Of the programs that copy by way of ssh: the program in its place, and what serves files at the other end. */
const copy: CodeOptions = { ...connection, short: "bcDFiJloPSX", code: ["o", "S", "D"] };

const callback: CodeOptions = { short: "dnOsutCcAFGPSWX", code: ["C"] };

const programs: Readonly<Record<string, CodeOptions>> = {
  tar: archive,
  bsdtar: archive,
  rsync: { short: "efTBM", long: ["rsh"], code: ["e", "rsh"] },
  ssh: connection,
  sftp: copy,
  scp: copy,
  man: { short: "PHCLmMSsepEr", long: ["pager", "html"], code: ["P", "H", "pager", "html"] },
  split: { short: "abClnt", long: ["filter"], code: ["filter"] },
  sort: { short: "koStT", long: ["compress-program"], code: ["compress-program"] },
  tcpdump: { short: "cCFGijrsTwWyzZ", code: ["z"] },
  fzf: { long: ["preview", "bind"], code: ["preview"] },
  mapfile: callback,
  readarray: callback,
  complete: callback,
};

/** The value of an option that holds code. */
export interface CodeValue {
  /** `undefined` where it is left out. */
  readonly word: Word | undefined;
  /** What of its text a shell reads; `undefined` where it is no code. */
  codeIn(text: string): string | undefined;
}

export function codeValues(name: string, args: readonly Word[]): readonly CodeValue[] {
  const spec = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (spec === undefined) return [];
  const { values } = readOptions(args, spec);
  return spec.code.flatMap((option) => {
    const prefix = spec.prefixes?.[option] ?? /^(?:exec=)?/;
    const codeIn = (text: string) => (prefix.test(text) ? text.replace(prefix, "") : undefined);
    return (values.get(option) ?? []).map((word) => ({ word, codeIn }));
  });
}
