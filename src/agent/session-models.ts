/** Which model answers in a session: the one that was chosen there with /model, or the configured one. */

import type { ModelChoice } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Log } from "../core/platform.ts";
import type { Session } from "../core/session.ts";

/** The key of a session's metadata. */
const CHOSEN = "model";

/** Sessions whose model is remembered at once, for `/status`. */
const MOST = 1_000;

export interface SessionModels {
  /** Who answers where nothing else was chosen. */
  readonly standard: ModelChoice;
  /** The names of the presets. */
  readonly presets: readonly string[];
  of(session: Session): Promise<ModelChoice>;
  /** What `of` said last; `undefined` when nobody has asked for that session since the start, or for long. */
  lastOf(sessionKey: string): ModelChoice | undefined;
  /** Chooses by the name of a preset or of a model, for good; without one, the configured model again. Rejects with a `UserError`. */
  choose(session: Session, name: string | undefined): Promise<ModelChoice>;
  /** What of a session's metadata goes on when it begins afresh: a choice is for the chat, not for what was said. */
  kept(session: Session): JsonObject;
}

export interface SessionModelsOptions {
  readonly standard: ModelChoice;
  /** It was asked for by hand: what a session chose before this start does not count. */
  readonly isWanted?: boolean;
  readonly presets: readonly string[];
  /** Throws a `UserError` for what cannot be used. */
  readonly find: (name: string) => Promise<ModelChoice>;
  readonly log: Log;
}

export function createSessionModels({
  standard,
  isWanted = false,
  presets,
  find,
  log,
}: SessionModelsOptions): SessionModels {
  const last = new Map<string, ModelChoice>();
  /** Sessions that have chosen since the start, as long as they are remembered. */
  const haveChosen = new Set<string>();

  function remember(key: string, choice: ModelChoice): ModelChoice {
    last.delete(key);
    last.set(key, choice);
    for (const oldest of last.keys()) {
      if (last.size <= MOST) break;
      last.delete(oldest);
      haveChosen.delete(oldest);
    }
    return choice;
  }

  async function chosenIn({ key, metadata }: Session): Promise<ModelChoice> {
    const name = metadata[CHOSEN];
    if (typeof name !== "string" || (isWanted && !haveChosen.has(key))) return standard;
    try {
      return await find(name);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      // A preset may have gone since; an answer by another model is better than none.
      log.warn("The model chosen with /model cannot be used", { session: key, name, reason: error.message });
      return standard;
    }
  }

  return {
    standard,
    presets,
    of: async (session) => remember(session.key, await chosenIn(session)),
    lastOf: (sessionKey) => last.get(sessionKey),
    async choose(session, name) {
      const choice = name === undefined ? standard : await find(name);
      const { [CHOSEN]: before, ...others } = session.metadata;
      if (before !== name) {
        await session.setMetadata(name === undefined ? others : { ...others, [CHOSEN]: name });
      }
      if (isWanted) haveChosen.add(session.key);
      return remember(session.key, choice);
    },
    kept({ metadata }) {
      const name = metadata[CHOSEN];
      return typeof name === "string" ? { [CHOSEN]: name } : {};
    },
  };
}
