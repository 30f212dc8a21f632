/** The websocket channel: a route that becomes a WebSocket, and chats that clients come back to. */

import { createHash } from "node:crypto";
import { type Channel, type ChannelContext, type OutboundPart, SendError } from "../../core/channel.ts";
import { UserError } from "../../core/errors.ts";
import type { HttpInfo } from "../../core/http.ts";
import type { FinalMessage, StreamEndMessage, TransientMessage } from "../../core/messages.ts";
import { abortable, aborted } from "../../lib/abort.ts";
import { basename, join } from "../../lib/path.ts";
import { isVisible } from "../../lib/text.ts";
import { admission } from "./admission.ts";
import { createClients } from "./clients.ts";
import { SHORTEST_TOKEN, type WebsocketConfig } from "./config.ts";
import { type Finals, openFinals } from "./finals.ts";
import { createHub } from "./hub.ts";
import { type FinalEvent, isChatId } from "./protocol.ts";
import { createTimeline, type Timeline, type Unnumbered } from "./timeline.ts";

interface Opened {
  readonly finals: Finals;
  readonly timeline: Timeline;
}

export function createWebsocket(config: WebsocketConfig, context: ChannelContext): Channel {
  const { files, clock, log, workspace, expand, report } = context;
  const { streaming, maxClients, maxMessageBytes, keepMessages, keepSeconds } = config;
  const rules = {
    token: readToken(config.token, context),
    allowedOrigins: config.allowedOrigins.map((origin, index) =>
      expand(origin, `channels.websocket.allowedOrigins[${index}]`),
    ),
  };
  const hub = createHub(clock);
  const timeline = async () => (await opened()).timeline;
  const clients = createClients({ hub, timeline, maxClients, maxMessageBytes, ports: context });
  let current: Promise<Opened> | undefined;
  let ending = new AbortController();

  async function open(): Promise<Opened> {
    const folder = join(workspace, ".nanobot", "websocket");
    const finals = await openFinals({ files, clock, log, folder, keepMessages, keepSeconds });
    return { finals, timeline: createTimeline({ finals, clock, said: hub.say }) };
  }

  /** The same for everybody until `stop`. */
  function opened(): Promise<Opened> {
    if (current === undefined) {
      const attempt = open();
      current = attempt;
      attempt.catch(() => {
        if (current === attempt) current = undefined;
      });
    }
    return current;
  }

  async function fetch(request: Request, info: HttpInfo): Promise<Response> {
    const admitted = admission(request.headers, rules);
    if (!admitted.ok) return refusal(admitted.status, admitted.reason);
    if (clients.isFull()) return refusal(503, "too many clients", { "retry-after": "30" });
    const { protocol } = admitted;
    const options = { maxBytes: maxMessageBytes, ...(protocol === undefined ? {} : { protocol }) };
    const upgraded = info.upgrade(clients.handler, options);
    return upgraded ?? refusal(426, "connect with a WebSocket", { upgrade: "websocket" });
  }

  return {
    async start(signal) {
      ending = new AbortController();
      const ended = aborted(AbortSignal.any([signal, ending.signal]));
      await opened();
      report({ isConnected: true });
      await ended;
    },

    async stop() {
      ending.abort();
      clients.closeAll();
      const last = current;
      current = undefined;
      // What could not be opened need not be closed, and whoever wanted it has the error.
      const open = await last?.catch(() => undefined);
      await open?.finals.close();
    },

    async send(part, signal) {
      const { message, chatId, content, index, key } = part;
      if (message.kind !== "final") return "";
      // Files are only named, in what goes with the first part.
      if (content.kind === "media" && index > 0) return "";
      if (!isChatId(chatId)) throw new SendError("refused", `no client can be in a chat named "${chatId}"`);
      const said = timeline().then((open) => open.say(chatId, finalOf(part, message, clock.now())));
      try {
        await abortable(said, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        throw new SendError("down", "the answer cannot be kept for clients that come back", { cause: error });
      }
      return key;
    },

    async show(message) {
      const isText = message.kind === "delta" || message.kind === "streamEnd";
      if ((isText && !streaming) || !isChatId(message.chatId)) return;
      await (await timeline()).say(message.chatId, shownOf(message));
    },

    async ended(message) {
      const { id, chatId, content, media, buttons = [], answers } = message;
      const hasParts = isVisible(content) || media.length > 0 || buttons.flat().length > 0;
      if (hasParts || answers.length === 0 || !isChatId(chatId)) return;
      // Nothing was sent of it, and clients wait for the end of the turn.
      const key = createHash("sha256").update(id).digest("base64url");
      const part = {
        message,
        chatId,
        index: 0,
        key,
        content: { kind: "text", text: "", isPlain: false },
      } as const;
      await (await timeline()).say(chatId, finalOf(part, message, clock.now()));
    },

    async showTyping({ chatId }) {
      hub.say(chatId, { type: "typing" });
    },

    routes: [{ path: "/ws", isAbsolute: true, fetch }],
  };
}

function readToken(value: string, { expand, addSecret }: ChannelContext): string {
  const setting = "channels.websocket.token";
  const token = expand(value, setting);
  if (token.length < SHORTEST_TOKEN || /[^\x21-\x7e]/.test(token)) {
    throw new UserError(`Set ${setting} to ${SHORTEST_TOKEN} characters or more, without white space`, {
      hint: "Whoever knows it may do all that you may: make one with `openssl rand -hex 32`",
    });
  }
  addSecret(token);
  return token;
}

function finalOf({ chatId, content, key, index }: OutboundPart, message: FinalMessage, now: number) {
  const { turn, outcome, answers, media } = message;
  const own = `websocket:${chatId}:`;
  const buttons = content.kind === "text" ? content.buttons : message.buttons;
  return {
    type: "final",
    id: key,
    turn,
    at: new Date(now).toISOString(),
    outcome,
    content: content.kind === "text" ? content.text : "",
    answers: answers.flatMap((id) =>
      id.startsWith(own) ? [id.slice(own.length).replace(/^stop:/, "")] : [],
    ),
    ...(media.length > 0 && index === 0
      ? { media: media.map(({ path, mime, name = basename(path) }) => ({ name, mime, path })) }
      : {}),
    ...(buttons === undefined ? {} : { buttons }),
  } satisfies Unnumbered<FinalEvent>;
}

function shownOf(message: TransientMessage | StreamEndMessage): Unnumbered {
  const { turn } = message;
  if (message.kind === "streamEnd") return { type: "streamEnd", turn, resuming: message.resuming };
  return { type: message.kind, turn, content: message.content };
}

function refusal(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers });
}
