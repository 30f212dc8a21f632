/** Sends one part, and does what the platform's answer asks for, until it is sent or cannot be. */

import { SendError } from "../../core/channel.ts";
import type { FinalMessage } from "../../core/messages.ts";
import type { Clock, Log } from "../../core/platform.ts";
import { lazy } from "../../lib/lazy.ts";
import { createPlainText } from "../../lib/markdown/plain-text.ts";
import { problemOf } from "../../lib/phrases.ts";
import { measures } from "../../lib/split/measures.ts";
import type { Gate, Pass } from "./gate.ts";
import { type Draft, partOf } from "./parts.ts";
import type { ChannelOf, Target } from "./target.ts";

const LONGEST_WAIT_MS = 3_600_000;
const LONGEST_PAUSE_MS = 60_000;
const SECOND = 1_000;
/** Of a platform that is out of order for one message, and not for others in between. */
const MOST_FAILURES_ALONE = 6;

/** The platform will not take it, or did not in all the attempts that there are. */
export class Undeliverable extends Error {
  override readonly name = "Undeliverable";
}

interface PartToSend {
  readonly delivery: { readonly message: FinalMessage; readonly isOver: boolean };
  readonly index: number;
  readonly draft: Draft;
  /** The platform's message that shall become this part. */
  readonly editing: string | undefined;
}

export interface Ready {
  readonly target: Target;
  readonly pass: Pass;
}

export interface Sender {
  /** Waits until the channel runs and its platform can be reached. Rejects with the signal's reason. */
  ready(channel: string, signal: AbortSignal): Promise<Ready>;
  /**
   * Resolves to the platform's name for it, or to `undefined` when the message is not to be sent any more.
   * Rejects with `Undeliverable` or the signal's reason. Whoever waited already passes that on.
   */
  send(part: PartToSend, signal: AbortSignal, waited?: Ready): Promise<string | undefined>;
}

export interface SenderOptions {
  readonly channelOf: ChannelOf;
  readonly gateOf: (channel: string) => Gate;
  readonly clock: Pick<Clock, "sleep">;
  readonly log: Log;
}

/** What is different at the next attempt. */
interface Attempt {
  editing: string | undefined;
  isPlain: boolean;
  quotes: boolean;
  retries: number;
  /** How often it was out of order for this one alone. */
  failuresAlone: number;
}

function kindOf(error: unknown): SendError["kind"] {
  return error instanceof SendError ? error.kind : "temporary";
}

export function createSender({ channelOf, gateOf, clock, log }: SenderOptions): Sender {
  const plainText = lazy(createPlainText);

  async function ready(channel: string, signal: AbortSignal) {
    for (;;) {
      const pass = await gateOf(channel).pass(signal);
      const target = channelOf(channel);
      if (target !== undefined) return { target, pass };
      pass.hold();
    }
  }

  async function plainOf(draft: Draft, { capabilities: { limit } }: Target): Promise<string | undefined> {
    if (draft.kind === "media") return undefined;
    const { markdown } = draft.piece;
    const text = (await plainText())(markdown);
    return limit === undefined || measures[limit.unit](text) <= limit.size ? text : markdown;
  }

  async function attemptOnce(
    { delivery: { message }, index, draft }: PartToSend,
    { editing, isPlain, quotes }: Attempt,
    target: Target,
    signal: AbortSignal,
  ): Promise<string> {
    const { channel } = target;
    const plain = isPlain ? await plainOf(draft, target) : undefined;
    const part = partOf({
      message,
      index,
      draft,
      ...(plain === undefined ? {} : { plainText: plain }),
      ...(quotes && index === 0 && message.replyTo !== undefined ? { replyTo: message.replyTo } : {}),
    });
    if (editing === undefined || channel.edit === undefined) return channel.send(part, signal);
    await channel.edit(editing, part, signal);
    return editing;
  }

  /** Waits as long as it takes. Throws when there is nothing left to try. */
  async function prepareNext(
    error: unknown,
    part: PartToSend,
    attempt: Attempt,
    { maxRetries, isAlone, signal }: { maxRetries: number; isAlone: boolean; signal: AbortSignal },
  ): Promise<void> {
    const isEdit = attempt.editing !== undefined;
    const giveUp = () => new Undeliverable(problemOf(error), { cause: error });
    switch (kindOf(error)) {
      case "markup":
        if (attempt.isPlain || part.draft.kind === "media") throw giveUp();
        attempt.isPlain = true;
        return;
      case "gone":
      case "refused":
        // What cannot be changed any more is said again, and what cannot be quoted is said without that.
        if (isEdit) attempt.editing = undefined;
        else if (kindOf(error) === "gone" && attempt.quotes) attempt.quotes = false;
        else throw giveUp();
        return;
      case "slowDown": {
        const { retryAfterMs } = error as SendError;
        await clock.sleep(Math.min(retryAfterMs || SECOND, LONGEST_WAIT_MS), signal);
        return;
      }
      case "temporary":
        if (attempt.retries >= maxRetries) throw giveUp();
        await clock.sleep(Math.min(SECOND * 2 ** attempt.retries, LONGEST_PAUSE_MS), signal);
        attempt.retries++;
        return;
      case "down":
        if (!isAlone) return;
        if (attempt.failuresAlone >= MOST_FAILURES_ALONE) throw giveUp();
        await clock.sleep(SECOND * 2 ** attempt.failuresAlone, signal);
        attempt.failuresAlone++;
        return;
      case "unauthorized":
        return;
    }
  }

  function report(error: unknown, pass: Pass, isAlone: boolean): void {
    const kind = kindOf(error);
    if (isAlone) pass.giveBack();
    else if (kind === "down") pass.unreachable();
    else if (kind === "unauthorized") pass.hold();
    else pass.reached();
  }

  return {
    ready,

    async send(part, signal, waited) {
      const { delivery } = part;
      const { channel: name, id, replyTo } = delivery.message;
      const gate = gateOf(name);
      const attempt: Attempt = {
        editing: part.editing,
        isPlain: false,
        quotes: part.index === 0 && replyTo !== undefined,
        retries: 0,
        failuresAlone: 0,
      };
      /** Of the platform, when it was last out of order for this part. */
      let answersAtFailure = Number.POSITIVE_INFINITY;
      for (let first = waited; ; first = undefined) {
        const { target, pass } = first ?? (await ready(name, signal));
        if (delivery.isOver) {
          pass.giveBack();
          return undefined;
        }
        try {
          const sent = await attemptOnce(part, attempt, target, signal);
          pass.reached();
          return sent;
        } catch (error) {
          signal.throwIfAborted();
          const isDown = kindOf(error) === "down";
          const isAlone = isDown && gate.answers > answersAtFailure;
          if (isDown) answersAtFailure = gate.answers;
          report(error, pass, isAlone);
          log.warn(`Could not send to ${name}: ${problemOf(error)}`, { message: id, part: part.index });
          await prepareNext(error, part, attempt, {
            maxRetries: target.settings.maxRetries,
            isAlone,
            signal,
          });
        }
      }
    },
  };
}
