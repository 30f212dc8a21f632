/** System errors as the file system reports them: reading their `code`, and making our own of the same shape. */

/** `ENOENT`, `EACCES`, … of a system error; `undefined` for everything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** For what we refuse ourselves, in the shape in which the system would have refused it. */
export function systemError(code: string, reason: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${reason}, "${path}"`), { code, path });
}
