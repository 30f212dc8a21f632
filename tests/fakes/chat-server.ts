/**
 * A chat-completions server on loopback that says what the test scripted, in the way the test scripted.
 *
 * Inside a test: `startChatServer({ script: [{ text: "hi" }] })`, see `Reply` for the faults it can show.
 * It refuses what the strictest vendors refuse (`chat-rules.ts`) and logs every request, so that a test
 * can also assert that `invalid` stayed empty.
 *
 * As a process: `bun tests/fakes/chat-server.ts --script FILE.json [--log FILE.jsonl]` prints its URL as one
 * line and serves until it is ended. FILE holds `ScriptFile` as JSON.
 */

import { appendFileSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import type { JsonObject } from "../../src/core/json.ts";
import {
  completionOf,
  cutAtOffsets,
  joinBytes,
  type Reply,
  type ReplyContext,
  streamWrites,
} from "./chat-reply.ts";
import { type ChatRules, checkRequest, estimateTokens } from "./chat-rules.ts";
import { type ExecThenAnswer, execThenAnswer, type ScriptFunction } from "./chat-scenarios.ts";

export type { Reply, ScriptedCall } from "./chat-reply.ts";

export interface ChatServerOptions extends ChatRules {
  /** A queue of replies, or a function that chooses one. A request beyond the queue's end is logged as invalid. */
  readonly script: readonly Reply[] | ScriptFunction;
  /** Requests without it as their bearer token get a 401. */
  readonly apiKey?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Called with each request as soon as it was judged. */
  readonly onRequest?: (request: LoggedRequest) => void;
}

export interface LoggedRequest {
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As it was sent. */
  readonly text: string;
  /** Empty when the body was no JSON object. */
  readonly body: JsonObject;
  /** Why it was refused before the script was asked. */
  readonly invalid?: string;
  /** Resolves when the reply is through or the client has gone, whichever comes first. */
  readonly over: Promise<"sent" | "gone">;
}

export interface ChatServer {
  /** Ends in `/v1`, as a base URL does. */
  readonly url: string;
  /** In the order of their arrival. */
  readonly requests: readonly LoggedRequest[];
  readonly invalid: readonly LoggedRequest[];
  /** Adds replies to the queue. */
  push(...replies: readonly Reply[]): void;
  /** Resolves when `count` requests have arrived, to all of them. */
  received(count: number): Promise<readonly LoggedRequest[]>;
  close(): Promise<void>;
}

export async function startChatServer({
  script,
  apiKey,
  port = 0,
  onRequest,
  ...rules
}: ChatServerOptions): Promise<ChatServer> {
  const requests: LoggedRequest[] = [];
  const queue: Reply[] = typeof script === "function" ? [] : [...script];
  const waiters: { count: number; resolve: () => void }[] = [];
  let valid = 0;
  let calls = 0;

  /** Why this request is refused without asking the script. */
  function refusal(request: IncomingMessage, text: string): Reply | undefined {
    if (request.method !== "POST" || pathOf(request) !== "/v1/chat/completions") {
      return errorReply(404, "not_found", `Unknown request URL: ${request.method} ${pathOf(request)}`);
    }
    if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
      return errorReply(401, "invalid_api_key", "Incorrect API key provided.");
    }
    const violation = checkRequest(text, rules);
    if (violation?.body) return { status: violation.status ?? 400, body: violation.body };
    return violation && errorReply(400, violation.code, violation.message);
  }

  async function nextReply(body: JsonObject): Promise<Reply | undefined> {
    return typeof script === "function" ? script(body, valid++) : queue.shift();
  }

  function log(entry: LoggedRequest): void {
    requests.push(entry);
    onRequest?.(entry);
    for (const waiter of waiters) if (requests.length >= waiter.count) waiter.resolve();
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    const body = bodyOf(text);
    const over = new Promise<"sent" | "gone">((resolve) => {
      response.on("finish", () => resolve("sent"));
      response.on("close", () => resolve("gone"));
    });
    const entry = {
      index: requests.length,
      method: request.method ?? "",
      path: request.url ?? "",
      headers: headersOf(request),
      text,
      body,
      over,
    };
    const refused = refusal(request, text);
    const reply = refused ?? (await nextReply(body));
    const final = reply ?? errorReply(400, "script_exhausted", "The script has no reply left.");
    log(refused || !reply ? { ...entry, invalid: errorMessage(final) } : entry);
    await send(response, final, body, {
      model: String(body["model"] ?? ""),
      includeUsage: JSON.stringify(body["stream_options"] ?? {}).includes('"include_usage":true'),
      promptTokens: estimateTokens(text),
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
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: actualPort } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${actualPort}/v1`,
    requests,
    get invalid() {
      return requests.filter((request) => request.invalid !== undefined);
    },
    push: (...replies) => void queue.push(...replies),
    async received(count) {
      if (requests.length < count) {
        await new Promise<void>((resolve) => waiters.push({ count, resolve }));
      }
      return requests;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").split("?")[0] ?? "";
}

function headersOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
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

/** A refusal in the shape of the protocol's first vendor. */
export function errorReply(status: number, code: string, message: string): Reply {
  const type = status === 401 ? "authentication_error" : "invalid_request_error";
  return { status, body: { error: { message, type, param: null, code } } };
}

/** Some vendors have shapes of their own. */
function errorMessage({ body }: Reply): string {
  return (body as { error?: { message?: string } }).error?.message ?? JSON.stringify(body);
}

function realDelay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function send(
  response: ServerResponse,
  reply: Reply,
  body: JsonObject,
  context: ReplyContext,
): Promise<void> {
  await reply.hold;
  if (reply.delayMs) await realDelay(reply.delayMs);
  if (reply.never) return;
  const { type, writes } = render(reply, body["stream"] === true, context);
  response.writeHead(reply.status ?? 200, { "content-type": type, ...reply.headers });
  response.flushHeaders();
  await writeBody(response, reply, writes);
}

function render(
  reply: Reply,
  stream: boolean,
  context: ReplyContext,
): { type: string; writes: readonly Uint8Array[] } {
  const encoder = new TextEncoder();
  if (reply.raw !== undefined) {
    const raw = typeof reply.raw === "string" ? encoder.encode(reply.raw) : reply.raw;
    return { type: "text/event-stream", writes: [raw] };
  }
  if (reply.status !== undefined && reply.status !== 200) {
    const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {});
    return { type: "application/json", writes: [encoder.encode(text)] };
  }
  if (!stream || reply.json) {
    const text = JSON.stringify(reply.body ?? completionOf(reply, context));
    return { type: "application/json", writes: [encoder.encode(text)] };
  }
  return { type: "text/event-stream", writes: streamWrites(reply, context) };
}

async function writeBody(
  response: ServerResponse,
  reply: Reply,
  rendered: readonly Uint8Array[],
): Promise<void> {
  const whole = joinBytes(rendered);
  const kept = whole.subarray(0, reply.cutAt ?? whole.length);
  const writes = writesOf(reply, rendered, kept);
  for (const [index, bytes] of writes.entries()) {
    if (reply.holdAfter?.writes === index) await reply.holdAfter.until;
    if (index > 0 && reply.betweenMs) await realDelay(reply.betweenMs);
    if (response.destroyed) return;
    await new Promise<void>((resolve) => void response.write(bytes, () => resolve()));
  }
  if (reply.holdAfter && reply.holdAfter.writes >= writes.length) await reply.holdAfter.until;
  if (reply.cutAt === undefined) {
    response.end();
  } else {
    await reply.cutWhen;
    response.destroy();
  }
}

function writesOf(reply: Reply, rendered: readonly Uint8Array[], kept: Uint8Array): readonly Uint8Array[] {
  if (reply.rechunk) return cutAtOffsets(kept, reply.rechunk);
  let end = 0;
  const ends = rendered.map((write) => {
    end += write.length;
    return end;
  });
  return kept.length === 0 ? [] : cutAtOffsets(kept, ends);
}

/** What a script file says: a list of replies, repeated when `loop` is set, or a scenario by its name. */
export type ScriptFile = Omit<ChatServerOptions, "script" | "onRequest"> &
  (
    | { readonly replies: readonly Reply[]; readonly loop?: boolean }
    | ({ readonly scenario: "exec-then-answer" } & ExecThenAnswer)
  );

function scriptOf(file: ScriptFile): ChatServerOptions["script"] {
  if ("scenario" in file) return execThenAnswer(file);
  const { replies, loop = false } = file;
  return loop ? (_, index) => replies[index % replies.length] ?? {} : replies;
}

/** The form of a request in the log file: one line of JSON each. */
export function logLine({ over: _, text: __, ...request }: LoggedRequest): string {
  return `${JSON.stringify(request)}\n`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { script: { type: "string" }, log: { type: "string" } } });
  if (values.script === undefined) throw new Error("Give a script: --script FILE.json");
  const file = JSON.parse(readFileSync(values.script, "utf8")) as ScriptFile;
  const { log } = values;
  const server = await startChatServer({
    ...file,
    script: scriptOf(file),
    ...(log === undefined ? {} : { onRequest: (request) => appendFileSync(log, logLine(request)) }),
  });
  process.stdout.write(`${server.url}\n`);
}

if (import.meta.main) await main();
