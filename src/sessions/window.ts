/** Chooses where the part of a session that the model sees begins. */

import type { StoredMessage } from "../core/session.ts";
import { createTranscript, type Transcript } from "./repair.ts";
import type { Entry, SessionState } from "./state.ts";

/** A window that was asked for, kept up with what is appended. */
interface View {
  /** The first line it holds, and the last. */
  readonly first: Entry | undefined;
  last: Entry | undefined;
  readonly transcript: Transcript;
}

const views = new WeakMap<SessionState, View>();

/**
 * User lines at which a window may begin: the first of each stretch of `stride` bytes of the file. They
 * depend on the file alone, so the start moves once in many turns and not with each, and all processes
 * agree on it: what is sent keeps its prefix, and providers keep their cache.
 */
function starts(entries: readonly Entry[], stride: number, complete: boolean): number[] {
  const found: number[] = [];
  let previous: number | undefined;
  entries.forEach(({ message, at }, index) => {
    if (message.role !== "user") return;
    const stretch = Math.floor(at / stride);
    // The first user line that was read is the first of its stretch only if nothing lies before it.
    if (previous === undefined ? complete : stretch !== previous) found.push(index);
    previous = stretch;
  });
  return found;
}

/**
 * The newest part of at most `tokens`, repaired, given that results of tools may be left out of it: whoever
 * sends it does that before it gives up a turn. The last turn is always in it, whatever its size. A token
 * is about 4 bytes, so a stride of as many bytes as there are tokens is a quarter of the budget.
 */
export function windowOf(state: SessionState, tokens: number): readonly StoredMessage[] {
  const { entries } = state;
  let before = 0;
  let counted = 0;
  const fitting = starts(entries, Math.max(1, tokens), state.complete).find((index) => {
    for (; counted < index; counted++) before += entries[counted]?.leastTokens ?? 0;
    return state.leastTokens - before <= tokens;
  });
  const start =
    fitting ??
    Math.max(
      0,
      entries.findLastIndex((entry) => entry.message.role === "user"),
    );
  return viewFrom(state, start).transcript.lines();
}

/** The view that begins at `start`: the one before, as long as it begins there. */
function viewFrom(state: SessionState, start: number): View {
  const { entries } = state;
  const known = views.get(state);
  const from = known?.first === entries[start] && known?.last ? entries.lastIndexOf(known.last) : -1;
  const view =
    from >= 0 && known ? known : { first: entries[start], last: undefined, transcript: createTranscript() };
  for (const entry of entries.slice(from >= 0 ? from + 1 : start)) view.transcript.add(entry.message);
  view.last = entries.at(-1);
  views.set(state, view);
  return view;
}
