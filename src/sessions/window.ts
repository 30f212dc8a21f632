/** Chooses what of a session the model sees, and keeps to it: what is sent keeps its prefix, and providers their cache. */

import type { StoredMessage } from "../core/session.ts";
import { isResultWorthLeavingOut, withoutResult } from "../lib/left-out.ts";
import { beginsTurn } from "../lib/transcript.ts";
import type { Shown } from "./lines.ts";
import { createTranscript, type Transcript } from "./repair.ts";
import { applyShown, type Entry, entryOf, type SessionState, tokensOf } from "./state.ts";

/** When something must go, more than needed goes, so that it need not happen again soon. */
const TARGET = 0.7;

/** The transcript of what is shown, kept up with what is appended. */
interface View {
  readonly shown: Shown | undefined;
  readonly first: Entry | undefined;
  last: Entry | undefined;
  readonly transcript: Transcript;
}

const views = new WeakMap<SessionState, View>();

/**
 * What is shown, repaired. When it takes more than `tokens`, long results of tools are left out, the oldest
 * first, and then the oldest turns; the last turn stays, whatever its size. What was decided is part of the
 * session: it goes into the file with the next line, every process keeps to it, and it is not taken back.
 */
export function windowOf(state: SessionState, tokens: number): readonly StoredMessage[] {
  applyShown(state);
  if (tokensOf(state) > tokens) narrow(state, tokens * TARGET);
  return viewOf(state).transcript.lines();
}

function narrow(state: SessionState, target: number): void {
  leaveOutResults(state, target);
  if (tokensOf(state) > target) dropTurns(state, target);
}

/** Of the turns before the last one. */
function leaveOutResults(state: SessionState, target: number): void {
  const rest = { tokens: state.tokens, images: state.images };
  let results = 0;
  for (const { message, at, tokens, images } of state.entries.slice(0, lastTurnOf(state))) {
    if (tokensOf(rest) <= target) break;
    if (message.role !== "tool" || !isResultWorthLeavingOut(message)) continue;
    rest.tokens -= tokens - entryOf(withoutResult(message), at).tokens;
    rest.images -= images;
    results = at + 1;
  }
  const { from = 0, results: before = 0 } = state.metadata.shown ?? {};
  if (results > before) show(state, { from, results });
}

function dropTurns(state: SessionState, target: number): void {
  const rest = { tokens: state.tokens, images: state.images };
  const lastTurn = lastTurnOf(state);
  let from = state.entries[0]?.at ?? 0;
  for (const [index, entry] of state.entries.entries()) {
    if (beginsTurn(entry.message)) {
      from = entry.at;
      if (tokensOf(rest) <= target || index >= lastTurn) break;
    }
    rest.tokens -= entry.tokens;
    rest.images -= entry.images;
  }
  show(state, { from, results: state.metadata.shown?.results ?? 0 });
}

/** Where the newest whole turns begin that have at most so many messages together, or else the newest one. */
export function recentStart(state: SessionState, messages: number): number {
  const { entries, bytes } = state;
  const from = entries.findIndex(
    ({ message }, index) => beginsTurn(message) && entries.length - index <= messages,
  );
  return entries[from >= 0 ? from : lastTurnOf(state)]?.at ?? bytes;
}

function lastTurnOf({ entries }: SessionState): number {
  return Math.max(
    0,
    entries.findLastIndex(({ message }) => beginsTurn(message)),
  );
}

function show(state: SessionState, shown: Shown): void {
  state.metadata = { ...state.metadata, shown };
  state.isMetadataDue = true;
  applyShown(state);
}

function viewOf(state: SessionState): View {
  const { entries } = state;
  const known = views.get(state);
  const isStill = known?.shown === state.applied && known?.first === entries[0];
  const from = isStill && known?.last !== undefined ? entries.lastIndexOf(known.last) : -1;
  const view: View =
    from >= 0 && known
      ? known
      : { shown: state.applied, first: entries[0], last: undefined, transcript: createTranscript() };
  for (const entry of from >= 0 ? entries.slice(from + 1) : entries) {
    view.transcript.add(entry.message);
    view.last = entry;
  }
  views.set(state, view);
  return view;
}
