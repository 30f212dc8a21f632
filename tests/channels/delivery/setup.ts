/** Delivery in the hands of a test: a bus, a clock, and channels whose platforms say what the test wants. */

import { createMemoryBus } from "../../../src/bus/memory.ts";
import { createDelivery, type Delivery } from "../../../src/channels/delivery/delivery.ts";
import type { DeliverySettings, Target, Undelivered } from "../../../src/channels/delivery/target.ts";
import type { Bus } from "../../../src/core/bus.ts";
import type { Channel, ChannelCapabilities, OutboundPart } from "../../../src/core/channel.ts";
import type { FinalMessage, OutboundMessage } from "../../../src/core/messages.ts";
import { never } from "../../../src/lib/abort.ts";
import { createFakeClock, type FakeClock } from "../../fakes/clock.ts";
import { createFakeLog, type FakeLog } from "../../fakes/log.ts";
import { outboundDelta, outboundFinal } from "../../fakes/messages.ts";

/** What the platform was asked. */
interface Call {
  readonly method: "send" | "edit" | "show" | "typing";
  readonly chatId: string;
  readonly text: string;
  /** With `edit`, the message that is changed. */
  readonly messageId?: string;
  readonly part?: OutboundPart;
  /** On the clock. */
  readonly at: number;
}

export interface FakeChannel extends Target {
  readonly calls: readonly Call[];
  /** Messages as the platform shows them, by name. */
  readonly messages: ReadonlyMap<string, { readonly chatId: string; readonly text: string }>;
  /** What the platform does with a call before it takes it: throws, or waits. */
  answer: (call: Call, signal: AbortSignal) => void | Promise<void>;
  readonly ended: readonly FinalMessage[];
}

export interface FakeChannelOptions {
  readonly capabilities?: Partial<ChannelCapabilities>;
  readonly settings?: Partial<DeliverySettings>;
  readonly streamingMs?: number;
  readonly render?: (markdown: string) => string;
}

function textOf({ content }: OutboundPart): string {
  return content.kind === "text" ? content.text : `[${content.media.path}]`;
}

export function createFakeChannel(clock: FakeClock, options: FakeChannelOptions = {}): FakeChannel {
  const calls: Call[] = [];
  const messages = new Map<string, { chatId: string; text: string }>();
  const ended: FinalMessage[] = [];
  const capabilities: ChannelCapabilities = {
    limit: { size: 100, unit: "utf16" },
    markup: "markdown",
    edits: true,
    deltas: false,
    typing: true,
    reactions: false,
    buttons: true,
    idempotencyKey: false,
    ...options.capabilities,
  };
  let count = 0;

  async function take(call: Omit<Call, "at">, signal: AbortSignal): Promise<void> {
    const full = { ...call, at: clock.elapsed() };
    calls.push(full);
    await fake.answer(full, signal);
  }

  const channel: Channel = {
    start: async () => {},
    stop: async () => {},
    async send(part, signal) {
      await take({ method: "send", chatId: part.chatId, text: textOf(part), part }, signal);
      const id = `m${++count}`;
      messages.set(id, { chatId: part.chatId, text: textOf(part) });
      return id;
    },
    ...(capabilities.edits
      ? {
          async edit(messageId: string, part: OutboundPart, signal: AbortSignal) {
            const text = textOf(part);
            await take({ method: "edit", chatId: part.chatId, text, messageId, part }, signal);
            messages.set(messageId, { chatId: part.chatId, text });
          },
        }
      : {}),
    ...(capabilities.deltas
      ? {
          async show(message: OutboundMessage, signal: AbortSignal) {
            const text = `${message.kind}:${message.content}`;
            await take({ method: "show", chatId: message.chatId, text }, signal);
          },
        }
      : {}),
    ...(options.streamingMs === undefined ? {} : { streaming: { intervalMs: options.streamingMs } }),
    ...(options.render === undefined ? {} : { render: options.render }),
    async showTyping({ chatId, thread = "" }, signal) {
      await take({ method: "typing", chatId, text: thread }, signal);
    },
    ended: async (message) => void ended.push(message),
  };
  const fake: FakeChannel = {
    channel,
    capabilities,
    settings: {
      sendProgress: true,
      sendToolHints: true,
      showReasoning: false,
      maxRetries: 3,
      ...options.settings,
    },
    calls,
    messages,
    ended,
    answer: () => {},
  };
  return fake;
}

export interface Setup {
  readonly bus: Bus;
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly delivery: Delivery;
  /** By name; a channel that is not in it does not run. */
  readonly channels: Map<string, FakeChannel>;
  readonly undelivered: readonly Undelivered[];
  readonly running: Promise<void>;
  stop(): Promise<void>;
  publish(message: OutboundMessage): Promise<void>;
  /** Waits for what needs real time, such as loading a library. Fails when it never comes. */
  until(condition: () => boolean): Promise<void>;
}

export function setUp(
  make: (clock: FakeClock) => Record<string, FakeChannel>,
  { bus = createMemoryBus() }: { bus?: Bus } = {},
): Setup {
  const clock = createFakeClock();
  const log = createFakeLog();
  const channels = new Map(Object.entries(make(clock)));
  const undelivered: Undelivered[] = [];
  const delivery = createDelivery({
    bus,
    clock,
    log,
    channelOf: (name) => channels.get(name),
    onUndeliverable: (entry) => undelivered.push(entry),
  });
  const end = new AbortController();
  const running = delivery.run(end.signal);
  return {
    bus,
    clock,
    log,
    delivery,
    channels,
    undelivered,
    running,
    async stop() {
      end.abort(new Error("the end"));
      await running;
    },
    async publish(message) {
      await bus.publishOutbound(message, never);
      await clock.advance(0);
    },
    async until(condition) {
      for (let tries = 0; !condition(); tries++) {
        if (tries > 5_000) throw new Error("It never came");
        await clock.advance(0);
      }
    },
  };
}

/** One fake channel named `chat`, and what is said in its chat `a`. */
export function setUpOne(options: FakeChannelOptions = {}, rest: { bus?: Bus } = {}) {
  const setup = setUp((clock) => ({ chat: createFakeChannel(clock, options) }), rest);
  const fake = setup.channels.get("chat") as FakeChannel;
  let count = 0;
  const base = { channel: "chat", chatId: "a" };
  return {
    ...setup,
    fake,
    final: (content: string, fields: Parameters<typeof outboundFinal>[0] = {}) =>
      setup.publish(outboundFinal({ id: `f${++count}`, ...base, content, ...fields })),
    aside: (content: string, fields: Parameters<typeof outboundDelta>[0] = {}) =>
      setup.publish(outboundDelta({ id: `d${++count}`, ...base, content, ...fields })),
    streamEnd: (resuming: boolean) =>
      setup.publish({ ...outboundDelta({ id: `e${++count}`, ...base }), kind: "streamEnd", resuming }),
    texts: () => fake.calls.map(({ method, text }) => `${method} ${text}`),
    shown: () => [...fake.messages.values()].map(({ text }) => text),
  };
}
