/** Where paths really lead, also by way of folders that are made only when the command runs. */

import { errorCode } from "../../lib/error-code.ts";
import { dirname } from "../../lib/path.ts";

interface Resolver {
  /** `undefined` where the system refuses, for which a loop of links is the usual reason: it leads nowhere. */
  real(path: string): Promise<string | undefined>;
  /** Whether it is a folder that can be entered. */
  isOpen(path: string): Promise<boolean>;
}

/** `makesLinks`: the command makes links itself. */
export function createResolver(resolve: (path: string) => Promise<string>, makesLinks: boolean): Resolver {
  const known = new Map<string, Promise<string | undefined>>();
  const open = new Map<string, Promise<boolean>>();

  /**
   * A folder that is not there yet, and may be when the command runs, is taken for one, so that `new/..` is where
   * it is made. A link that `ln` makes could lead elsewhere. Of programs that unpack or copy links nothing is
   * seen here: what they make is known by what they do, and not by the text.
   */
  async function reach(path: string): Promise<string> {
    try {
      return await resolve(path);
    } catch (error) {
      const [, before, after = ""] = /^(.*?)\/\.\.(\/.*)?$/s.exec(path) ?? [];
      if (before === undefined || errorCode(error) !== "ENOENT" || makesLinks) throw error;
      return reach((await parentOf(before)) + after);
    }
  }

  async function parentOf(folder: string): Promise<string> {
    const path = await resolve(folder);
    try {
      return await resolve(`${path}/..`);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      return dirname(path);
    }
  }

  return {
    real: (path) =>
      // No path holds a NUL, which an address may hide.
      remembered(known, path, async () => (path.includes("\0") ? undefined : reach(path).catch(asUnknown))),
    isOpen: (path) =>
      remembered(open, path, async () => {
        // Asking for something in it takes what entering takes.
        const asked = await Promise.all([resolve(`${path}/..`), resolve(`${path}/.x`)]).catch(asUnknown);
        return asked !== undefined;
      }),
  };
}

function remembered<T>(answers: Map<string, Promise<T>>, path: string, ask: () => Promise<T>): Promise<T> {
  const answer = answers.get(path) ?? ask();
  answers.set(path, answer);
  return answer;
}

/** What the system refuses to tell is not known; everything else is a fault of ours. */
export function asUnknown(error: unknown): undefined {
  if (/^E[A-Z\d]+$/.test(errorCode(error) ?? "")) return undefined;
  throw error;
}
