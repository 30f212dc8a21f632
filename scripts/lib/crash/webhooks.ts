/** Programs that send messages to webhooks, and take the answers once each, as idempotent platforms do. */

import type { Ledger, Said } from "./ledger.ts";
import { askFor, type Request } from "./marks.ts";
import { createRandom } from "./random.ts";

/** What the program is told in its configuration. */
const HOOK = "crash";
const SECRET = "secret-of-the-crash-hook";

export interface WebhooksOptions {
  readonly ledger: Ledger;
  readonly seed: number;
  /** Where the program listens. */
  readonly baseUrl: string;
  /** The probability that an answer is not taken at once. */
  readonly failures: number;
  happened(what: "posted" | "accepted" | "delivering" | "delivered"): void;
}

export interface Webhooks {
  /** The `channels.webhook` section. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Sends in the order of the calls, one chat beside the other, again and again until it is accepted. */
  say(said: Said): void;
  /** Messages that came again with a key that was known, and were dropped. */
  readonly repeats: number;
  /** Answers by their status that were neither a yes nor a "come again". */
  readonly refusals: readonly string[];
  /** How often it was said to come again. */
  readonly busy: number;
  close(): Promise<void>;
}

const RETRY_MS = 40;
/** Events are large, so that the journal is made smaller every hundred or so. */
const PADDING = "There is more to say. ".repeat(400);
/** Somebody who got no answer asks again. */
const PATIENCE_MS = 15_000;
/** So often a platform sends again what was accepted. */
const REDELIVERED = 0.05;
const KEPT_REFUSALS = 100;

export function startWebhooks({ ledger, seed, baseUrl, failures, happened }: WebhooksOptions): Webhooks {
  const queues = new Map<string, Promise<void>>();
  const keys = new Set<string>();
  const failed = new Map<string, number>();
  const refusals: string[] = [];
  const ending = new AbortController();
  let repeats = 0;
  let busy = 0;

  async function post(key: string, chat: string, text: string): Promise<number> {
    happened("posted");
    const response = await fetch(`${baseUrl}/webhook/in/${HOOK}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${SECRET}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ chat, text }),
      signal: AbortSignal.any([ending.signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    await response.text();
    return response.status;
  }

  /** Resolves when the program has it. */
  async function deliver(said: Said, request: Request): Promise<void> {
    const key = `event-${request.number}`;
    const text = `${askFor(request)}\n${PADDING}`;
    while (!ending.signal.aborted) {
      // A connection that fails is what a kill looks like from here.
      const status = await post(key, said.chat, text).catch(() => 0);
      if (status >= 200 && status < 300) break;
      if (status === 503) busy += 1;
      else if (status !== 0 && refusals.length < KEPT_REFUSALS)
        refusals.push(`${status} to ${key} in ${said.chat}`);
      await Bun.sleep(RETRY_MS);
    }
    if (ending.signal.aborted) return;
    ledger.accept(said);
    happened("accepted");
    if (createRandom(seed, `again ${key}`).chance(REDELIVERED))
      await post(key, said.chat, text).catch(() => 0);
  }

  function fault(key: string): "before" | "after" | "busy" | undefined {
    const times = failed.get(key) ?? 0;
    const random = createRandom(seed, `platform ${key} ${times}`);
    if (times > 1 || !random.chance(failures)) {
      failed.delete(key);
      return undefined;
    }
    failed.set(key, times + 1);
    return random.pick(["before", "after", "busy"]);
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const key = request.headers.get("idempotency-key") ?? "";
      const { chatId, content } = (await request.json()) as { chatId: string; content: string };
      happened("delivering");
      const wrong = fault(key);
      if (wrong === "before") return new Response("Try again", { status: 500 });
      if (wrong === "busy")
        return new Response("Slow down", { status: 429, headers: { "retry-after": "1" } });
      if (key === "") refusals.push(`an answer without a key in ${chatId}`);
      if (keys.has(key)) repeats += 1;
      else ledger.show(chatId, content);
      keys.add(key);
      // Behind the response, as far as that can be seen from here.
      setImmediate(() => happened("delivered"));
      return wrong === "after" ? new Response("Try again", { status: 502 }) : new Response("ok");
    },
  });

  return {
    config: {
      enabled: true,
      allowFrom: ["*"],
      hooks: {
        [HOOK]: {
          secret: SECRET,
          scheme: "bearer",
          chatId: "{{chat}}",
          sessionKey: "webhook:{{chat}}",
          template: "{{text}}",
          replyUrl: `http://127.0.0.1:${server.port}/answers`,
        },
      },
    },
    say(said) {
      // What comes through a webhook is an event, and never a command.
      const { request } = said;
      if (request === undefined) return;
      const before = queues.get(said.chat) ?? Promise.resolve();
      queues.set(
        said.chat,
        before.then(() => deliver(said, request)),
      );
    },
    get repeats() {
      return repeats;
    },
    refusals,
    get busy() {
      return busy;
    },
    async close() {
      ending.abort();
      await Promise.all(queues.values());
      await server.stop(true);
    },
  };
}
