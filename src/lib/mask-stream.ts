/** Takes secrets out of a text that comes in pieces, also where one is cut over several. */

import { findSecret, MASKED, maskSecrets, reach, type SecretSpellings } from "./mask.ts";

export interface MaskStream {
  /** Takes the next piece. Returns what can be shown: all but an end with which a secret could begin. */
  push(piece: string): string;
  /** Returns what was held back, because nothing follows it, and begins anew. */
  end(): string;
}

/**
 * Where in `text`, not before `from`, the end begins that more text could turn into a secret; its length
 * when there is none. A secret that has come whole counts too, as long as a longer one can begin like it.
 */
function openEnd(text: string, from: number, { byFirst, longest }: SecretSpellings): number {
  for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
    const spellings = byFirst.get(text.charCodeAt(at)) ?? [];
    if (spellings.some((spelling) => reach(text, at, spelling) === "open")) return at;
  }
  return text.length;
}

/**
 * However a text is cut, the pieces come out as the whole text masked at once. `current` is asked at each
 * piece, because secrets become known while the program runs.
 */
export function createMaskStream(current: () => SecretSpellings | undefined): MaskStream {
  let held = "";

  function push(piece: string): string {
    const text = held + piece;
    const known = current();
    if (known === undefined) {
      held = "";
      return text;
    }
    let shown = "";
    let from = 0;
    let open = openEnd(text, from, known);
    let found = findSecret(text, from, known);
    while (found !== undefined && found.index < open) {
      shown += text.slice(from, found.index) + MASKED;
      from = found.end;
      // What is masked cannot be the beginning of another secret.
      if (open < from) open = openEnd(text, from, known);
      found = findSecret(text, from, known);
    }
    held = text.slice(open);
    return shown + text.slice(from, open);
  }

  return {
    push,
    end() {
      const rest = maskSecrets(held, current());
      held = "";
      return rest;
    },
  };
}
