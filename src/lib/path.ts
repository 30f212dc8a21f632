/** Paths. The names of @std/path over `node:path`: all path work goes through here, so a swap is one line. */

import { sep } from "node:path";

export {
  basename,
  dirname,
  isAbsolute,
  join,
  parse,
  relative,
  resolve,
  sep as SEPARATOR,
} from "node:path";

/** What stands between two segments: Windows takes both slashes. */
export const SEPARATOR_PATTERN = sep === "\\" ? /[\\/]+/ : /\/+/;
