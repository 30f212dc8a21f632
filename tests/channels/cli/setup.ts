/** The channel in the hands of a test: a fake terminal, a clock, and what was emitted. */

import * as v from "valibot";
import { channel as definition } from "../../../src/channels/cli/channel.ts";
import { config as schema } from "../../../src/channels/cli/config.ts";
import type { Channel } from "../../../src/core/channel.ts";
import type {
  FinalMessage,
  InboundId,
  InboundMessage,
  OutboundId,
  OutboundMessage,
} from "../../../src/core/messages.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createFakeClock, type FakeClock } from "../../fakes/clock.ts";
import { createFakeTerminal, type FakeTerminal, type FakeTerminalOptions } from "../../fakes/terminal.ts";
import { createEmulator, type Emulator } from "./emulator.ts";

export interface Setup {
  readonly channel: Channel;
  readonly terminal: FakeTerminal;
  readonly clock: FakeClock;
  readonly emitted: readonly InboundMessage[];
  readonly logged: readonly string[];
  /** Resolves to the message with this index as soon as it is emitted. */
  nextEmitted(index: number): Promise<InboundMessage>;
  send(message: OutboundMessage): Promise<void>;
  /** Sends each piece as a delta of the turn that `turn` started. */
  stream(turn: InboundMessage, ...pieces: readonly string[]): Promise<void>;
  streamEnd(turn: InboundMessage, resuming: boolean): Promise<void>;
  hint(turn: InboundMessage, content: string, metadata?: OutboundMessage["metadata"]): Promise<void>;
  answer(turn: InboundMessage, content: string, rest?: Partial<FinalMessage>): Promise<void>;
}

export async function setUp(
  config: v.InferInput<typeof schema>,
  terminalOptions: FakeTerminalOptions = {},
  { publish = async () => {}, quiet }: { publish?: () => Promise<void>; quiet?: () => Promise<void> } = {},
): Promise<Setup> {
  const terminal = createFakeTerminal(terminalOptions);
  const clock = createFakeClock(Date.parse("2026-11-30T09:00:00Z"));
  const emitted: InboundMessage[] = [];
  const logged: string[] = [];
  let waiters: { index: number; resolve: (message: InboundMessage) => void }[] = [];
  let ids = 0;
  const log = (message: string) => void logged.push(message);

  const channel = await definition.create(v.parse(schema, config), {
    terminal,
    clock,
    files: createFileSystem(),
    ids: { next: () => `${++ids}` },
    log: { debug: log, info: log, warn: log, error: log },
    async emit(message) {
      await publish();
      emitted.push(message);
      for (const { index, resolve } of waiters) if (index === emitted.length - 1) resolve(message);
      waiters = waiters.filter(({ index }) => index >= emitted.length);
      return true;
    },
    admit: async () => true,
    heard() {},
    report() {},
    addSecret() {},
    expand: (value) => value,
    media: () => Promise.reject(new Error("The terminal stores no files")),
    fetch: Object.assign(() => Promise.reject(new Error("The terminal fetches nothing")), {
      preconnect() {},
    }),
    env: {},
    random: () => 0,
    publicUrl: undefined,
    workspace: "/workspace",
    ...(quiet === undefined ? {} : { quiet }),
  });

  const signal = new AbortController().signal;
  async function send(message: OutboundMessage): Promise<void> {
    if (message.kind !== "final") {
      await channel.show?.(message, signal);
      return;
    }
    const { chatId, content, id } = message;
    const text = { kind: "text", text: content, isPlain: false } as const;
    await channel.send({ message, index: 0, key: id, chatId, content: text }, signal);
  }
  const base = (turn: InboundMessage) => ({
    id: `out:${++ids}` as OutboundId,
    channel: "cli",
    chatId: turn.chatId,
    turn: turn.id,
    metadata: {},
  });

  return {
    channel,
    terminal,
    clock,
    emitted,
    logged,
    nextEmitted(index) {
      const message = emitted[index];
      return message !== undefined
        ? Promise.resolve(message)
        : new Promise((resolve) => waiters.push({ index, resolve }));
    },
    send,
    async stream(turn, ...pieces) {
      for (const content of pieces) await send({ ...base(turn), kind: "delta", content });
    },
    streamEnd: (turn, resuming) => send({ ...base(turn), kind: "streamEnd", content: "", resuming }),
    hint: (turn, content, metadata = {}) => send({ ...base(turn), kind: "toolHint", content, metadata }),
    answer: (turn, content, rest = {}) =>
      send({
        ...base(turn),
        kind: "final",
        outcome: "answer",
        answers: [turn.id as InboundId],
        media: [],
        content,
        ...rest,
      }),
  };
}

type Config = Parameters<typeof setUp>[0];
type Options = Parameters<typeof setUp>[1];

/** Asks, lets `reply` answer, and waits for the end. */
export async function ask(
  config: Config,
  options: Options,
  reply: (setup: Setup, turn: InboundMessage) => Promise<void>,
): Promise<Setup> {
  const setup = await setUp({ message: "hello", ...config }, options);
  const started = setup.channel.start(new AbortController().signal);
  await reply(setup, await setup.nextEmitted(0));
  await started;
  return setup;
}

export interface Chat extends Setup {
  readonly emulator: Emulator;
  readonly ended: Promise<void>;
  readonly controller: AbortController;
  /** What the screen shows below the greeting. */
  rows(): readonly string[];
}

/** A chat that waits for its first key. */
export async function open(config: Config = {}, { columns = 60, ...options }: Options = {}): Promise<Chat> {
  const emulator = createEmulator(columns);
  const setup = await setUp(
    { color: false, ...config },
    { tty: true, columns, onWrite: emulator.write, ...options },
  );
  const controller = new AbortController();
  const ended = setup.channel.start(controller.signal);
  await setup.terminal.press();
  const greeting = emulator.rows.findLastIndex((row) => row.endsWith("/exit"));
  return { ...setup, emulator, ended, controller, rows: () => emulator.rows.slice(greeting + 1) };
}
