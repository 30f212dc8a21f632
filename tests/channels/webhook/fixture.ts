/** The webhook channel in the hands of a test, and callers that sign as the platforms do. */

import { createHmac } from "node:crypto";
import * as v from "valibot";
import { channel as definition } from "../../../src/channels/webhook/channel.ts";
import { config as schema } from "../../../src/channels/webhook/config.ts";
import type { Channel, OutboundPart } from "../../../src/core/channel.ts";
import type { HttpInfo } from "../../../src/core/http.ts";
import type { FinalMessage, InboundId } from "../../../src/core/messages.ts";
import { never } from "../../../src/lib/abort.ts";
import { outboundFinal } from "../../fakes/messages.ts";
import { createContext, type FakeContext } from "./context.ts";

export const SECRET = "a-secret-of-the-tests";
export const STANDARD_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** Everybody comes from this machine, as behind a tunnel. */
const info: HttpInfo = { peer: "127.0.0.1", client: "127.0.0.1", upgrade: () => undefined };

type Hook = Partial<NonNullable<v.InferInput<typeof schema>["hooks"]>[string]>;

export interface Setup extends FakeContext {
  readonly channel: Channel;
  fetch(request: Request): Promise<Response>;
  /** Answers the message with this index. */
  answer(index: number, content: string, rest?: Partial<FinalMessage>): Promise<string>;
}

export async function setUp(
  hooks: Readonly<Record<string, Hook>> = { ci: {} },
  options: Parameters<typeof createContext>[0] = {},
): Promise<Setup> {
  const fake = createContext(options);
  const whole = Object.entries(hooks).map(([name, hook]) => [
    name,
    { secret: hook.scheme === "standard" ? STANDARD_SECRET : SECRET, scheme: "bearer", ...hook },
  ]);
  const config = v.parse(schema, { hooks: Object.fromEntries(whole) });
  const channel = await definition.create(config, fake.context);
  const [route] = channel.routes ?? [];
  return {
    ...fake,
    channel,
    fetch: (request) => route?.fetch(request, info) ?? Promise.reject(new Error("there is no route")),
    answer(index, content, rest = {}) {
      const message = fake.inbox[index];
      if (message === undefined) throw new Error("there is no such message");
      return channel.send(partOf(finalFor(message.id, message.chatId, content, rest)), never);
    },
  };
}

export function finalFor(
  turn: InboundId,
  chatId: string,
  content: string,
  rest: Partial<FinalMessage> = {},
): FinalMessage {
  return outboundFinal({ id: `${turn}/final`, turn, channel: "webhook", chatId, content, ...rest });
}

export function partOf(message: FinalMessage, rest: Partial<OutboundPart> = {}): OutboundPart {
  const content = { kind: "text", text: message.content, isPlain: false } as const;
  return { message, chatId: message.chatId, index: 0, key: "key_0", content, ...rest };
}

type Body = string | Uint8Array<ArrayBuffer>;

export function post(name: string, body: Body, headers: Readonly<Record<string, string>> = {}): Request {
  const all = { "content-type": "application/json", ...headers };
  return new Request(`http://127.0.0.1/webhook/in/${name}`, { method: "POST", body, headers: all });
}

export function bearer(name: string, body: Body, headers: Readonly<Record<string, string>> = {}): Request {
  return post(name, body, { authorization: `Bearer ${SECRET}`, ...headers });
}

const mac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text);

export function github(name: string, body: string, headers: Readonly<Record<string, string>> = {}): Request {
  return post(name, body, {
    "x-hub-signature-256": `sha256=${mac(SECRET, body).digest("hex")}`,
    "x-github-event": "push",
    ...headers,
  });
}

export function slack(name: string, body: string, seconds: number): Request {
  return post(name, body, {
    "x-slack-request-timestamp": `${seconds}`,
    "x-slack-signature": `v0=${mac(SECRET, `v0:${seconds}:${body}`).digest("hex")}`,
  });
}

export function standard(name: string, body: string, id: string, seconds: number): Request {
  const key = Buffer.from(STANDARD_SECRET.slice("whsec_".length), "base64");
  return post(name, body, {
    "webhook-id": id,
    "webhook-timestamp": `${seconds}`,
    "webhook-signature": `v1,${mac(key, `${id}.${seconds}.${body}`).digest("base64")}`,
  });
}
