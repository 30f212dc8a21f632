/** People who write to the bot on Telegram, and see what it writes as they would there. */

import {
  type LoggedCall,
  startTelegramServer,
  type TelegramFault,
} from "../../../tests/fakes/telegram-server.ts";
import type { Ledger, Said, Shown } from "./ledger.ts";
import { askFor } from "./marks.ts";
import { createRandom } from "./random.ts";

export interface TelegramOptions {
  readonly ledger: Ledger;
  readonly seed: number;
  /** Where the program listens. */
  readonly baseUrl: string;
  /** The probability that a call goes wrong. */
  readonly failures: number;
  happened(what: "posted" | "accepted" | "delivering" | "delivered"): void;
}

export interface Telegram {
  /** The `channels.telegram` section. */
  config(mode: "polling" | "webhook"): Readonly<Record<string, unknown>>;
  /** The name of the private chat with this person, as the program knows it. */
  nameOf(person: number): string;
  say(said: Said): void;
  /** What the platform was asked and should not have been. */
  readonly refusals: readonly string[];
  close(): Promise<void>;
}

const FIRST_PERSON = 2_001;
const POLL_MS = 10;
/** Telegram waits a second, which is long for a program that is started twice a second. */
const RETRY_MS = 40;
/** Seconds. */
const POLL_TIMEOUT = 5;
/** As often as it may be, so that many messages are killed half shown. */
const EDIT_INTERVAL = 0.1;
const SENDING: ReadonlySet<string> = new Set(["sendMessage", "editMessageText"]);

export async function startTelegram(options: TelegramOptions): Promise<Telegram> {
  const { ledger, seed, baseUrl, failures, happened } = options;
  const random = createRandom(seed, "telegram");
  /** By the id of its update, what the program has not confirmed. */
  const waiting = new Map<number, Said>();
  const shown = new Map<string, Shown[]>();

  function onCall({ method, fields }: LoggedCall): void {
    if (random.chance(failures)) server.fail(method, chooseFault(method));
    if (!SENDING.has(method)) return;
    const at = ledger.now();
    happened("delivering");
    // The call has done what it does by then, and its answer is on its way.
    setImmediate(() => {
      look(String(fields["chat_id"]), at);
      happened("delivered");
    });
  }

  function chooseFault(method: string): TelegramFault {
    const slow = {
      code: 429,
      description: "Too Many Requests: retry after 1",
      parameters: { retry_after: 1 },
    };
    const broken = { status: 502, body: "<html>Bad Gateway</html>" };
    // Whoever sends cannot know that a call which hangs did nothing, so it takes its whole patience.
    const hangs = SENDING.has(method) && random.chance(0.05);
    return hangs ? "hang" : random.pick<TelegramFault>([slow, broken, "drop"]);
  }

  function look(chat: string, at: number): void {
    const known = shown.get(chat) ?? [];
    shown.set(chat, known);
    for (const [index, { text }] of server.sent(Number(chat)).entries()) {
      const before = known[index];
      if (before === undefined) known.push(ledger.show(chat, text, at));
      else ledger.change(before, text);
    }
  }

  function confirm(): void {
    const left = new Set(server.updates.waiting);
    for (const [id, said] of waiting) {
      if (left.has(id)) continue;
      waiting.delete(id);
      ledger.accept(said);
      happened("accepted");
    }
  }

  const server = await startTelegramServer({ retryMs: RETRY_MS, onCall });
  const timer = setInterval(confirm, POLL_MS);

  return {
    config: (mode) => ({
      enabled: true,
      token: server.token,
      apiRoot: server.url,
      mode,
      webhookUrl: `${baseUrl}/webhook/telegram`,
      allowFrom: ["*"],
      pollTimeout: POLL_TIMEOUT,
      streamEditInterval: EDIT_INTERVAL,
    }),
    nameOf(person) {
      // Everybody pressed "Start" once.
      server.meet(FIRST_PERSON + person);
      return `${FIRST_PERSON + person}`;
    },
    say(said) {
      const text = said.request === undefined ? "/stop" : askFor(said.request);
      const { updateId } = server.say(Number(said.chat), text);
      if (updateId === undefined) throw new Error("The bot does not want messages");
      waiting.set(updateId, said);
      happened("posted");
    },
    get refusals() {
      const { dropped } = server.updates;
      return dropped === 0 ? [] : [`${dropped} updates were thrown away unread`];
    },
    async close() {
      clearInterval(timer);
      await server.close();
    },
  };
}
