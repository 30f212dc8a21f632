/** The Telegram channel: a bot that receives by polling or by webhook, and sends. */

import type { Channel, ChannelContext } from "../../core/channel.ts";
import { chatCommands } from "../../lib/chat-commands.ts";
import type { Self } from "./addressed.ts";
import { createAlbumShelf } from "./album-shelf.ts";
import { createBotApi } from "./bot-api.ts";
import type { TelegramConfig } from "./config.ts";
import { createGestures } from "./gestures.ts";
import { createIntake, type Intake } from "./intake.ts";
import { createOutgoing } from "./outgoing.ts";
import { persist } from "./persist.ts";
import { aloneWith, deleteWebhook, poll } from "./polling.ts";
import { readSettings } from "./settings.ts";
import { keepWebhook, webhookRoute } from "./webhook.ts";

export async function createTelegram(config: TelegramConfig, context: ChannelContext): Promise<Channel> {
  const settings = readSettings(config, context);
  const { token, apiRoot, proxy, webhook } = settings;
  const { clock, fetch, files, log, workspace } = context;
  const { createTelegramRenderer } = await import("../../lib/markdown/telegram-html.ts");
  const render = await createTelegramRenderer();
  const api = await createBotApi({ token, apiRoot, proxy, fetch, clock });
  const { send, edit, showTyping } = createOutgoing({ api, files });

  let open: Intake | undefined;
  let ending = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let shown: string | undefined;

  function report(isConnected: boolean, detail: string): void {
    const state = `${isConnected} ${detail}`;
    if (state !== shown) context.report({ isConnected, detail });
    shown = state;
  }

  async function identify(signal: AbortSignal): Promise<Self> {
    const { id, username } = await api.call((raw, limited) => raw.getMe(limited), signal);
    return { id, username };
  }

  async function receive(signal: AbortSignal): Promise<void> {
    const onProblem = ({ message }: Error) => report(false, message);
    const again = { clock, signal, onProblem };
    const self = await persist(() => identify(signal), again);
    const gestures = createGestures({ api, log, emoji: config.reactEmoji, signal });
    const shelf = createAlbumShelf({ files, log, workspace });
    const quotes = config.replyToMessage;
    const intake = createIntake({ self, api, context, gestures, shelf, quotes, signal });
    open = intake;
    const onConnected = () => {
      context.heard();
      report(true, `@${self.username}, by ${config.mode}`);
    };
    try {
      await intake.resume().catch((error: unknown) => {
        // It stays there for the next start, and must not keep the channel from what comes now.
        log.error("Could not take up albums of an earlier run", { error });
      });
      gestures.menu(chatCommands);
      if (webhook !== undefined) {
        const maxConnections = config.webhookMaxConnections;
        await keepWebhook({ api, ...webhook, maxConnections, clock, log, signal, onConnected, onProblem });
        return;
      }
      await aloneWith(token, signal, async () => {
        await persist(() => deleteWebhook(api, signal), again);
        onConnected();
        const timeout = config.pollTimeout;
        await poll({ api, intake, clock, log, timeout, signal, onHeard: onConnected, onProblem });
      });
    } finally {
      open = undefined;
      await intake.idle();
    }
  }

  async function untilAborted(signal: AbortSignal): Promise<void> {
    try {
      await receive(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      shown = undefined;
    }
  }

  return {
    async start(signal) {
      ending = new AbortController();
      const work = untilAborted(AbortSignal.any([signal, ending.signal]));
      running = work.catch(() => {});
      await work;
    },

    async stop() {
      ending.abort();
      await running;
    },

    send,
    edit,
    showTyping,
    render,
    ...(config.streaming ? { streaming: { intervalMs: config.streamEditInterval * 1_000 } } : {}),
    ...(webhook === undefined
      ? {}
      : { routes: [webhookRoute({ secret: webhook.secret, intake: () => open, context })] }),

    async check(signal) {
      const { id, username } = await identify(signal);
      return `@${username} (id ${id})`;
    },
  };
}
