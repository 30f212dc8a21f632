/** Takes what the agent says from the bus to the channels: in order in each chat, no chat waiting for another. */

import type { Bus, OutboundDelivery } from "../../core/bus.ts";
import {
  type InboundId,
  NOWHERE,
  type OutboundMessage,
  type StreamEndMessage,
  type TransientMessage,
} from "../../core/messages.ts";
import type { Clock, Log } from "../../core/platform.ts";
import { abortable } from "../../lib/abort.ts";
import { createLanes } from "../../lib/lanes.ts";
import { problemOf } from "../../lib/phrases.ts";
import { createThoughts, isWanted, sendAside } from "./asides.ts";
import { createFinals, type FinalDelivery, isTurnsEnd } from "./finals.ts";
import { createGate, type Gate } from "./gate.ts";
import { createSender } from "./sender.ts";
import { createStreams } from "./streams.ts";
import type { ChannelOf, Target, Undelivered } from "./target.ts";

/** Turns whose end is remembered, so that nothing is said about them afterwards. */
const MOST_ENDED = 1_000;
/** Of one chat, waiting to be shown or told. What comes then is dropped. */
const MOST_SHOWN = 1_000;
const MOST_TOLD = 8;

export interface DeliveryOptions {
  readonly bus: Bus;
  readonly channelOf: ChannelOf;
  readonly clock: Clock;
  readonly log: Log;
  /** Told after the bus knows. Must not throw. */
  readonly onUndeliverable: (undelivered: Undelivered) => void;
}

export interface Delivery {
  /** Takes from the bus until `signal` aborts; then resolves when what is being sent has come to its end. Once only. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when nothing is left to send; rejects with the signal's reason. */
  flush(signal: AbortSignal): Promise<void>;
  /** The channel was started or stopped, or works again: what waits for it is tried. */
  channelChanged(name: string): void;
}

export function createDelivery({ bus, channelOf, clock, log, onUndeliverable }: DeliveryOptions): Delivery {
  const gates = new Map<string, Gate>();
  const lanes = createLanes({ limit: Number.POSITIVE_INFINITY });
  /** Tasks in each lane. */
  const loads = new Map<string, number>();
  const ended = new Set<InboundId>();
  const thoughts = createThoughts();
  const sender = createSender({ channelOf, gateOf, clock, log });
  const finals = createFinals({ bus, sender, clock, log, onUndeliverable });
  const streams = createStreams({ bus, clock, log, targetOf, enqueue });
  const end = new AbortController();

  function gateOf(name: string): Gate {
    const gate = gates.get(name) ?? createGate(clock);
    gates.set(name, gate);
    return gate;
  }

  /** `undefined` unless it can be sent to at once. */
  function targetOf(name: string): Target | undefined {
    return gateOf(name).isOpen ? channelOf(name) : undefined;
  }

  function laneOf({ channel, chatId }: OutboundMessage): string {
    return JSON.stringify([channel, chatId]);
  }

  function enqueue(message: OutboundMessage, task: (signal: AbortSignal) => Promise<void>): void {
    const lane = laneOf(message);
    loads.set(lane, (loads.get(lane) ?? 0) + 1);
    const work = lanes.run(lane, async () => {
      if (!end.signal.aborted) await task(end.signal);
    });
    const leave = () => {
      const left = (loads.get(lane) ?? 1) - 1;
      if (left > 0) loads.set(lane, left);
      else loads.delete(lane);
    };
    work.then(leave, (error: unknown) => {
      leave();
      // What was called off stays in the bus.
      if (end.signal.aborted) return;
      log.error(`Could not deliver: ${problemOf(error)}`, { message: message.id });
    });
  }

  function takeFinal(delivery: FinalDelivery): void {
    const { message } = delivery;
    const isEnd = isTurnsEnd(message);
    tellThoughts(message);
    const stream = isEnd ? streams.take(message) : streams.peek(message);
    if (isEnd) {
      ended.add(message.turn);
      const [oldest] = ended;
      if (ended.size > MOST_ENDED && oldest !== undefined) ended.delete(oldest);
    }
    enqueue(message, (signal) => finals.deliver(delivery, stream, signal));
  }

  /** Not when the chat is behind: then it would come too late to say anything. */
  function tell(message: TransientMessage): void {
    if ((loads.get(laneOf(message)) ?? 0) >= MOST_TOLD) return;
    enqueue(message, async (signal) => {
      const target = targetOf(message.channel);
      if (target !== undefined) await sendAside(message, target, log, signal);
    });
  }

  function tellThoughts({ turn }: OutboundMessage): void {
    const thought = thoughts.take(turn);
    if (thought !== undefined) tell(thought);
  }

  /** Resolves when it was shown, or dropped. */
  function show(message: TransientMessage | StreamEndMessage): Promise<void> {
    if ((loads.get(laneOf(message)) ?? 0) >= MOST_SHOWN) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    enqueue(message, async (signal) => {
      try {
        await targetOf(message.channel)?.channel.show?.(message, signal);
      } catch (error) {
        log.debug(`Could not show what a turn does: ${problemOf(error)}`, { channel: message.channel });
      } finally {
        resolve();
      }
    });
    return promise;
  }

  /** Returns what has to end before the message is done, if that is not at once. */
  function takeTransient(message: TransientMessage | StreamEndMessage): Promise<void> | undefined {
    const target = targetOf(message.channel);
    if (target === undefined || ended.has(message.turn)) return undefined;
    const { channel, capabilities, settings } = target;
    if (message.kind !== "streamEnd" && !isWanted(message, settings)) return undefined;
    if (capabilities.deltas) return show(message);
    if (message.kind === "reasoning") {
      thoughts.add(message);
      return undefined;
    }
    tellThoughts(message);
    const isStreaming = channel.streaming !== undefined && channel.edit !== undefined;
    if (message.kind === "streamEnd") {
      if (message.resuming) streams.endSegment(message.turn);
    } else if (message.kind !== "delta") tell(message);
    else if (isStreaming) streams.add(message);
    return undefined;
  }

  function take(delivery: OutboundDelivery): void {
    const { message } = delivery;
    const finish = () => {
      delivery.done().catch((error: unknown) => {
        log.error(`Could not record what was delivered: ${problemOf(error)}`, { message: message.id });
      });
    };
    if (message.channel === NOWHERE) finish();
    else if (message.kind === "final") takeFinal(delivery as FinalDelivery);
    else (takeTransient(message) ?? Promise.resolve()).then(finish);
  }

  return {
    async run(signal) {
      const onAbort = () => end.abort(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        for await (const delivery of bus.outbound(signal)) take(delivery);
      } finally {
        signal.removeEventListener("abort", onAbort);
        end.abort(signal.reason);
        streams.close();
        await lanes.idle();
        for (const gate of gates.values()) gate.end();
      }
    },

    async flush(signal) {
      // What was just published is taken first.
      await clock.giveWay();
      while (loads.size > 0) await abortable(lanes.idle(), signal);
    },

    channelChanged(name) {
      gateOf(name).changed();
    },
  };
}
