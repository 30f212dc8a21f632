/**
 * The Messages API of Anthropic on loopback, which says what the test scripted and refuses what the real one
 * refuses (`anthropic-rules.ts`). Every request is logged, so that a test can assert that `invalid` stayed empty.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../src/core/json.ts";
import { type AnthropicReply, blocksOf, eventsOf, messageOf, piecesOf, streamOf } from "./anthropic-reply.ts";
import { type AnthropicRules, checkMessagesRequest } from "./anthropic-rules.ts";
import { cutAtOffsets, joinBytes } from "./chat-reply.ts";

export type { AnthropicReply } from "./anthropic-reply.ts";

export interface AnthropicServerOptions extends AnthropicRules {
  /** A queue of replies, or a function that chooses one. */
  readonly script: readonly AnthropicReply[] | ((body: JsonObject, index: number) => AnthropicReply);
  /** Requests without it get a 401. */
  readonly apiKey?: string;
  /** Servers that ask for no key. */
  readonly keyless?: boolean;
}

export interface AnthropicRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: JsonObject;
  /** Why it was refused before the script was asked. */
  readonly invalid?: string;
  /** Resolves when the client has gone or the reply is through. */
  readonly over: Promise<"sent" | "gone">;
}

export interface AnthropicServer {
  /** Without the version, as the package has it. */
  readonly url: string;
  readonly requests: readonly AnthropicRequest[];
  readonly invalid: readonly string[];
  close(): Promise<void>;
}

interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

export async function startAnthropicServer({
  script,
  apiKey,
  keyless = false,
  ...rules
}: AnthropicServerOptions): Promise<AnthropicServer> {
  const requests: AnthropicRequest[] = [];
  const signed = new Map<string, string>();
  const redacted = new Set<string>();
  let answered = 0;

  function refusalOf({ method, url, headers }: IncomingMessage, text: string): Refusal | undefined {
    if (method !== "POST" || url?.split("?")[0] !== "/v1/messages") {
      return { status: 404, type: "not_found_error", message: `Not found: ${method} ${url}` };
    }
    const key = headers["x-api-key"];
    if (!keyless && key === undefined) {
      return { status: 401, type: "authentication_error", message: "x-api-key header is required" };
    }
    if (apiKey !== undefined && key !== apiKey) {
      return { status: 401, type: "authentication_error", message: "invalid x-api-key" };
    }
    if (headers["anthropic-version"] === undefined) {
      return { status: 400, type: "invalid_request_error", message: "anthropic-version: header is required" };
    }
    const message = checkMessagesRequest(text, rules, { signed, redacted });
    return message === undefined ? undefined : { status: 400, type: "invalid_request_error", message };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    const body = bodyOf(text);
    const refusal = refusalOf(request, text);
    const over = new Promise<"sent" | "gone">((resolve) => {
      response.on("finish", () => resolve("sent"));
      response.on("close", () => resolve("gone"));
    });
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const entry = { path: request.url ?? "", headers, text, body, over };
    requests.push(refusal === undefined ? entry : { ...entry, invalid: refusal.message });
    if (refusal !== undefined) return sendError(response, refusal.status, refusal);
    const index = answered++;
    const reply = typeof script === "function" ? script(body, index) : script[index];
    if (reply === undefined) {
      const message = "The script has no reply left.";
      return sendError(response, 400, { type: "invalid_request_error", message });
    }
    for (const block of blocksOf(reply)) {
      if ("thinking" in block) signed.set(block.signature, piecesOf(block.thinking).join(""));
      if ("redacted" in block) redacted.add(block.redacted);
    }
    await send(response, reply, body);
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
    url: `http://127.0.0.1:${port}`,
    requests,
    get invalid() {
      return requests.flatMap(({ invalid }) => (invalid === undefined ? [] : [invalid]));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return new TextDecoder().decode(joinBytes(chunks));
}

function bodyOf(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {}; // The rules refuse it with the reason.
  }
}

function sendError(
  response: ServerResponse,
  status: number,
  { type, message }: { type: string; message: string },
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ type: "error", error: { type, message }, request_id: "req_1" }));
}

async function send(response: ServerResponse, reply: AnthropicReply, body: JsonObject): Promise<void> {
  const {
    status = 200,
    headers = {},
    error = { type: "api_error", message: "Internal server error" },
  } = reply;
  if (status !== 200) return sendError(response, status, error, headers);
  const model = String(body["model"]);
  if (reply.json || body["stream"] !== true) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(messageOf(reply, model)));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const whole = new TextEncoder().encode(streamOf(eventsOf(reply, model)));
  const kept = whole.subarray(0, reply.cutAt ?? whole.length);
  const { pieces = 200 } = reply;
  const offsets = Array.from({ length: Math.ceil(kept.length / pieces) }, (_, index) => index * pieces);
  for (const bytes of cutAtOffsets(kept, offsets)) {
    if (response.destroyed) return;
    await new Promise<void>((resolve) => void response.write(bytes, () => resolve()));
  }
  await reply.endWhen;
  if (reply.cutAt === undefined) response.end();
  else response.destroy();
}
