/**
 * A Responses server on loopback that says what the test scripted. It refuses what the documented API
 * refuses (`responses-rules.ts`) and logs every request, so that a test can also assert that `invalid`
 * stayed empty. With `chat` it answers chat completions too, with that text.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../src/core/json.ts";
import { streamWrites as chatWrites, joinBytes } from "./chat-reply.ts";
import { type ResponsesReply, responseOf, streamWrites } from "./responses-reply.ts";
import { checkResponsesRequest } from "./responses-rules.ts";

export type { ResponsesReply } from "./responses-reply.ts";

export interface ResponsesServerOptions {
  /** A queue of replies, or a function that chooses one. A request beyond the queue's end is logged as invalid. */
  readonly script: readonly ResponsesReply[] | ((body: JsonObject, index: number) => ResponsesReply);
  /** Up to the protocol's own path. */
  readonly base?: string;
  readonly chat?: string;
}

export interface LoggedResponsesRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As it was sent. */
  readonly text: string;
  /** Empty when the body was no JSON object. */
  readonly body: JsonObject;
  /** Why it was refused before the script was asked. */
  readonly invalid?: string;
}

export interface ResponsesServer {
  readonly url: string;
  /** In the order of their arrival. */
  readonly requests: readonly LoggedResponsesRequest[];
  readonly invalid: readonly LoggedResponsesRequest[];
  close(): Promise<void>;
}

export async function startResponsesServer({
  script,
  base = "/v1",
  chat,
}: ResponsesServerOptions): Promise<ResponsesServer> {
  const requests: LoggedResponsesRequest[] = [];
  const queue = typeof script === "function" ? [] : [...script];
  let valid = 0;
  let calls = 0;

  function nextReply(body: JsonObject): ResponsesReply {
    const reply = typeof script === "function" ? script(body, valid++) : queue.shift();
    return reply ?? refusal(400, "The script has no reply left.");
  }

  function judge(path: string, text: string): ResponsesReply | undefined {
    if (path !== `${base}/responses`) return refusal(404, `Invalid URL (POST ${path})`);
    const violation = checkResponsesRequest(text);
    return violation && refusal(400, violation.message, violation);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    const body = bodyOf(text);
    const path = (request.url ?? "").split("?")[0] ?? "";
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const entry = { path: request.url ?? "", headers, text, body };
    if (chat !== undefined && path.endsWith("/chat/completions")) {
      requests.push(entry);
      return sendChat(response, chat);
    }
    const refused = judge(path, text);
    requests.push(refused ? { ...entry, invalid: messageOf(refused) } : entry);
    const reply = refused ?? nextReply(body);
    await send(response, reply, body["stream"] === true, {
      model: String(body["model"]),
      nextCallId: () => `call_${++calls}`,
    });
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // A script that throws must fail the test that wrote it, and not leave its request open.
      response.destroy();
      throw error;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}${base}`,
    requests,
    get invalid() {
      return requests.filter(({ invalid }) => invalid !== undefined);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** In the shape of the protocol's own vendor. */
export function refusal(
  status: number,
  message: string,
  { param = null, code = null }: { param?: string | null; code?: string | null } = {},
): ResponsesReply {
  return { status, body: { error: { message, type: "invalid_request_error", param, code } } };
}

function messageOf(reply: ResponsesReply): string {
  return (reply.body as { error: { message: string } }).error.message;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return new TextDecoder().decode(joinBytes(chunks));
}

function bodyOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {}; // The rules refuse it with the reason.
  }
}

function sendChat(response: ServerResponse, text: string): void {
  const context = { model: "chat", includeUsage: true, promptTokens: 1, nextCallId: () => "call_chat" };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(joinBytes(chatWrites({ text }, context)));
}

async function send(
  response: ServerResponse,
  reply: ResponsesReply,
  stream: boolean,
  context: { model: string; nextCallId: () => string },
): Promise<void> {
  const encoder = new TextEncoder();
  if (reply.status !== undefined && reply.status !== 200) {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {}));
    return;
  }
  if (!stream || reply.json) {
    response.writeHead(200, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(reply.body ?? responseOf(reply, context)));
    return;
  }
  const { raw } = reply;
  const exact = typeof raw === "string" ? encoder.encode(raw) : raw;
  response.writeHead(200, { "content-type": "text/event-stream", ...reply.headers });
  for (const bytes of exact === undefined ? streamWrites(reply, context) : [exact]) {
    if (response.destroyed) return;
    await new Promise<void>((resolve) => void response.write(bytes, () => resolve()));
  }
  await reply.openUntil;
  response.end();
}
