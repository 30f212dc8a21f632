/** Telegram through the compiled program, by what its people say and see. */

import { afterEach, expect } from "bun:test";
import { type Conversation, conversationContract } from "../contracts/channel.ts";
import { startTelegramServer } from "../fakes/telegram-server.ts";
import { echo, eventually, freePort, killGateways, startGateway, telegramHome } from "./gateway.ts";
import { endToEnd, startModel } from "./harness.ts";

endToEnd();
afterEach(killGateways);

const STRANGER = 666;

async function conversation(mode: "polling" | "webhook"): Promise<Conversation> {
  const server = await startTelegramServer({ retryMs: 50 });
  const model = await startModel(echo);
  // A webhook needs to know its address before it starts.
  const port = mode === "webhook" ? await freePort() : 0;
  const home = telegramHome(
    server,
    model.url,
    mode === "webhook" ? { mode, webhookUrl: `http://127.0.0.1:${port}/webhook/telegram` } : { mode },
    { gateway: { port } },
  );
  let gateway = await startGateway(home);
  const shown = (chat: number) => server.sent(chat).map(({ text }) => text);
  return {
    say: (chat, text) => server.say(chat, text).updateId ?? -1,
    sayAsStranger: (text) => server.say(STRANGER, text).updateId ?? -1,
    again: (event) => server.updates.offerAgain([Number(event)]),
    isAcknowledged: (event) => !server.updates.waiting.includes(Number(event)),
    shown,
    shownToStranger: () => shown(STRANGER),
    trouble: () => server.fail("sendMessage", "drop", { status: 502, body: "<html>Bad Gateway</html>" }),
    async restart(whileAway) {
      gateway.signal("SIGTERM");
      expect(await gateway.exited).toBe(0);
      whileAway();
      gateway = await startGateway(home);
    },
    eventually,
    async close() {
      gateway.signal("SIGTERM");
      expect(await gateway.exited).toBe(0);
      expect(gateway.stderr()).not.toContain("error");
      await server.close();
    },
  };
}

conversationContract("telegram by polling, from the executable", () => conversation("polling"));
conversationContract("telegram by webhook, from the executable", () => conversation("webhook"));
