/**
 * Telegram's Bot API on loopback, for one bot: it takes calls as the documents say, refuses what they forbid,
 * hands out what people say by polls or by webhook, and shows what the bot did.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Chat, createChats, Refused, readUpload, type ShownMessage } from "./telegram-chats.ts";
import { readCall, type TelegramCall } from "./telegram-request.ts";
import { createUpdates, type Updates } from "./telegram-updates.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What becomes of one call in the place of what should. */
export type TelegramFault =
  /** A refusal of the Bot API. */
  | { readonly code: number; readonly description: string; readonly parameters?: Fields }
  /** Something that is none of its answers, such as a gateway's page. */
  | { readonly status: number; readonly body: string }
  /** No answer until the client goes. */
  | "hang"
  /** The connection breaks before, or after, the call did what it does. */
  | "drop"
  | "dropAfter"
  /** The call waits for this and then does what it does. */
  | { readonly until: Promise<void> };

export interface LoggedCall {
  readonly method: string;
  readonly fields: Fields;
}

export interface TelegramServerOptions {
  readonly token?: string;
  readonly username?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Of the first update. */
  readonly firstUpdate?: number;
  /** Before an update that a webhook did not take is pushed again; the platform waits a second. */
  readonly retryMs?: number;
  /** More messages than these in a chat are refused with 429. */
  readonly flood?: { readonly messages: number; readonly perMs: number };
  readonly onCall?: (call: LoggedCall) => void;
}

/** A message in words, or with the fields that matter: `{ caption, photo, media_group_id, from, … }`. */
type Said = string | Fields;

interface SaidMessage {
  /** `undefined` when the bot does not want such updates. */
  readonly updateId: number | undefined;
  readonly messageId: number;
}

export interface TelegramServer {
  /** For `apiRoot`. */
  readonly url: string;
  readonly token: string;
  readonly bot: { readonly id: number; readonly username: string };
  /** Every call with the right token, in the order in which they came. */
  readonly calls: readonly LoggedCall[];
  readonly updates: Omit<Updates, "add" | "poll" | "setWebhook" | "allow" | "close">;
  /** Somebody says something in a chat: whoever the private chat is with, or Alice (1001) in groups. */
  say(chatId: number, what: Said): SaidMessage;
  /** Any other kind of update. */
  update(kind: string, content: Fields, chatId: number): number | undefined;
  /** Somebody presses the last button of this label in a chat. */
  press(chatId: number, label: string, from?: Fields): number | undefined;
  /** What the bot shows in a chat, in order. */
  sent(chatId: number): readonly ShownMessage[];
  reactions(chatId: number, messageId: number): readonly string[];
  /** A file of somebody, to be put into a message: `bytes` of it, or only how large it is. */
  file(content: Uint8Array | number, name?: string): Fields;
  /** Lets the bot write to somebody who has said nothing. */
  meet(chatId: number, description?: Fields): void;
  block(chatId: number): void;
  migrate(chatId: number, to: number): void;
  closeTopic(chatId: number, thread: number): void;
  /** The next calls of a method, or of any with `*`, go wrong like this, one after the other. */
  fail(method: string, ...faults: readonly TelegramFault[]): void;
  /** From now on the token is worth nothing. */
  revokeToken(): void;
  /** Resolves when a method was called that often in all. */
  called(method: string, times: number): Promise<void>;
  /** How many calls are open now. */
  readonly open: number;
  close(): Promise<void>;
}

const ALICE = { id: 1001, is_bot: false, first_name: "Alice", username: "alice" };
const LARGEST_FILE = 20 * 1024 * 1024;
const MEDIA = ["photo", "animation", "voice", "audio", "video", "document"] as const;

export async function startTelegramServer({
  token = "123456789:AAFakeFakeFakeFakeFakeFakeFakeFakeFake",
  username = "ourbot",
  port = 0,
  firstUpdate = 100,
  retryMs = 1_000,
  flood,
  onCall,
}: TelegramServerOptions = {}): Promise<TelegramServer> {
  const bot = { id: Number(token.split(":")[0]), is_bot: true, first_name: "Our bot", username };
  const chats = createChats(bot);
  const updates = createUpdates({ firstId: firstUpdate, retryMs });
  const calls: LoggedCall[] = [];
  const counts = new Map<string, number>();
  const waiters: { method: string; times: number; resolve: () => void }[] = [];
  const faults = new Map<string, TelegramFault[]>();
  const files = new Map<string, { size: number; bytes: Uint8Array | undefined; path: string }>();
  const presses = new Set<string>();
  const sendTimes = new Map<number, number[]>();
  let isRevoked = false;
  let open = 0;
  let lastKey = 0;

  function log(call: LoggedCall): void {
    calls.push(call);
    counts.set(call.method, (counts.get(call.method) ?? 0) + 1);
    onCall?.(call);
    for (const { method, times, resolve } of waiters) if ((counts.get(method) ?? 0) >= times) resolve();
  }

  function checkFlood(fields: Fields): void {
    if (flood === undefined) return;
    const chatId = Number(fields["chat_id"]);
    const now = performance.now();
    const recent = (sendTimes.get(chatId) ?? []).filter((time) => time > now - flood.perMs);
    const [oldest] = recent;
    if (oldest !== undefined && recent.length >= flood.messages) {
      const seconds = Math.max(1, Math.ceil((oldest + flood.perMs - now) / 1_000));
      throw new Refused(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
    }
    sendTimes.set(chatId, [...recent, now]);
  }

  function sendMedia(kind: (typeof MEDIA)[number], { fields, files: attached }: TelegramCall): Fields {
    const name = String(fields[kind] ?? "").replace("attach://", "");
    return chats.send(fields, readUpload(kind, attached.get(name)));
  }

  function setWebhook(fields: Fields): true {
    const url = URL.parse(String(fields["url"] ?? ""));
    const isLocal = url?.protocol === "http:" && url.hostname === "127.0.0.1";
    if (url === null || (url.protocol !== "https:" && !isLocal)) {
      throw new Refused(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook");
    }
    const secret = fields["secret_token"] as string | undefined;
    if (secret !== undefined && !/^[A-Za-z0-9_-]{1,256}$/.test(secret)) {
      throw new Refused(400, "Bad Request: secret token contains unallowed characters");
    }
    updates.allow(fields["allowed_updates"] as string[] | undefined);
    const maxConnections = Number(fields["max_connections"] ?? 40);
    const drop = fields["drop_pending_updates"] === true;
    updates.setWebhook({ url: String(fields["url"]), secret, maxConnections }, { drop });
    return true;
  }

  function webhookInfo(): Fields {
    const { webhook, waiting, lastError } = updates;
    return {
      url: webhook?.url ?? "",
      has_custom_certificate: false,
      pending_update_count: waiting.length,
      ...(webhook === undefined ? {} : { max_connections: webhook.maxConnections }),
      ...(lastError === undefined
        ? {}
        : { last_error_date: Math.floor(lastError.at / 1_000), last_error_message: lastError.message }),
    };
  }

  function getFile({ file_id: id }: Fields): Fields {
    const file = files.get(String(id));
    if (file === undefined) throw new Refused(400, "Bad Request: invalid file_id");
    if (file.size > LARGEST_FILE) throw new Refused(400, "Bad Request: file is too big");
    return { file_id: id, file_unique_id: id, file_size: file.size, file_path: file.path };
  }

  function setCommands({ commands }: Fields): true {
    for (const { command, description } of commands as { command: string; description: string }[]) {
      if (!/^[a-z0-9_]{1,32}$/.test(command)) throw new Refused(400, "Bad Request: BOT_COMMAND_INVALID");
      if (description === "" || description.length > 256) {
        throw new Refused(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID");
      }
    }
    return true;
  }

  function answerPress({ callback_query_id: id }: Fields): true {
    if (presses.delete(String(id))) return true;
    throw new Refused(
      400,
      "Bad Request: query is too old and response timeout expired or query ID is invalid",
    );
  }

  const methods: Readonly<Record<string, (call: TelegramCall) => unknown>> = {
    getMe: () => bot,
    getFile: ({ fields }) => getFile(fields),
    setWebhook: ({ fields }) => setWebhook(fields),
    getWebhookInfo: () => webhookInfo(),
    deleteWebhook({ fields }) {
      updates.setWebhook(undefined, { drop: fields["drop_pending_updates"] === true });
      return true;
    },
    sendMessage({ fields }) {
      checkFlood(fields);
      return chats.send(fields);
    },
    ...Object.fromEntries(
      MEDIA.map((kind) => [
        `send${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
        (call: TelegramCall) => sendMedia(kind, call),
      ]),
    ),
    editMessageText({ fields }) {
      checkFlood(fields);
      return chats.edit(fields);
    },
    sendChatAction: ({ fields }) => chats.act(fields),
    setMessageReaction: ({ fields }) => chats.react(fields),
    answerCallbackQuery: ({ fields }) => answerPress(fields),
    setMyCommands: ({ fields }) => setCommands(fields),
  };

  function reply(response: ServerResponse, status: number, body: Fields): void {
    if (response.destroyed || response.writableEnded) return;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  }

  function refuse(response: ServerResponse, { code, message, parameters }: Refused): void {
    const body = { ok: false, error_code: code, description: message };
    reply(response, code, parameters === undefined ? body : { ...body, parameters });
  }

  async function getUpdates({ fields }: TelegramCall, response: ServerResponse): Promise<void> {
    updates.allow(fields["allowed_updates"] as string[] | undefined);
    const gone = new Promise<void>((resolve) => response.on("close", resolve));
    await updates.poll(
      {
        offset: Number(fields["offset"] ?? 0),
        limit: Number(fields["limit"] ?? 100),
        answer: (result) => reply(response, 200, { ok: true, result }),
        conflict: (description) => refuse(response, new Refused(409, description)),
        gone,
      },
      Number(fields["timeout"] ?? 0) * 1_000,
    );
  }

  function nextFault(method: string): TelegramFault | undefined {
    return faults.get(method)?.shift() ?? faults.get("*")?.shift();
  }

  /** Whether the call is done with. */
  async function goWrong(fault: TelegramFault | undefined, response: ServerResponse): Promise<boolean> {
    if (fault === undefined || fault === "dropAfter") return false;
    if (fault === "hang") return true;
    if (fault === "drop") {
      response.destroy();
      return true;
    }
    if ("until" in fault) {
      await fault.until;
      return false;
    }
    if ("code" in fault) refuse(response, new Refused(fault.code, fault.description, fault.parameters));
    else response.writeHead(fault.status, { "content-type": "text/html" }).end(fault.body);
    return true;
  }

  async function call(method: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const read = await readCall(request);
    log({ method, fields: read.fields });
    const fault = nextFault(method);
    if (await goWrong(fault, response)) return;
    if (method === "getUpdates") return getUpdates(read, response);
    const run = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (run === undefined) return refuse(response, new Refused(404, "Not Found: method not found"));
    try {
      const result = run(read);
      if (fault === "dropAfter") response.destroy();
      else reply(response, 200, { ok: true, result });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refuse(response, error);
    }
  }

  async function download(path: string, response: ServerResponse): Promise<void> {
    log({ method: "download", fields: { path } });
    if (await goWrong(nextFault("download"), response)) return;
    const file = [...files.values()].find((candidate) => candidate.path === path);
    if (file?.bytes === undefined) refuse(response, new Refused(404, "Not Found"));
    else response.writeHead(200, { "content-type": "application/octet-stream" }).end(file.bytes);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, fileRoot, given = "", rest = ""] =
      /^(\/file)?\/bot([^/]*)\/([^?]*)/.exec(decodeURIComponent(request.url ?? "")) ?? [];
    if (!/^\d+:[\w-]+$/.test(given)) return refuse(response, new Refused(404, "Not Found"));
    if (given !== token || isRevoked) return refuse(response, new Refused(401, "Unauthorized"));
    return fileRoot === undefined ? call(rest, request, response) : download(rest, response);
  }

  const server = createServer((request, response) => {
    open++;
    response.on("close", () => {
      open--;
    });
    serve(request, response).catch((error: unknown) => {
      response.destroy();
      throw error;
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: actualPort } = server.address() as AddressInfo;

  function userOf(chat: Chat): Fields {
    if (chat.id < 0) return ALICE;
    return { id: chat.id, is_bot: false, first_name: `User ${chat.id}`, username: `user${chat.id}` };
  }

  return {
    url: `http://127.0.0.1:${actualPort}`,
    token,
    bot,
    calls,
    updates,

    say(chatId, what) {
      const said: Fields = typeof what === "string" ? { text: what } : what;
      const chat = chats.meet(chatId, said["chat"] as Fields | undefined);
      const messageId = chat.nextMessageId++;
      chat.known.add(messageId);
      if (said["is_topic_message"] === true) chat.threads.add(Number(said["message_thread_id"]));
      const message = {
        message_id: messageId,
        date: Math.floor(Date.now() / 1_000),
        from: userOf(chat),
        ...marked(said, "text", "entities"),
        ...marked(said, "caption", "caption_entities"),
        ...said,
        chat: chat.description,
      };
      return { updateId: updates.add("message", message, chatId), messageId };
    },

    update: (kind, content, chatId) => updates.add(kind, content, chatId),

    press(chatId, label, from) {
      const chat = chats.meet(chatId);
      const shown = chat.shown.findLast(({ buttons }) => buttons.flat().includes(label));
      const keyboard = shown && (chat.keyboards.get(shown.messageId) as Keyboard | undefined);
      const button = keyboard?.inline_keyboard.flat().find(({ text }) => text === label);
      if (shown === undefined || button?.callback_data === undefined) {
        throw new Error(`There is no button "${label}" to press in ${chatId}`);
      }
      const id = `${++lastKey}`;
      presses.add(id);
      const { messageId, text, thread } = shown;
      const message = {
        message_id: messageId,
        date: Math.floor(Date.now() / 1_000),
        chat: chat.description,
        from: bot,
        text,
        reply_markup: keyboard,
        ...(thread === undefined ? {} : { message_thread_id: thread, is_topic_message: true }),
      };
      const data = button.callback_data;
      const press = { id, from: from ?? userOf(chat), chat_instance: `${chatId}`, message, data };
      return updates.add("callback_query", press, chatId);
    },

    sent: (chatId) => chats.find(chatId)?.shown ?? [],
    reactions: (chatId, messageId) => chats.find(chatId)?.reactions.get(messageId) ?? [],

    file(content, name) {
      const id = `file-${++lastKey}`;
      const size = typeof content === "number" ? content : content.length;
      const bytes = typeof content === "number" ? undefined : content;
      files.set(id, { size, bytes, path: `documents/${id}` });
      return {
        file_id: id,
        file_unique_id: id,
        file_size: size,
        ...(name === undefined ? {} : { file_name: name }),
      };
    },

    meet: (chatId, description) => void chats.meet(chatId, description),
    block(chatId) {
      chats.meet(chatId).isBlocked = true;
    },
    migrate(chatId, to) {
      chats.meet(to);
      chats.meet(chatId).movedTo = to;
    },
    closeTopic: (chatId, thread) => void chats.meet(chatId).threads.delete(thread),
    fail(method, ...added) {
      faults.set(method, [...(faults.get(method) ?? []), ...added]);
    },
    revokeToken() {
      isRevoked = true;
    },
    called(method, times) {
      if ((counts.get(method) ?? 0) >= times) return Promise.resolve();
      return new Promise((resolve) => waiters.push({ method, times, resolve }));
    },
    get open() {
      return open;
    },
    async close() {
      updates.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

interface Keyboard {
  readonly inline_keyboard: readonly (readonly { text: string; callback_data?: string }[])[];
}

/** Commands and names are marked as people's apps do it. */
function marked(said: Fields, textKey: string, entitiesKey: string): Fields {
  const text = said[textKey];
  if (typeof text !== "string") return {};
  const entities = [...text.matchAll(/(?<![\w@/])(?:\/[a-z0-9_]{1,32}(?:@\w+)?|@\w{3,})/gi)].map((match) => ({
    type: match[0].startsWith("/") ? "bot_command" : "mention",
    offset: match.index,
    length: match[0].length,
  }));
  return entities.length === 0 ? {} : { [entitiesKey]: entities };
}
