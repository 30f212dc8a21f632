/** Text of a reply as it arrives in pieces, passed on whole code points at a time. */

import type { ChatDelta } from "../../core/model.ts";
import { wellFormed } from "../../lib/text.ts";

export interface DeltaText {
  /** All that was passed on. */
  readonly text: string;
  add(piece: string): void;
  /** Passes on what was held back, because nothing comes behind it any more. */
  flush(): void;
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/** A pair that is cut between two pieces is passed on whole; half a pair becomes the replacement character. */
export function createDeltaText(kind: ChatDelta["kind"], onDelta: (delta: ChatDelta) => void): DeltaText {
  let whole = "";
  let held = "";
  function emit(text: string): void {
    whole += text;
    onDelta({ kind, text });
  }
  return {
    get text() {
      return whole;
    },
    add(piece) {
      if (piece === "") return;
      const text = held + piece;
      held = endsInHighSurrogate(text) ? text.slice(-1) : "";
      const ready = held === "" ? text : text.slice(0, -1);
      if (ready !== "") emit(wellFormed(ready));
    },
    flush() {
      if (held !== "") emit(wellFormed(held));
      held = "";
    },
  };
}
