/** Whether a path lies in a folder. */

import { SEPARATOR } from "./path.ts";

/** Whole segments: `/ws-other` is not inside `/ws`. Both absolute and without `.` and `..`. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(SEPARATOR) ? folder : folder + SEPARATOR);
}
