/** Long polling: one poll per token at a time, and an offset that moves only over what is safe. */

import { createHash } from "node:crypto";
import type { Update } from "grammy/types";
import { SendError } from "../../core/channel.ts";
import type { Clock, Log } from "../../core/platform.ts";
import { abortable } from "../../lib/abort.ts";
import type { BotApi } from "./bot-api.ts";
import type { Intake } from "./intake.ts";
import { createBackoff, isWorthRepeating } from "./persist.ts";
import { isRefusal } from "./refusal.ts";
import { parseUpdate, WANTED } from "./update.ts";

/** Asked again so soon, while something is under way, for what else there is. */
const RECHECK_MS = 600;
/** How much longer than Telegram waits we wait for it. */
const GRACE_MS = 15_000;
const MOST_UPDATES = 100;

/** The polls of this process, by a digest of their token. */
const polls = new Map<string, Promise<void>>();

/** Runs `poll` when no other poll of the token runs. */
export async function aloneWith(
  token: string,
  signal: AbortSignal,
  poll: () => Promise<void>,
): Promise<void> {
  const key = createHash("sha256").update(token).digest("hex");
  for (let other = polls.get(key); other; other = polls.get(key)) await abortable(other, signal);
  const running = poll();
  const end = running
    .catch(() => {})
    .finally(() => {
      if (polls.get(key) === end) polls.delete(key);
    });
  polls.set(key, end);
  await running;
}

export interface PollingOptions {
  readonly api: BotApi;
  readonly intake: Pick<Intake, "take">;
  readonly clock: Clock;
  readonly log: Log;
  /** Seconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Telegram answered. */
  readonly onHeard: () => void;
  readonly onProblem: (problem: Error) => void;
}

/** Goes on until `signal` aborts, then resolves; its request has ended then. Rejects when going on is of no use. */
export async function poll(options: PollingOptions): Promise<void> {
  const { api, intake, clock, log, timeout, signal, onHeard, onProblem } = options;
  const backoff = createBackoff(clock);
  /** What became of updates that Telegram does not know yet to be safe. */
  const taken = new Map<number, "running" | "safe">();
  const running = new Set<Promise<void>>();
  /** Why the last of them that has to come again has to. */
  let failure: unknown;
  let offset: number | undefined;
  let mayDeleteWebhook = true;
  let isTroubled = false;

  /** Resolves to whatever it says, which is not always what it should. */
  async function ask(): Promise<unknown> {
    // Behind trouble the answer tells that it is over, and is wanted at once.
    const seconds = taken.size > 0 || isTroubled ? 0 : timeout;
    return api.call(
      (raw, limited) =>
        raw.getUpdates(
          {
            limit: MOST_UPDATES,
            timeout: seconds,
            allowed_updates: WANTED,
            ...(offset === undefined ? {} : { offset }),
          },
          limited,
        ),
      signal,
      seconds * 1_000 + GRACE_MS,
    );
  }

  function begin(update: Update): void {
    const id = update.update_id;
    if (taken.has(id)) return;
    taken.set(id, "running");
    const work: Promise<void> = intake
      .take(update)
      .then(
        () => void taken.set(id, "safe"),
        (error: unknown) => {
          taken.delete(id);
          failure = error;
        },
      )
      .finally(() => running.delete(work));
    running.add(work);
  }

  /** Until all is done, or it is time to look for more. */
  async function work(): Promise<void> {
    const wake = new AbortController();
    const limit = AbortSignal.any([signal, wake.signal]);
    const pause = clock.sleep(RECHECK_MS, limit).catch(() => {});
    await Promise.race([pause, Promise.all(running)]);
    wake.abort();
  }

  /** Over all that is safe, up to the first that is not. */
  function move(updates: readonly Update[]): void {
    for (const { update_id: id } of updates.toSorted((a, b) => a.update_id - b.update_id)) {
      if (taken.get(id) !== "safe") return;
      taken.delete(id);
      offset = id + 1;
    }
  }

  /** Somebody else confirmed what is not offered any more: there is nothing left to tell of it. */
  function forget(updates: readonly Update[]): void {
    const offered = new Set(updates.map(({ update_id: id }) => id));
    for (const [id, state] of taken) if (state === "safe" && !offered.has(id)) taken.delete(id);
  }

  async function round(): Promise<void> {
    const answer = await ask();
    const items = Array.isArray(answer) ? answer : [answer];
    const updates = items.flatMap((item) => parseUpdate(item) ?? []);
    onHeard();
    mayDeleteWebhook = true;
    isTroubled = false;
    failure = items.length > updates.length ? new Error("Telegram sent what is no update") : undefined;
    forget(updates);
    updates.forEach(begin);
    if (running.size > 0) await work();
    move(updates);
    if (failure === undefined) return backoff.reset();
    // Telegram is well; what is not has a report of its own.
    log.warn("Could not take an update of Telegram yet", { error: failure });
    await backoff.wait(failure, signal);
  }

  async function recover(error: unknown): Promise<void> {
    isTroubled = true;
    if (isRefusal(error, /webhook/i) && error.code === 409 && mayDeleteWebhook) {
      // Somebody set one since; it would come back for ever if we fought over it without a wait.
      mayDeleteWebhook = false;
      await deleteWebhook(api, signal);
      return;
    }
    onProblem(explained(error));
    await backoff.wait(error, signal);
  }

  while (!signal.aborted) {
    try {
      await round();
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof SendError && !isWorthRepeating(error)) throw error;
      await recover(error).catch((second: unknown) => {
        if (!signal.aborted && !isWorthRepeating(second)) throw second;
      });
    }
  }
  await Promise.allSettled(running);
}

/** Without losing what waits there. */
export async function deleteWebhook(api: BotApi, signal: AbortSignal): Promise<void> {
  await api.call((raw, limited) => raw.deleteWebhook({ drop_pending_updates: false }, limited), signal);
}

function explained(error: unknown): Error {
  if (isRefusal(error, /terminated by other getUpdates/i)) {
    return new Error("Another program receives with the same token; stop it, or give it a bot of its own");
  }
  return error instanceof Error ? error : new Error(String(error));
}
