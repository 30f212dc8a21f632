/** Puts each id once, also when it comes a second time while its first put is under way. */

import { abortable } from "../lib/abort.ts";

/** `put` resolves to whether it put. */
export type Once = (id: string, signal: AbortSignal, put: () => Promise<boolean>) => Promise<boolean>;

export function createOnce(isKnown: (id: string) => boolean): Once {
  /** Whoever comes second with an id has to wait for how the first put ends. */
  const putting = new Map<string, Promise<boolean>>();

  return async (id, signal, put) => {
    for (let before = putting.get(id); before !== undefined; before = putting.get(id)) {
      if (await abortable(before, signal)) return false;
    }
    if (isKnown(id)) return false;
    const attempt = put();
    putting.set(
      id,
      attempt.then(
        (isPut) => isPut,
        () => false,
      ),
    );
    try {
      return await attempt;
    } finally {
      putting.delete(id);
    }
  };
}
