/** All that the program under test lives in: a home folder, a model, platforms, and people who write. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { SessionFile } from "./check-sessions.ts";
import { createGateway, type Gateway } from "./gateway.ts";
import { type JournalWatch, watchJournals } from "./journal-watch.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { EFFECTS } from "./marks.ts";
import { type Model, startModel } from "./model.ts";
import type { Happening } from "./moments.ts";
import { startTelegram, type Telegram } from "./telegram.ts";
import type { Chat, Mode } from "./traffic.ts";
import { startWebhooks, type Webhooks } from "./webhooks.ts";

export interface WorldOptions {
  readonly command: readonly string[];
  /** Empty, absolute and real. */
  readonly folder: string;
  readonly seed: number;
  readonly mode: Mode;
  readonly chats: number;
  /** Without it every chat is a webhook's. */
  readonly hasTelegram?: boolean;
  happened(what: Happening): void;
}

export interface World {
  readonly ledger: Ledger;
  readonly gateway: Gateway;
  readonly model: Model;
  readonly webhooks: Webhooks;
  readonly telegram: Telegram;
  readonly journals: JournalWatch;
  readonly chats: readonly [Chat, ...Chat[]];
  readonly workspace: string;
  /** From its next start the program gets Telegram's updates in the other way. */
  switchTelegram(mode: "polling" | "webhook"): void;
  sessions(): readonly SessionFile[];
  /** The numbers that calls left behind. */
  effects(): readonly number[];
  /** Puts something into the folder, for whoever looks for what went wrong. */
  keep(name: string, text: string): void;
  close(): Promise<void>;
}

/** Rough weather: how often a model, and a platform, fail. */
const MODEL_FAILURES = 0.1;
const PLATFORM_FAILURES = 0.05;
const CONTEXT_TOKENS = 32_000;

export async function createWorld({
  command,
  folder,
  seed,
  mode,
  chats: count,
  hasTelegram = true,
  happened,
}: WorldOptions): Promise<World> {
  const isRough = mode === "rough";
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const workspace = join(folder, "workspace");
  const ledger = createLedger();
  const names = Array.from({ length: count }, (_, index) => `crash-${index}`);
  const platformFailures = isRough ? PLATFORM_FAILURES : 0;
  const webhooks = startWebhooks({ ledger, seed, baseUrl, failures: platformFailures, happened });
  const telegram = await startTelegram({ ledger, seed, baseUrl, failures: platformFailures, happened });
  const chats = names.map((name, index): Chat => {
    const isTelegram = hasTelegram && index % 2 === 1;
    return isTelegram
      ? { name: telegram.nameOf(index), takesCommands: true, isIdempotent: false, say: telegram.say }
      : { name, takesCommands: false, isIdempotent: true, say: webhooks.say };
  });
  const telegramChats = chats.flatMap(({ name, takesCommands }) => (takesCommands ? [name] : []));
  const model = await startModel({
    seed,
    failures: isRough ? MODEL_FAILURES : 0,
    other(number) {
      const others = telegramChats.filter((name) => name !== ledger.chatOf(number));
      const chatId = others[number % others.length];
      return chatId === undefined ? undefined : { channel: "telegram", chatId };
    },
    forwarded: ledger.forward,
    excused: ledger.excuse,
    happened,
  });

  function configure(telegramMode: "polling" | "webhook"): void {
    const config = {
      providers: { crash: { apiBase: model.url, apiKey: "key-of-the-crash-model" } },
      agents: {
        defaults: {
          provider: "crash",
          model: "crash-model",
          timezone: "UTC",
          midTurn: isRough ? "steer" : "queue",
          contextWindowTokens: CONTEXT_TOKENS,
          maxTokens: 4_096,
        },
      },
      channels: {
        sendProgress: isRough,
        sendToolHints: isRough,
        webhook: webhooks.config,
        telegram: telegram.config(telegramMode),
      },
      gateway: { port },
    };
    writeFileSync(join(folder, "config.json"), JSON.stringify(config, null, 2), { mode: 0o600 });
  }
  mkdirSync(folder, { recursive: true });
  configure("polling");

  const gateway = createGateway({
    command: [...command, "gateway"],
    env: { NANOBOT_HOME: folder, HOME: folder, TZ: "UTC", PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    cwd: folder,
    baseUrl,
    logFile: join(folder, "stderr.log"),
  });
  const journals = watchJournals(join(workspace, ".nanobot"), () => happened("compacting"));
  const [first, ...others] = chats;
  if (first === undefined) throw new Error("There must be a chat");

  return {
    ledger,
    gateway,
    model,
    webhooks,
    telegram,
    journals,
    chats: [first, ...others],
    workspace,
    switchTelegram: configure,
    sessions: () => readSessions(join(workspace, "sessions")),
    effects: () => readEffects(join(workspace, EFFECTS)),
    keep: (name, text) => writeFileSync(join(folder, name), text),
    async close() {
      gateway.close();
      journals.close();
      await Promise.all([model.close(), webhooks.close(), telegram.close()]);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("There is no free port");
  return address.port;
}

function readSessions(folder: string): readonly SessionFile[] {
  return readIfThere(() => readdirSync(folder, { recursive: true, encoding: "utf8" }), [])
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
}

function readEffects(path: string): readonly number[] {
  const text = readIfThere(() => readFileSync(path, "utf8"), "");
  return text.split("\n").flatMap((line) => (line.startsWith("c") ? [Number(line.slice(1))] : []));
}

/** Nothing is there when the program did nothing. */
function readIfThere<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return otherwise;
    throw error;
  }
}
