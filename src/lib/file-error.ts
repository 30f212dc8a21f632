/** What the system's refusals mean, in words for whoever named the path. */

import { UserError } from "../core/errors.ts";
import { errorCode } from "./error-code.ts";
import { head } from "./text.ts";

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EBUSY: "it is in use",
  EDQUOT: "the disk quota is used up",
  EEXIST: "something of that name is there already",
  EINVAL: "it is not a regular file",
  EIO: "the disk failed",
  EISDIR: "it is a folder",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "a name in it is too long",
  ENOENT: "there is nothing there",
  ENOSPC: "the disk is full",
  ENOTDIR: "it goes through something that is not a folder",
  EPERM: "the system does not permit it",
  EROFS: "the file system is read-only",
  ESTALE: "the path was changed meanwhile, and nothing was done; try again",
  ETXTBSY: "it is a program that is running",
};

/** The value in quotes on one line, short, with whatever could hide in it spelled out. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 200 ? `${head(value, 199)}…` : value);
}

/** A `UserError` for what the system refuses; any other error comes back as it was. */
function fileError(error: unknown, doing: string, path: string): unknown {
  const code = errorCode(error);
  if (code === undefined || !Object.hasOwn(reasons, code)) return error;
  return new UserError(`Cannot ${doing} ${quote(path)}: ${reasons[code]}`, { cause: error });
}

/** Runs `work`; what the system refuses in it becomes a `UserError`. */
export async function explained<T>(doing: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(error, doing, path);
  }
}
