/** The name by which a simple command is judged. */

import { names } from "./names.ts";
import type { SimpleCommand } from "./parsed.ts";
import { staticText } from "./word.ts";

/** What GNU's programs are called beside those of another system, but for the `g` before it. */
const gnu = names(
  "[ awk base32 base64 basename basenc cat chcon chgrp chmod chown chroot cksum comm cp csplit cut date dd df dir dirname du",
  "echo egrep env expand expr factor false fgrep find fmt fold grep groups head hostid id install join kill link ln logname",
  "ls make md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd",
  "readlink realpath rm rmdir runcon sed seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split",
  "stat stdbuf strings stty sum sync tac tail tar tee test time timeout touch tr true truncate tsort tty uname unexpand",
  "uniq unlink updatedb uptime users vdir wc who whoami xargs yes",
);

/**
 * Without folder, `.exe`, capitals, which some systems do not tell apart, and the `g` of GNU's programs.
 * `undefined` where it is not known.
 */
export function programName({ words }: Pick<SimpleCommand, "words">): string | undefined {
  const [first] = words;
  if (first === undefined || first.glob) return undefined;
  const text = staticText(first);
  if (text === undefined) return undefined;
  const file = text.slice(Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\")) + 1);
  const name = file.replace(/\.exe$/i, "").toLowerCase();
  return name.startsWith("g") && gnu.has(name.slice(1)) ? name.slice(1) : name;
}

/** `python3.12` is Python. */
export function withoutVersion(name: string): string {
  return name.replace(/[\d.]+$/, "");
}
