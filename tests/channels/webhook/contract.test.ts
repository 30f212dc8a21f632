/** The channel contract, of programs that send events, send them again until they are taken, and have a server for answers. */

import { channel as definition } from "../../../src/channels/webhook/channel.ts";
import { type ChannelPorts, type ChannelSubject, channelContract } from "../../contracts/channel.ts";
import { bearer, post, SECRET, setUp } from "./fixture.ts";

const HOOK = "ci";
const REPLY_URL = "https://answers.example.org/of/the/agent";

/** Somebody's server for answers: what was posted, each key once. */
function createReceiver() {
  const shown = new Map<string, string>();
  let next: ((signal: AbortSignal) => Promise<Response>) | undefined;
  let open = 0;

  async function fetch(_: string, { headers, body, signal }: RequestInit): Promise<Response> {
    const respond = next;
    next = undefined;
    if (respond !== undefined) {
      open++;
      return respond(signal as AbortSignal).finally(() => open--);
    }
    const { content } = JSON.parse(String(body)) as { content: string };
    shown.set(new Headers(headers).get("idempotency-key") ?? "", content);
    return new Response(null, { status: 204 });
  }

  return {
    fetch,
    shown: () => [...shown.values()],
    open: () => open,
    refuse: (status: number, headers: Record<string, string> = {}) => {
      next = async () => new Response("no", { status, headers });
    },
    hang: () =>
      new Promise<void>((waits) => {
        next = (signal) =>
          new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
            waits();
          });
      }),
  };
}

async function subject(ports: ChannelPorts): Promise<ChannelSubject> {
  const receiver = createReceiver();
  const hook = { template: "{{text}}", replyUrl: REPLY_URL };
  const { channel, clock, fetch } = await setUp({ [HOOK]: hook }, { fetch: receiver.fetch, ports });
  const acknowledged = new Set<string>();
  const waiting = new Map<string, string>();
  let events = 0;

  async function deliver(id: string, text: string): Promise<void> {
    waiting.delete(id);
    const { ok } = await fetch(bearer(HOOK, JSON.stringify({ text }), { "idempotency-key": id }));
    if (ok) acknowledged.add(id);
    else waiting.set(id, text);
  }

  const texts: string[] = [];
  return {
    channel,
    capabilities: definition.capabilities,
    secrets: [SECRET, REPLY_URL],
    saidIn: ({ content }) => /\n\n```\n(.*)\n```$/s.exec(content)?.[1] ?? content,
    platform: {
      chatId: HOOK,
      say(text) {
        const id = `event-${events++}`;
        texts.push(text);
        void deliver(id, text);
        return id;
      },
      sayWithoutSecret(text) {
        const id = `event-${events++}`;
        const wrong = { authorization: `Bearer ${SECRET}!`, "idempotency-key": id };
        void fetch(post(HOOK, JSON.stringify({ text }), wrong)).then(({ ok }) => ok && acknowledged.add(id));
        return id;
      },
      again(event) {
        acknowledged.delete(String(event));
        void deliver(String(event), texts.at(-1) ?? "");
      },
      isAcknowledged: (event) => acknowledged.has(String(event)),
      shown: receiver.shown,
      refusals: {
        slowDown: () => receiver.refuse(429, { "retry-after": "7" }),
        temporary: () => receiver.refuse(503),
        refused: () => receiver.refuse(410),
      },
      hang: receiver.hang,
      open: receiver.open,
      async pass(ms) {
        await clock.advance(ms);
        for (const [id, text] of waiting) void deliver(id, text);
      },
      async close() {},
    },
  };
}

channelContract("webhook", subject, { permission: definition.admits, origin: "api" });
