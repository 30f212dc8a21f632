/** Chooses what of a session the model sees, and keeps to it: what is sent keeps its prefix, and providers their cache. */

import type { StoredMessage } from "../core/session.ts";
import { isWorthLeavingOut, withoutResult } from "../lib/left-out.ts";
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
  const { entries, metadata } = state;
  const lastUser = Math.max(
    0,
    entries.findLastIndex(({ message }) => message.role === "user"),
  );
  let { from = 0, results = 0 } = metadata.shown ?? {};
  let tokens = tokensOf(state);
  for (const { message, at, tokens: whole } of entries.slice(0, lastUser)) {
    if (tokens <= target) break;
    if (message.role !== "tool" || !isWorthLeavingOut(message.content)) continue;
    tokens -= whole - entryOf(withoutResult(message), at).tokens;
    results = at + 1;
  }
  for (const [index, entry] of entries.entries()) {
    if (entry.message.role === "user") from = entry.at;
    if (tokens <= target || index >= lastUser) break;
    tokens -= entry.tokens;
  }
  state.metadata = { ...metadata, shown: { from, results } };
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
