/** Posts an answer to the address that a hook names, signed as the hook's own events are. */

import { type ChannelContext, type OutboundPart, SendError } from "../../core/channel.ts";
import type { FinalMessage } from "../../core/messages.ts";
import { limitSignal } from "../../lib/abort.ts";
import type { Answer } from "./answers.ts";
import type { Hook } from "./hooks.ts";
import { sign } from "./signature.ts";

const TIMEOUT_MS = 30_000;
const USUAL_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 60 * 60 * 1000;

export interface Reply {
  readonly hook: Hook & { readonly reply: NonNullable<Hook["reply"]> };
  readonly part: OutboundPart;
  readonly message: FinalMessage;
  readonly answer: Answer;
}

type Ports = Pick<ChannelContext, "fetch" | "clock">;

/** Rejects with a `SendError`, or with the signal's reason. */
export async function postReply(
  { hook, part, message, answer }: Reply,
  { fetch, clock }: Ports,
  signal: AbortSignal,
): Promise<void> {
  const limit = limitSignal(signal, {
    clock,
    ms: TIMEOUT_MS,
    reason: () => new Error("no answer came in time"),
  });
  const body = JSON.stringify({
    id: message.id,
    inReplyTo: message.turn,
    name: hook.name,
    chatId: part.chatId,
    ...answer,
  });
  const { url, secret } = hook.reply;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": part.key,
        ...sign(hook.scheme, body, { id: part.key, secret, now: clock.now() }),
      },
      body,
      // Whoever it leads to is not whom the answer is meant for.
      redirect: "error",
      signal: limit.signal,
    });
    // Nobody reads what it says, so it may be as long as it likes.
    await response.body?.cancel();
    check(response, hook.name, clock.now());
  } catch (error) {
    if (error instanceof SendError || signal.aborted) throw error;
    throw new SendError("temporary", `the reply address of the hook "${hook.name}" cannot be reached`, {
      cause: error,
    });
  } finally {
    limit.release();
  }
}

function check({ ok, status, headers }: Response, name: string, now: number): void {
  if (ok) return;
  const message = `the reply address of the hook "${name}" answered with status ${status}`;
  if (status === 429) throw new SendError("slowDown", message, { retryAfterMs: retryAfterOf(headers, now) });
  const isPassing = status >= 500 || status === 408 || status === 425;
  throw new SendError(isPassing ? "temporary" : "refused", message);
}

/** Seconds, or a date. */
function retryAfterOf(headers: Headers, now: number): number {
  const value = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? USUAL_WAIT_MS : Math.min(Math.max(0, ms), LONGEST_WAIT_MS);
}
