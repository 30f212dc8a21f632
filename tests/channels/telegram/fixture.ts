/** A Telegram channel beside the fake platform: what it emits, what it is answered, and a clock that stands still. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as v from "valibot";
import { createMediaStore } from "../../../src/agent/media.ts";
import { channel as definition } from "../../../src/channels/telegram/channel.ts";
import type { Channel, ChannelContext, OutboundPart, Sender } from "../../../src/core/channel.ts";
import type { Button, InboundMessage } from "../../../src/core/messages.ts";
import type { FileSystem } from "../../../src/core/platform.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createFakeClock, type FakeClock } from "../../fakes/clock.ts";
import { createFakeLog, type FakeLog } from "../../fakes/log.ts";
import { outboundFinal } from "../../fakes/messages.ts";
import {
  startTelegramServer,
  type TelegramServer,
  type TelegramServerOptions,
} from "../../fakes/telegram-server.ts";
import { tempFolder } from "../../fakes/temp.ts";
import { createFakeTerminal } from "../../fakes/terminal.ts";
import { until } from "../../fakes/until.ts";

type Ports = Pick<ChannelContext, "admit" | "emit" | "heard" | "report">;

export interface FixtureOptions {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly server?: TelegramServerOptions | TelegramServer;
  readonly ports?: Partial<Ports>;
  readonly workspace?: string;
  readonly files?: Partial<FileSystem>;
  readonly fetch?: typeof fetch;
  /** Of the gateway; "nowhere" when it has none. */
  readonly publicUrl?: string;
}

export interface Fixture {
  readonly server: TelegramServer;
  readonly channel: Channel;
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly workspace: string;
  readonly emitted: readonly InboundMessage[];
  readonly senders: readonly Sender[];
  readonly reports: readonly { isConnected: boolean; detail?: string }[];
  readonly secrets: readonly string[];
  /** Starts the channel and waits until it is connected. */
  start(): Promise<void>;
  /** Settles as `channel.start` does. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
  /** Everything is stopped, and the channel must be at its end. */
  close(): Promise<void>;
}

let tokens = 0;

/** One for each test, because there is but one poll of a token at a time. */
export function newToken(): string {
  return `${++tokens}00000:AAFakeFakeFakeFakeFakeFakeFakeFakeFake`;
}

const isServer = (given: FixtureOptions["server"]): given is TelegramServer =>
  given !== undefined && "say" in given;

/** Serves the routes of a channel as the gateway does, and tells where. */
async function serveRoutes(channel: () => Channel | undefined): Promise<{ server: Server; url: string }> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
    const request = new Request(`http://127.0.0.1${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    const info = { peer: "127.0.0.1", client: "127.0.0.1", upgrade: () => undefined };
    const response = await channel()?.routes?.[0]?.fetch(request, info);
    outgoing.writeHead(response?.status ?? 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

export async function createFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const { config = {}, ports = {}, workspace = tempFolder() } = options;
  const server = isServer(options.server)
    ? options.server
    : await startTelegramServer({ token: newToken(), retryMs: 10, ...options.server });
  const clock = createFakeClock(Date.now());
  const log = createFakeLog();
  const files = { ...createFileSystem(), ...options.files };
  const store = createMediaStore({ files, clock, log, workspace });
  const emitted: InboundMessage[] = [];
  const senders: Sender[] = [];
  const reports: { isConnected: boolean; detail?: string }[] = [];
  const secrets: string[] = [];
  const seen = new Set<string>();
  let made: Channel | undefined;
  const gateway = config["mode"] === "webhook" ? await serveRoutes(() => made) : undefined;

  const context: ChannelContext = {
    async admit(sender) {
      senders.push(sender);
      return (await ports.admit?.(sender)) ?? true;
    },
    async emit(message, signal) {
      const isNew = ports.emit ? await ports.emit(message, signal) : !seen.has(message.id);
      if (isNew) emitted.push(message);
      seen.add(message.id);
      return isNew;
    },
    heard: () => ports.heard?.(),
    report(state) {
      reports.push(state);
      ports.report?.(state);
    },
    addSecret: (secret) => void secrets.push(secret),
    expand: (value) => value,
    media: async () => store,
    fetch: options.fetch ?? fetch,
    env: {},
    clock,
    random: () => 0.5,
    ids: { next: () => "id" },
    log,
    terminal: createFakeTerminal(),
    files,
    publicUrl: options.publicUrl === "nowhere" ? undefined : (options.publicUrl ?? gateway?.url),
    workspace,
  };
  const settings = v.parse(definition.config, { token: server.token, apiRoot: server.url, ...config });
  const channel = await definition.create(settings, context);
  made = channel;

  let ending = new AbortController();
  let ended: Promise<void> = Promise.resolve();

  async function stop(): Promise<void> {
    ending.abort(new Error("The test is over"));
    await channel.stop();
    await ended.catch(() => {});
  }

  return {
    server,
    channel,
    clock,
    log,
    workspace,
    emitted,
    senders,
    reports,
    secrets,
    get ended() {
      return ended;
    },
    async start() {
      ending = new AbortController();
      reports.length = 0;
      ended = channel.start(ending.signal);
      ended.catch(() => {});
      await until(() => reports.at(-1)?.isConnected === true);
    },
    stop,
    async close() {
      await stop();
      await server.close();
      if (gateway) {
        gateway.server.closeAllConnections();
        await new Promise((resolve) => gateway.server.close(resolve));
      }
    },
  };
}

/** Lets time pass in small steps, with room for network and disk between them, until `condition` holds. */
export async function passUntil({ clock }: Fixture, condition: () => boolean): Promise<void> {
  for (let step = 0; step < 200; step++) {
    for (const end = performance.now() + 5; performance.now() < end; ) await clock.giveWay();
    if (condition()) return;
    await clock.advance(100);
  }
  throw new Error(`It never came about: ${condition}`);
}

export interface PartOptions {
  readonly chatId?: number | string;
  readonly thread?: string;
  readonly replyTo?: string;
  readonly isPlain?: boolean;
  readonly buttons?: readonly (readonly Button[])[];
}

export function textPart(
  text: string,
  { chatId = 7, thread, replyTo, isPlain = false, buttons }: PartOptions = {},
): OutboundPart {
  return {
    message: outboundFinal({ channel: "telegram", chatId: `${chatId}`, content: text }),
    index: 0,
    key: "key-0",
    chatId: `${chatId}`,
    ...(thread === undefined ? {} : { thread }),
    ...(replyTo === undefined ? {} : { replyTo }),
    content: { kind: "text", text, isPlain, ...(buttons === undefined ? {} : { buttons }) },
  };
}

export function mediaPart(path: string, mime: string, { chatId = 7, name = "" } = {}): OutboundPart {
  return {
    message: outboundFinal({ channel: "telegram", chatId: `${chatId}` }),
    index: 0,
    key: "key-0",
    chatId: `${chatId}`,
    content: { kind: "media", media: { path, mime, ...(name === "" ? {} : { name }) } },
  };
}
