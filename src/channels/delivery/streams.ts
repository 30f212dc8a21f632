/** Shows the text of running turns as it grows, by edits of one message. What is shown here may be lost. */

import type { Bus } from "../../core/bus.ts";
import { SendError } from "../../core/channel.ts";
import type { FinalMessage, InboundId, TransientMessage } from "../../core/messages.ts";
import type { Clock, Log } from "../../core/platform.ts";
import { problemOf } from "../../lib/phrases.ts";
import { head } from "../../lib/text.ts";
import { partOf, piecesFor } from "./parts.ts";
import type { Target } from "./target.ts";

const MOST_TURNS = 1_000;
const LONGEST_TEXT = 1024 * 1024;
/** A message of one letter helps nobody. */
const FEWEST_CHARACTERS = 4;
const LONGEST_WAIT_MS = 3_600_000;

export interface StreamsOptions {
  readonly bus: Pick<Bus, "openStream" | "recordStream">;
  readonly clock: Pick<Clock, "after" | "elapsed">;
  readonly log: Log;
  /** Only when it can be sent to at once. */
  readonly targetOf: (channel: string) => Target | undefined;
  /** Runs in the chat's lane. */
  readonly enqueue: (message: TransientMessage, task: (signal: AbortSignal) => Promise<void>) => void;
}

export interface Streams {
  add(delta: TransientMessage): void;
  /** The text of the segment is complete, and more will follow after it. */
  endSegment(turn: InboundId): void;
  /** The turn's last message comes: nothing of it is shown from now on, but by what is returned. */
  take(final: FinalMessage): OpenStream | undefined;
  /** What is shown of the turn, which goes on, where the message comes. */
  peek(final: FinalMessage): OpenStream | undefined;
  /** Nothing is shown any more. */
  close(): void;
}

export interface OpenStream {
  /** The platform's message, if there is one. */
  readonly messageId: string | undefined;
  /** Shows all that came, once. */
  finish(signal: AbortSignal): Promise<void>;
}

/** The text up to the next call of tools: one message, or several when it is too long for one. */
interface Segment {
  readonly message: TransientMessage;
  text: string;
  /** What this process sent; one that was sent before is known to the bus. */
  messageId: string | undefined;
  /** As the platform has it. */
  shown: string | undefined;
  /** Before this there is no edit. */
  notBefore: number;
  isWaiting: boolean;
  /** It is shown no further as it grows. */
  isClosed: boolean;
  callOff: () => void;
}

export function createStreams({ bus, clock, log, targetOf, enqueue }: StreamsOptions): Streams {
  const segments = new Map<InboundId, Segment>();

  function segmentOf(message: TransientMessage): Segment {
    const known = segments.get(message.turn);
    if (known !== undefined) return known;
    const segment: Segment = {
      message,
      text: "",
      messageId: undefined,
      shown: undefined,
      notBefore: 0,
      isWaiting: false,
      isClosed: false,
      callOff: () => {},
    };
    segments.set(message.turn, segment);
    const [oldest] = segments.keys();
    if (segments.size > MOST_TURNS && oldest !== undefined) close(oldest);
    return segment;
  }

  function close(turn: InboundId): Segment | undefined {
    const segment = segments.get(turn);
    if (segment === undefined) return undefined;
    segments.delete(turn);
    segment.isClosed = true;
    segment.callOff();
    return segment;
  }

  function skipped(error: unknown, segment: Segment): void {
    const { message } = segment;
    log.debug(`Could not show text as it grows: ${problemOf(error)}`, { channel: message.channel });
    if (error instanceof SendError && error.kind === "slowDown") {
      segment.notBefore = clock.elapsed() + Math.min(error.retryAfterMs, LONGEST_WAIT_MS);
    }
  }

  async function record(turn: InboundId, messageId: string | undefined): Promise<void> {
    try {
      await bus.recordStream(turn, messageId);
    } catch (error) {
      log.error(`Could not record which message shows a text: ${problemOf(error)}`, { turn });
    }
  }

  /** Edits the open message, or sends one; resolves to whether the platform has it now. */
  async function showFirst(
    segment: Segment,
    { channel, capabilities }: Target,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { message } = segment;
    const [piece] = piecesFor(segment.text, { channel, capabilities });
    if (piece === undefined) return true;
    if (piece.text === segment.shown) return true;
    const { replyTo } = message;
    const draft = { kind: "text", piece } as const;
    const part = partOf({ message, index: 0, draft, ...(replyTo === undefined ? {} : { replyTo }) });
    segment.notBefore = clock.elapsed() + (channel.streaming?.intervalMs ?? 0);
    const open = segment.messageId ?? bus.openStream(message.turn);
    try {
      if (open !== undefined && channel.edit !== undefined) await channel.edit(open, part, signal);
      else {
        segment.messageId = await channel.send(part, signal);
        await record(message.turn, segment.messageId);
      }
      segment.shown = piece.text;
      return true;
    } catch (error) {
      skipped(error, segment);
      const kind = error instanceof SendError ? error.kind : undefined;
      if (kind === "refused") segment.isClosed = true;
      if (kind === "gone" && open !== undefined) {
        segment.messageId = undefined;
        await record(message.turn, undefined);
      }
      return false;
    }
  }

  async function grow(segment: Segment, signal: AbortSignal): Promise<void> {
    segment.isWaiting = false;
    const target = targetOf(segment.message.channel);
    if (segment.isClosed || target === undefined) return;
    const text = segment.text;
    await showFirst(segment, target, signal);
    if (!segment.isClosed && segment.text !== text) schedule(segment);
  }

  function schedule(segment: Segment): void {
    if (segment.isWaiting || segment.isClosed) return;
    if (segment.shown === undefined && segment.text.trim().length < FEWEST_CHARACTERS) return;
    segment.isWaiting = true;
    const show = () => enqueue(segment.message, (signal) => grow(segment, signal));
    const wait = segment.notBefore - clock.elapsed();
    if (wait > 0) segment.callOff = clock.after(wait, show);
    else show();
  }

  /** All of the segment, each piece once. The first that fails ends it. */
  async function showWhole(segment: Segment, signal: AbortSignal): Promise<void> {
    const { message } = segment;
    const target = targetOf(message.channel);
    if (target !== undefined && (await showFirst(segment, target, signal))) {
      const [, ...others] = piecesFor(segment.text, target);
      try {
        for (const [at, piece] of others.entries()) {
          signal.throwIfAborted();
          const part = partOf({ message, index: at + 1, draft: { kind: "text", piece } });
          await target.channel.send(part, signal);
        }
      } catch (error) {
        skipped(error, segment);
      }
    }
    await record(message.turn, undefined);
  }

  /** Another chat has a lane of its own, and no message of ours that could be changed. */
  function opened(segment: Segment | undefined, final: FinalMessage): OpenStream | undefined {
    if (segment === undefined) return undefined;
    const { channel, chatId } = segment.message;
    if (channel !== final.channel || chatId !== final.chatId) return undefined;
    return {
      get messageId() {
        return segment.messageId;
      },
      async finish(signal) {
        const target = targetOf(segment.message.channel);
        if (target !== undefined) await showFirst(segment, target, signal);
      },
    };
  }

  return {
    add(delta) {
      const segment = segmentOf(delta);
      if (segment.text.length >= LONGEST_TEXT) return;
      segment.text += head(delta.content, LONGEST_TEXT - segment.text.length);
      schedule(segment);
    },

    endSegment(turn) {
      const segment = close(turn);
      if (segment !== undefined) enqueue(segment.message, (signal) => showWhole(segment, signal));
    },

    take: (final) => opened(close(final.turn), final),
    peek: (final) => opened(segments.get(final.turn), final),

    close() {
      for (const turn of segments.keys()) close(turn);
    },
  };
}
