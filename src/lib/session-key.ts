/** Session keys as file names: reversible, the same on every file system, whatever the key holds. */

import { createHash } from "node:crypto";

// Upper case is encoded because some file systems fold it, `.` because a name must not hide or climb.
const plain = /[a-z0-9-]/;

// Windows keeps these names for devices, with any extension.
const reserved = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/** Leaves room for `.jsonl` and an archive's time stamp within the 255 bytes of most file systems. */
const LONGEST = 225;
const DIGEST = 40;

function encodeUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  return code < 0x80 ? `=${code.toString(16).padStart(2, "0")}` : `~${code.toString(16).padStart(4, "0")}`;
}

/**
 * The file name of a key, without extension: lower-case letters, digits and `-` stand for themselves,
 * other ASCII is `=xx` and every other UTF-16 code unit `~xxxx`. Distinct keys have distinct names. A
 * name that would be too long ends in a `.` and a digest instead, and only the file knows its key.
 */
export function encodeSessionKey(key: string): string {
  let name = "";
  for (let index = 0; index < key.length; index++) {
    const unit = key.charAt(index);
    name += plain.test(unit) ? unit : encodeUnit(unit);
  }
  if (reserved.test(name)) return encodeUnit(key.charAt(0)) + name.slice(1);
  if (name.length <= LONGEST) return name === "" ? "=" : name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGEST);
  return `${name.slice(0, LONGEST - DIGEST - 1)}.${digest}`;
}

/** The key of a name that `encodeSessionKey` made and that holds all of it; `undefined` for any other name. */
export function decodeSessionKey(name: string): string | undefined {
  const key = name.replace(/=([0-9a-f]{2})|~([0-9a-f]{4})|^=$/g, (_, ascii?: string, unit?: string) => {
    const code = ascii ?? unit;
    return code === undefined ? "" : String.fromCharCode(Number.parseInt(code, 16));
  });
  return encodeSessionKey(key) === name ? key : undefined;
}
