import { channel as definition } from "../../../src/channels/telegram/channel.ts";
import { type Channel, SendError } from "../../../src/core/channel.ts";
import type { InboundMessage } from "../../../src/core/messages.ts";
import {
  type ChannelPlatform,
  type ChannelPorts,
  type ChannelSubject,
  type Conversation,
  channelContract,
  conversationContract,
} from "../../contracts/channel.ts";
import type { TelegramServer } from "../../fakes/telegram-server.ts";
import { createFixture, type Fixture, textPart } from "./fixture.ts";

const CHAT = 7;

function refusalsOf(server: TelegramServer): ChannelPlatform["refusals"] {
  const next = (code: number, description: string, parameters?: Record<string, unknown>) => () =>
    server.fail("sendMessage", { code, description, ...(parameters === undefined ? {} : { parameters }) });
  return {
    markup: next(400, "Bad Request: can't parse entities: Unclosed start tag at byte offset 3"),
    gone: next(400, "Bad Request: message to be replied not found"),
    slowDown: next(429, "Too Many Requests: retry after 7", { retry_after: 7 }),
    refused: next(403, "Forbidden: bot was blocked by the user"),
    down: () => server.fail("sendMessage", { status: 502, body: "<html>Bad Gateway</html>" }),
    unauthorized: next(401, "Unauthorized"),
  };
}

function acknowledged({ server }: Fixture, event: unknown): boolean {
  return !server.updates.waiting.includes(Number(event));
}

async function subject(mode: string, ports: ChannelPorts): Promise<ChannelSubject> {
  const fixture = await createFixture({ config: { mode, reactEmoji: "" }, ports });
  const { server, clock, channel, secrets } = fixture;
  server.meet(CHAT);
  return {
    channel,
    capabilities: definition.capabilities,
    secrets,
    platform: {
      chatId: `${CHAT}`,
      say: (text) => server.say(CHAT, text).updateId ?? -1,
      again: (event) => server.updates.offerAgain([Number(event)]),
      isAcknowledged: (event) => acknowledged(fixture, event),
      shown: () => server.sent(CHAT).map(({ text }) => text),
      refusals: refusalsOf(server),
      hang() {
        server.fail("sendMessage", "hang");
        return server.called("sendMessage", 1);
      },
      open: () => server.open,
      pass: (ms) => clock.advance(ms),
      close: () => fixture.close(),
    },
  };
}

/** An agent that remembers what it was told and sends until it is taken. */
async function conversation(mode: string): Promise<Conversation> {
  const STRANGER = 666;
  const known = new Set<string>();
  let work: Promise<void> = Promise.resolve();

  async function answer({ chatId, content }: InboundMessage): Promise<void> {
    for (;;) {
      try {
        await current().send(textPart(`echo: ${content}`, { chatId }), new AbortController().signal);
        return;
      } catch (error) {
        if (!(error instanceof SendError) || error.kind !== "down") throw error;
      }
    }
  }

  const current = (): Channel => fixture.channel;
  const fixture: Fixture = await createFixture({
    config: { mode },
    ports: {
      admit: async ({ chatId }) => chatId !== `${STRANGER}`,
      async emit(message) {
        const isNew = !known.has(message.id);
        known.add(message.id);
        if (isNew) work = work.then(() => answer(message));
        return isNew;
      },
    },
  });
  const { server, clock } = fixture;
  await fixture.start();
  return {
    say: (chat, text) => server.say(chat, text).updateId ?? -1,
    sayAsStranger: (text) => server.say(STRANGER, text).updateId ?? -1,
    again: (event) => server.updates.offerAgain([Number(event)]),
    isAcknowledged: (event) => acknowledged(fixture, event),
    shown: (chat) => server.sent(chat).map(({ text }) => text),
    shownToStranger: () => server.sent(STRANGER).map(({ text }) => text),
    trouble: () => server.fail("sendMessage", "drop", { status: 502, body: "Bad Gateway" }),
    async restart(whileAway) {
      await fixture.stop();
      whileAway();
      await fixture.start();
    },
    async eventually(condition) {
      const end = performance.now() + 5_000;
      while (!condition() && performance.now() < end) await clock.advance(1);
      if (!condition()) throw new Error(`It never came about: ${condition}`);
    },
    async close() {
      await work;
      await fixture.close();
    },
  };
}

for (const mode of ["polling", "webhook"]) {
  channelContract(`telegram by ${mode}`, (ports) => subject(mode, ports));
  conversationContract(`telegram by ${mode}`, () => conversation(mode));
}
