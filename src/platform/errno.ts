/** Our own refusals in the shape in which the file system reports its own. */

/** For what we refuse ourselves, in the shape in which the system would have refused it. */
export function systemError(code: string, reason: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${reason}, "${path}"`), { code, path });
}
