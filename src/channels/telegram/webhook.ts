/** Updates by webhook: the address is told to Telegram and watched, and what comes there is checked and taken. */

import { createHmac } from "node:crypto";
import { type ChannelContext, type ChannelRoute, SendError } from "../../core/channel.ts";
import type { Clock, Log } from "../../core/platform.ts";
import { abortable, limitSignal, never } from "../../lib/abort.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { readBody } from "../../lib/read-body.ts";
import { isSameSecret } from "../../lib/signatures.ts";
import { oneLine } from "../../lib/text.ts";
import type { BotApi } from "./bot-api.ts";
import type { Intake } from "./intake.ts";
import { persist } from "./persist.ts";
import { parseUpdate, WANTED } from "./update.ts";

const SECRET_HEADER = "x-telegram-bot-api-secret-token";
const MOST_BYTES = 1024 * 1024;
const ANSWER_MS = 5_000;
const CHECK_EVERY_MS = 5 * 60_000;

/** The same at every start, and nobody can guess it who does not know the token. */
export function derivedSecret(token: string): string {
  return createHmac("sha256", token).update("nanobot telegram webhook").digest("hex");
}

export interface WebhookOptions {
  readonly api: BotApi;
  readonly url: string;
  readonly secret: string;
  readonly maxConnections: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onConnected: () => void;
  readonly onProblem: (problem: Error) => void;
}

/** Sets the webhook and sees to it that it stays. Rejects when going on is of no use, or with the signal's reason. */
export async function keepWebhook(options: WebhookOptions): Promise<never> {
  const { api, url, secret, maxConnections, clock, log, signal, onConnected, onProblem } = options;
  const again = { clock, signal, onProblem };

  async function set(): Promise<void> {
    await api.call(
      (raw, limited) =>
        raw.setWebhook(
          {
            url,
            secret_token: secret,
            allowed_updates: WANTED,
            max_connections: maxConnections,
            drop_pending_updates: false,
          },
          limited,
        ),
      signal,
    );
    if (!(await isSet())) {
      throw new SendError("temporary", "Telegram took the address of the webhook and does not have it");
    }
  }

  async function isSet(): Promise<boolean> {
    // Without a payload the first parameter is the signal.
    const info = await api.call((raw, limited) => raw.getWebhookInfo(limited), signal);
    const { last_error_date: failedAt = 0, last_error_message: why = "" } = info;
    if (failedAt * 1_000 > clock.now() - CHECK_EVERY_MS) {
      log.warn("Telegram could not reach the webhook", { why: oneLine(why, 200) });
    }
    return info.url === url;
  }

  for (;;) {
    await persist(set, again);
    do {
      onConnected();
      await clock.sleep(CHECK_EVERY_MS, signal);
    } while (await persist(isSet, again));
  }
}

export interface WebhookRouteOptions {
  readonly secret: string;
  /** `undefined` while nothing can be taken. */
  readonly intake: () => Pick<Intake, "takeAtOnce"> | undefined;
  readonly context: Pick<ChannelContext, "clock" | "log" | "heard">;
}

const answer = (status: number) => new Response(null, { status });

export function webhookRoute({ secret, intake, context }: WebhookRouteOptions): ChannelRoute {
  const { clock, log, heard } = context;

  /** Nobody waits for the turn: what is safe is told to be. */
  async function take(body: Uint8Array): Promise<Response> {
    const update = parseUpdate(parseJson(new TextDecoder().decode(body)));
    if (update === undefined) return answer(400);
    const open = intake();
    if (open === undefined) return answer(503);
    heard();
    const limit = limitSignal(never, { clock, ms: ANSWER_MS, reason: () => new Error("It took too long") });
    try {
      await abortable(open.takeAtOnce(update), limit.signal);
      return answer(200);
    } catch (error) {
      // Telegram sends it again.
      log.warn("Could not take an update of Telegram yet", { error });
      return answer(503);
    } finally {
      limit.release();
    }
  }

  return {
    path: "",
    async fetch(request) {
      if (request.method !== "POST") return answer(405);
      if (!isSameSecret(request.headers.get(SECRET_HEADER) ?? "", secret)) return answer(401);
      const body = await readBody(request, { maxBytes: MOST_BYTES, clock });
      return body.ok ? take(body.bytes) : answer(body.status);
    },
  };
}
