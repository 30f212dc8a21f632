/** What of an archiver's words it only reads: the members of an archive that it makes or lists. */

import { names } from "./names.ts";
import { readOptions } from "./options.ts";
import { staticText, type Word } from "./word.ts";

/** Options that neither delete the members nor name another file; with any other nothing is taken for read. */
const tarOptions = {
  letters: names("c r u t v z j J a h p P f C"),
  long: names(
    "create append update list verbose gzip bzip2 xz zstd auto-compress dereference file directory exclude",
    "exclude-vcs numeric-owner owner group mtime sort transform",
  ),
  withValue: {
    short: "fC",
    long: ["file", "directory", "exclude", "owner", "group", "mtime", "sort", "transform"],
  },
};
const zipOptions = {
  letters: names("r q j y v X D 0 1 2 3 4 5 6 7 8 9"),
  long: names("recurse-paths quiet junk-paths symlinks verbose"),
};

export function readMembers(name: string, args: readonly Word[]): ReadonlySet<Word> {
  if (name === "tar" || name === "bsdtar") return new Set(tarMembers(args));
  if (name !== "zip") return new Set();
  const { letters, names: long, operands, unclear } = readOptions(args);
  const isPlain = [...letters].every((one) => zipOptions.letters.has(one)) && unclear.length === 0;
  return new Set(isPlain && long.every((one) => zipOptions.long.has(one)) ? operands.slice(1) : []);
}

function tarMembers(args: readonly Word[]): readonly Word[] {
  const {
    letters,
    names: long,
    operands,
    unclear,
  } = readOptions(args, { ...tarOptions.withValue, exact: true });
  // `tar czf a.tgz x`: letters without a dash, and the archive behind them.
  const [first] = args;
  const bundle = /^[a-zA-Z]+$/.exec(staticText(first) ?? "")?.[0] ?? "";
  const given = [...letters, ...bundle];
  if (unclear.length > 0 || bundle.includes("C")) return [];
  if (!given.every((one) => tarOptions.letters.has(one)) || !long.every((one) => tarOptions.long.has(one)))
    return [];
  const isReader =
    given.some((one) => "crut".includes(one)) ||
    long.some((one) => ["create", "append", "update", "list"].includes(one));
  if (!isReader) return [];
  return bundle === "" ? operands : operands.slice(bundle.includes("f") ? 2 : 1);
}
