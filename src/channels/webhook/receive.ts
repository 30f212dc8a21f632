/** Takes one event of a hook: checked before it is looked at, and acknowledged when it is safe. */

import type { ChannelContext } from "../../core/channel.ts";
import type { InboundId, InboundMessage } from "../../core/messages.ts";
import { limitSignal, never } from "../../lib/abort.ts";
import { readBody } from "../../lib/read-body.ts";
import type { Answer, Answers } from "./answers.ts";
import { parseBody } from "./body.ts";
import { LONGEST_WAIT_SECONDS } from "./config.ts";
import { eventIdOf, handshake, kindOf, type ReceivedEvent } from "./event.ts";
import type { Hook, Hooks } from "./hooks.ts";
import { describeEvent } from "./prompt.ts";
import { verify } from "./signature.ts";

const EMIT_MS = 5_000;
const RETRY_AFTER_SECONDS = 5;

type Ports = Pick<ChannelContext, "emit" | "heard" | "clock" | "ids" | "log">;

export interface ReceiverOptions {
  readonly hooks: Hooks;
  readonly answers: Answers;
  readonly ports: Ports;
}

export type Receive = (request: Request) => Promise<Response>;

export function createReceiver({ hooks, answers, ports }: ReceiverOptions): Receive {
  const { emit, heard, clock, ids, log } = ports;
  // The same for every name, so that a body cannot be used to find out which there are.
  const limit = Math.max(0, ...[...hooks.values()].map(({ maxBodyBytes }) => maxBodyBytes));

  function messageOf(hook: Hook, event: ReceivedEvent): InboundMessage {
    const { name, scheme, senderId = name, template, instructions } = hook;
    const { json } = event;
    const eventId = eventIdOf(scheme, event) ?? ids.next();
    return {
      id: `webhook:${name}:${eventId}` as InboundId,
      kind: "message",
      channel: "webhook",
      // A verified secret is the permission, so that nobody is asked whether this sender may talk.
      senderId,
      chatId: hook.chatIdOf(json),
      content: describeEvent({ name, template, instructions, kind: kindOf(scheme, event.headers), json }),
      media: [],
      timestamp: new Date(clock.now()).toISOString(),
      // Not "chat": events are no commands, and each has a turn of its own.
      origin: "api",
      sessionKey: hook.sessionKeyOf(json),
      metadata: {},
    };
  }

  /** Whether the message is new; `undefined` when it could not be made safe. */
  async function put(message: InboundMessage): Promise<boolean | undefined> {
    const deadline = limitSignal(never, {
      clock,
      ms: EMIT_MS,
      reason: () => new Error("it took too long to record the event"),
    });
    try {
      return await emit(message, deadline.signal);
    } catch (error) {
      log.warn("Could not take an event of a webhook; its sender is told to try again", {
        id: message.id,
        error,
      });
      return undefined;
    } finally {
      deadline.release();
    }
  }

  async function take(hook: Hook, event: ReceivedEvent, request: Request): Promise<Response> {
    const message = messageOf(hook, event);
    const isNew = await put(message);
    if (isNew === undefined) {
      return refusal(503, "try again later", { "retry-after": String(RETRY_AFTER_SECONDS) });
    }
    const seconds = preferredWait(request.headers.get("prefer")) ?? hook.wait;
    const answer = await answers.wait(message.id, seconds * 1000, request.signal);
    return answer === undefined ? accepted(message.id, isNew) : answered(message.id, answer);
  }

  return async (request) => {
    if (request.method !== "POST") return refusal(405, "only POST is understood", { allow: "POST" });
    const read = await readBody(request, { maxBytes: limit, clock });
    if (!read.ok) return refusal(read.status, read.reason);
    const { headers } = request;
    const body = read.bytes;
    const hook = hooks.get(nameIn(request));
    const verdict = hook && verify(hook.scheme, { headers, body }, { secret: hook.secret, now: clock.now() });
    // An unknown name and a wrong secret are answered alike, and where the request came from does not matter.
    if (hook === undefined || verdict !== "ok") return refusal(401, "unauthorized");
    heard();
    if (body.length > hook.maxBodyBytes) {
      return refusal(413, `the body has more than ${hook.maxBodyBytes} bytes`);
    }
    // Nobody needs it for events of this size, and a small body could become one of any size.
    if (isEncoded(headers)) {
      return refusal(415, "send the body without a Content-Encoding", { "accept-encoding": "identity" });
    }
    const json = parseBody(body, headers.get("content-type"));
    if (json === undefined) return refusal(400, "the body is no JSON");
    const event = { headers, body, json };
    return handshake(hook.scheme, event) ?? take(hook, event, request);
  };
}

function nameIn(request: Request): string {
  return new URL(request.url).pathname.split("/").at(-1) ?? "";
}

function isEncoded(headers: Headers): boolean {
  return !["", "identity"].includes((headers.get("content-encoding") ?? "").trim().toLowerCase());
}

/** Seconds of the preference `wait`, RFC 7240. */
function preferredWait(header: string | null): number | undefined {
  const seconds = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i.exec(header ?? "")?.[1];
  return seconds === undefined ? undefined : Math.min(Number(seconds), LONGEST_WAIT_SECONDS);
}

function refusal(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers });
}

/** Said again of what came before, and the first time with 202, because its turn is still to come. */
function accepted(id: InboundId, isNew: boolean): Response {
  return Response.json({ status: "accepted", id }, { status: isNew ? 202 : 200 });
}

function answered(id: InboundId, { outcome, content, media }: Answer): Response {
  return Response.json({ status: "answered", id, outcome, content, ...(media.length > 0 && { media }) });
}
