/** Chooses where the part of a session that the model sees begins. */

import type { StoredMessage } from "../core/session.ts";
import { createTranscript, type Transcript } from "./repair.ts";
import type { Entry, SessionState } from "./state.ts";

/** A window that was asked for, kept up with what is appended. */
interface View {
  /** The first line it holds, and the last. */
  readonly first: Entry | undefined;
  last: Entry | undefined;
  /** The least that its lines take. */
  leastTokens: number;
  /** What it was chosen for. */
  readonly budget: number;
  readonly transcript: Transcript;
}

const views = new WeakMap<SessionState, View>();

/** A window that could be so much larger was chosen for another model. */
const MUCH_LARGER = 1.5;

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
 * A token is about 4 bytes, so this is an eighth to a quarter of the budget. A power of two, because the
 * budget changes a little whenever it is learnt how the model counts, and the starts must not.
 */
function strideFor(tokens: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(1, tokens)));
}

/**
 * The newest part of at most `tokens`, repaired, given that results of tools may be left out of it: whoever
 * sends it does that before it gives up a turn. The last turn is always in it, whatever its size. It
 * begins where the one before began, as long as that fits.
 */
export function windowOf(state: SessionState, tokens: number): readonly StoredMessage[] {
  const known = extended(state);
  const isStill = known && known.leastTokens <= tokens && tokens <= known.budget * MUCH_LARGER;
  return (isStill ? known : chosen(state, tokens)).transcript.lines();
}

/** The view that was chosen before, with what was appended since, if its lines are still there. */
function extended(state: SessionState): View | undefined {
  const { entries } = state;
  const view = views.get(state);
  if (view?.first === undefined || view.last === undefined) return undefined;
  const from = entries.lastIndexOf(view.last);
  const isWhole = from >= 0 && entries.includes(view.first);
  if (!isWhole) return undefined;
  for (const entry of entries.slice(from + 1)) add(view, entry);
  return view;
}

function add(view: View, entry: Entry): void {
  view.transcript.add(entry.message);
  view.leastTokens += entry.leastTokens;
  view.last = entry;
}

function chosen(state: SessionState, tokens: number): View {
  const { entries } = state;
  let before = 0;
  let counted = 0;
  const fitting = starts(entries, strideFor(tokens), state.complete).find((index) => {
    for (; counted < index; counted++) before += entries[counted]?.leastTokens ?? 0;
    return state.leastTokens - before <= tokens;
  });
  const lastUser = entries.findLastIndex((entry) => entry.message.role === "user");
  const start = fitting ?? Math.max(0, lastUser);
  const view: View = {
    first: entries[start],
    last: undefined,
    leastTokens: 0,
    budget: tokens,
    transcript: createTranscript(),
  };
  for (const entry of entries.slice(start)) add(view, entry);
  views.set(state, view);
  return view;
}
