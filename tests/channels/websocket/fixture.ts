/** The websocket channel in the hands of a test, and clients that remember what they heard. */

import * as v from "valibot";
import { channel as definition } from "../../../src/channels/websocket/channel.ts";
import { config as schema } from "../../../src/channels/websocket/config.ts";
import type { Channel, OutboundPart } from "../../../src/core/channel.ts";
import type { HttpInfo, Socket, SocketHandler } from "../../../src/core/http.ts";
import type { FinalMessage, InboundId, TransientMessage } from "../../../src/core/messages.ts";
import { never } from "../../../src/lib/abort.ts";
import { outboundDelta, outboundFinal } from "../../fakes/messages.ts";
import { createContext, type FakeContext } from "../webhook/context.ts";

export const TOKEN = "a-token-of-the-tests";

export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

export interface FakeClient {
  readonly frames: readonly Frame[];
  /** Why it was closed; `undefined` as long as it is open. */
  readonly closed: number | undefined;
  /** What it has not taken yet. */
  buffered: number;
  say(frame: unknown): void;
  /** The same as it is. */
  raw(text: string): void;
  /** Says it and resolves to what is heard next. */
  ask(frame: unknown): Promise<Frame>;
  /** Resolves to the frame with this index. */
  frame(index: number): Promise<Frame>;
  leave(): void;
}

export interface Setup extends FakeContext {
  readonly channel: Channel;
  knock(headers?: Readonly<Record<string, string>>, path?: string): Promise<Knock>;
  /** A client that is let in. */
  connect(): Promise<FakeClient>;
  /** One that has said hello. */
  join(chat?: string, after?: number): Promise<FakeClient>;
  final(content: string, rest?: Partial<FinalMessage> & { key?: string }): Promise<string>;
  show(kind: TransientMessage["kind"], content: string, chatId?: string): Promise<void>;
}

interface Knock {
  readonly response: Response;
  readonly client: FakeClient | undefined;
  readonly protocol: string | undefined;
  readonly maxBytes: number | undefined;
}

type Config = Partial<v.InferInput<typeof schema>>;

export async function setUp(
  config: Config = {},
  options: Parameters<typeof createContext>[0] = {},
): Promise<Setup> {
  const fake = createContext(options);
  const channel = await definition.create(v.parse(schema, { token: TOKEN, ...config }), fake.context);
  let keys = 0;

  async function knock(headers: Readonly<Record<string, string>> = {}, path = "/ws"): Promise<Knock> {
    const [route] = channel.routes ?? [];
    if (route === undefined) throw new Error("there is no route");
    let made: Omit<Knock, "response"> = { client: undefined, protocol: undefined, maxBytes: undefined };
    const upgrade: HttpInfo["upgrade"] = (handler, { protocol, maxBytes }) => {
      if (headers["upgrade"] === "none") return undefined;
      made = { client: createClient(handler), protocol, maxBytes };
      // What stands for the answer that the runtime gives.
      return new Response(null, { status: 200, headers: { "x-upgraded": "yes" } });
    };
    const request = new Request(`http://127.0.0.1${path}`, { headers });
    const response = await route.fetch(request, { peer: "127.0.0.1", client: "127.0.0.1", upgrade });
    return { response, ...made };
  }

  async function connect(): Promise<FakeClient> {
    const { client } = await knock({ authorization: `Bearer ${TOKEN}` });
    if (client === undefined) throw new Error("the client was not let in");
    return client;
  }

  return {
    ...fake,
    channel,
    knock,
    connect,
    async join(chat, after) {
      const client = await connect();
      const hello = { type: "hello", ...(chat && { chat }), ...(after !== undefined && { after }) };
      await client.ask(hello);
      return client;
    },
    final(content, { key = `key_${++keys}`, ...rest } = {}) {
      const message = outboundFinal({
        channel: "websocket",
        chatId: "main",
        content,
        turn: turnOf("1"),
        ...rest,
      });
      return channel.send(partOf(message, key), never);
    },
    async show(kind, content, chatId = "main") {
      const message = outboundDelta({ channel: "websocket", chatId, content, kind, turn: turnOf("1") });
      await channel.show?.(message, never);
    },
  };
}

export function turnOf(id: string, chat = "main"): InboundId {
  return `websocket:${chat}:${id}` as InboundId;
}

export function partOf(message: FinalMessage, key: string): OutboundPart {
  const buttons = message.buttons === undefined ? {} : { buttons: message.buttons };
  const content = { kind: "text", text: message.content, isPlain: false, ...buttons } as const;
  return { message, chatId: message.chatId, index: 0, key, content };
}

function createClient(handler: SocketHandler): FakeClient {
  const frames: Frame[] = [];
  let waiters: { index: number; resolve: (frame: Frame) => void }[] = [];
  let closed: number | undefined;
  let buffered = 0;

  const socket: Socket = {
    send(text) {
      if (closed !== undefined) return;
      const frame = JSON.parse(text) as Frame;
      frames.push(frame);
      for (const { index, resolve } of waiters) if (index === frames.length - 1) resolve(frame);
      waiters = waiters.filter(({ index }) => index >= frames.length);
    },
    get buffered() {
      return buffered;
    },
    close(code) {
      if (closed !== undefined) return;
      closed = code;
      // Not at once: the other side must close too.
      queueMicrotask(() => handler.closed(socket));
    },
  };
  handler.open(socket);

  function frame(index: number): Promise<Frame> {
    const found = frames[index];
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => waiters.push({ index, resolve }));
  }

  const say = (what: unknown) => handler.message(socket, JSON.stringify(what));
  return {
    frames,
    get closed() {
      return closed;
    },
    get buffered() {
      return buffered;
    },
    set buffered(bytes) {
      buffered = bytes;
    },
    say,
    raw: (text) => handler.message(socket, text),
    ask(what) {
      const answer = frame(frames.length);
      say(what);
      return answer;
    },
    frame,
    leave: () => handler.closed(socket),
  };
}
