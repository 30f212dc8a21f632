/** Delivers a final message: part by part, each recorded before the next, and then done or failed. */

import type { Bus, OutboundDelivery } from "../../core/bus.ts";
import { type FinalMessage, finalIdFor } from "../../core/messages.ts";
import type { Clock, Log } from "../../core/platform.ts";
import { createBreather } from "../../lib/breather.ts";
import { problemOf } from "../../lib/phrases.ts";
import { type Draft, draftsOf } from "./parts.ts";
import { type Ready, type Sender, Undeliverable } from "./sender.ts";
import type { OpenStream } from "./streams.ts";
import type { Target, Undelivered } from "./target.ts";

export interface FinalDelivery extends OutboundDelivery {
  readonly message: FinalMessage;
}

export interface FinalsOptions {
  readonly bus: Pick<Bus, "openStream">;
  readonly sender: Sender;
  readonly clock: Pick<Clock, "sleep" | "giveWay">;
  readonly log: Log;
  readonly onUndeliverable: (undelivered: Undelivered) => void;
}

export interface Finals {
  /** `stream` is what is shown of its turn. Rejects only with the signal's reason: then it stays in the bus. */
  deliver(delivery: FinalDelivery, stream: OpenStream | undefined, signal: AbortSignal): Promise<void>;
}

/** One part of a message will not get through, and so the message will not. */
class PartFailed extends Error {
  override readonly name = "PartFailed";
  readonly sent: number;

  constructor(reason: string, sent: number, cause: unknown) {
    super(reason, { cause });
    this.sent = sent;
  }
}

const LONGEST_PAUSE_MS = 60_000;

export function isTurnsEnd({ id, turn, answers }: FinalMessage): boolean {
  return id === finalIdFor(turn) || answers.includes(turn);
}

export function createFinals({ bus, sender, clock, log, onUndeliverable }: FinalsOptions): Finals {
  const breather = createBreather(clock);

  /** What was sent must be known before anything else is, or it would be sent again after a restart. */
  async function written(record: () => Promise<void>, signal: AbortSignal): Promise<void> {
    for (let pause = 1_000; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await record();
        return;
      } catch (error) {
        log.error(`Could not record what was delivered: ${problemOf(error)}`);
        await clock.sleep(pause, signal);
      }
    }
  }

  /** Resolves when all parts are with the platform or nobody wants them any more, or rejects with `PartFailed`. */
  async function sendParts(
    delivery: FinalDelivery,
    stream: OpenStream | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { message, sent } = delivery;
    const isAnswer = message.outcome === "answer" && isTurnsEnd(message);
    if (!isAnswer) await stream?.finish(signal);
    let waited: Ready | undefined = await sender.ready(message.channel, signal);
    const { target, pass } = waited;
    let drafts: readonly Draft[] = [];
    try {
      drafts = await draftsOf(message, target, breather);
    } finally {
      if (drafts.length <= sent.length) pass.giveBack();
    }
    const isEdit = isAnswer && target.channel.edit !== undefined && drafts[0]?.kind === "text";
    for (const [index, draft] of [...drafts.entries()].slice(sent.length)) {
      signal.throwIfAborted();
      const editing = isEdit && index === 0 ? (stream?.messageId ?? bus.openStream(message.turn)) : undefined;
      try {
        const messageId = await sender.send({ delivery, index, draft, editing }, signal, waited);
        if (messageId === undefined) return;
        await written(() => delivery.part(messageId), signal);
      } catch (error) {
        throw error instanceof Undeliverable ? new PartFailed(error.message, index, error) : error;
      }
      waited = undefined;
    }
    await tellEnded(target, message);
  }

  async function tellEnded({ channel }: Target, message: FinalMessage): Promise<void> {
    try {
      await channel.ended?.(message);
    } catch (error) {
      log.error(`Could not end a turn in ${message.channel}: ${problemOf(error)}`, { message: message.id });
    }
  }

  async function deliver(
    delivery: FinalDelivery,
    stream: OpenStream | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { message } = delivery;
    try {
      await sendParts(delivery, stream, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (delivery.isOver) return;
      const reason = problemOf(error);
      const sent = error instanceof PartFailed ? error.sent : delivery.sent.length;
      await written(() => delivery.failed(reason), signal);
      log.error(`Could not deliver a message to ${message.channel}: ${reason}`, { message: message.id });
      onUndeliverable({ message, reason, sent });
      return;
    }
    await written(() => delivery.done(), signal);
  }

  return { deliver };
}
