/** The other end of each WebSocket: what a client says, one thing after the other. */

import type { ChannelContext } from "../../core/channel.ts";
import type { Socket, SocketHandler } from "../../core/http.ts";
import type { InboundId, InboundMessage } from "../../core/messages.ts";
import { limitSignal, never } from "../../lib/abort.ts";
import { wellFormed } from "../../lib/text.ts";
import { type Hub, TRY_AGAIN_LATER } from "./hub.ts";
import { type ClientFrame, parseFrame, USUAL_CHAT } from "./protocol.ts";
import type { Timeline } from "./timeline.ts";

const EMIT_MS = 5_000;
/** UTF-16 units that one client may have waiting, and what a frame counts for beside its text. */
const MOST_WAITING = 4 * 1024 * 1024;
const OVERHEAD = 1_000;

const GOING_AWAY = 1001;

export interface ClientsOptions {
  readonly hub: Hub;
  readonly timeline: () => Promise<Timeline>;
  readonly maxClients: number;
  readonly maxMessageBytes: number;
  readonly ports: Pick<ChannelContext, "emit" | "heard" | "clock" | "ids" | "log">;
}

export interface Clients {
  readonly handler: SocketHandler;
  /** No more are taken. */
  isFull(): boolean;
  closeAll(): void;
}

interface Client {
  chat: string | undefined;
  /** Settles when all that it said was dealt with. */
  work: Promise<void>;
  waiting: number;
}

export function createClients(options: ClientsOptions): Clients {
  const { hub, timeline, maxClients, maxMessageBytes, ports } = options;
  const { emit, heard, clock, ids, log } = ports;
  const clients = new Map<Socket, Client>();

  async function join(socket: Socket, client: Client, chat: string, after?: number): Promise<void> {
    const past = await timeline();
    const latest = past.latest(chat);
    client.chat = chat;
    hub.leave(socket);
    hub.tell(socket, { type: "ready", chat, seq: latest });
    const isGap = after !== undefined && past.isGap(chat, after);
    // Numbers from nowhere mean that all that is kept may be news.
    const known = isGap && after > latest ? 0 : (after ?? latest);
    if (isGap) hub.tell(socket, { type: "gap", oldest: past.after(chat, known)[0]?.seq ?? latest });
    hub.join(socket, chat, known, past);
  }

  function messageFor(chat: string, id: string, content: string): InboundMessage {
    return {
      id: `websocket:${chat}:${id}` as InboundId,
      kind: "message",
      channel: "websocket",
      // Whoever has the token may talk, so that nobody is asked whether this sender may.
      senderId: "websocket",
      chatId: chat,
      content: wellFormed(content),
      media: [],
      timestamp: new Date(clock.now()).toISOString(),
      origin: "chat",
      sessionKey: `websocket:${chat}`,
      metadata: {},
    };
  }

  async function put(message: InboundMessage): Promise<boolean> {
    const reason = () => new Error("it took too long to record the message");
    const limit = limitSignal(never, { clock, ms: EMIT_MS, reason });
    try {
      return await emit(message, limit.signal);
    } finally {
      limit.release();
    }
  }

  /** `id` is what the client calls it, if it wants to know. */
  async function take(socket: Socket, message: InboundMessage, id: string | undefined): Promise<void> {
    const named = id === undefined ? {} : { id };
    try {
      const isNew = await put(message);
      if (id !== undefined) hub.tell(socket, { type: "ack", id, ...(isNew ? {} : { duplicate: true }) });
    } catch (error) {
      log.warn("Could not take a message of a client; it is told to try again", { id: message.id, error });
      hub.tell(socket, {
        type: "error",
        ...named,
        message: "The message was not taken. Send it again later",
      });
    }
  }

  async function act(socket: Socket, client: Client, frame: ClientFrame): Promise<void> {
    switch (frame.type) {
      case "ping":
        return hub.tell(socket, { type: "pong" });
      case "hello":
        return join(socket, client, frame.chat, frame.after);
      case "message":
      case "stop": {
        if (client.chat === undefined) await join(socket, client, USUAL_CHAT);
        const chat = client.chat ?? USUAL_CHAT;
        const message =
          frame.type === "message"
            ? messageFor(chat, frame.id, frame.content)
            : // A colon is in no id of a client's message.
              messageFor(chat, `stop:${frame.id ?? ids.next()}`, "/stop");
        return take(socket, message, frame.id);
      }
    }
  }

  async function handle(socket: Socket, client: Client, text: string): Promise<void> {
    // Gone before its turn came: what was not acknowledged is sent again.
    if (!clients.has(socket)) return;
    const parsed = parseFrame(text);
    if (!parsed.ok) {
      const named = parsed.id === undefined ? {} : { id: parsed.id };
      return hub.tell(socket, { type: "error", ...named, message: parsed.problem });
    }
    try {
      await act(socket, client, parsed.frame);
    } catch (error) {
      log.error("A client of the websocket channel was failed", { error });
      socket.close(TRY_AGAIN_LATER, "something failed here; connect again");
    }
  }

  const handler: SocketHandler = {
    open(socket) {
      clients.set(socket, { chat: undefined, work: Promise.resolve(), waiting: 0 });
      // Several can be let in before the first of them is here.
      if (clients.size > maxClients) socket.close(TRY_AGAIN_LATER, "too many clients");
    },
    message(socket, text) {
      const client = clients.get(socket);
      if (client === undefined) return;
      heard();
      const size = text.length + OVERHEAD;
      // One frame alone is as large as it may be.
      if (client.waiting > 0 && client.waiting + size > Math.max(MOST_WAITING, maxMessageBytes)) {
        return socket.close(TRY_AGAIN_LATER, "too much at once; wait until it is acknowledged");
      }
      client.waiting += size;
      client.work = client.work
        .then(() => handle(socket, client, text))
        .finally(() => {
          client.waiting -= size;
        });
    },
    closed(socket) {
      hub.leave(socket);
      clients.delete(socket);
    },
  };

  return {
    handler,
    isFull: () => clients.size >= maxClients,
    closeAll() {
      for (const socket of clients.keys()) socket.close(GOING_AWAY, "the server ends");
    },
  };
}
