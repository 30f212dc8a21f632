/** Takes secrets out of a text that comes in pieces, also where one is cut over several. */

import { MASKED, maskSecrets, type SecretSpellings } from "./mask.ts";

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
    const length = text.length - at;
    for (const form of byFirst.get(text.charCodeAt(at)) ?? []) {
      // Most differ in the second character, and the end is compared only when it does not.
      if (length > 1 && form.charCodeAt(1) !== text.charCodeAt(at + 1)) continue;
      if (form.length > length && form.startsWith(text.slice(at))) return at;
    }
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
    const spellings = current();
    if (spellings === undefined) {
      held = "";
      return text;
    }
    const { pattern } = spellings;
    let shown = "";
    let from = 0;
    let open = openEnd(text, from, spellings);
    pattern.lastIndex = 0;
    for (let found = pattern.exec(text); found !== null && found.index < open; found = pattern.exec(text)) {
      shown += text.slice(from, found.index) + MASKED;
      from = pattern.lastIndex;
      // What is masked cannot be the beginning of another secret.
      if (open < from) open = openEnd(text, from, spellings);
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
