/** A model over HTTP that does what messages ask of it, and fails as often as it is told to. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../../../src/core/json.ts";
import { completionOf, joinBytes, type Reply, streamWrites } from "../../../tests/fakes/chat-reply.ts";
import { checkRequest } from "../../../tests/fakes/chat-rules.ts";
import { answerTo, effectCommand, forwardMark, type Request } from "./marks.ts";
import { createRandom } from "./random.ts";
import { type Message, readStep, type Step } from "./step.ts";

export interface ModelOptions {
  readonly seed: number;
  /** The probability that a request is not answered as it should be: with an error, or half of it. */
  readonly failures: number;
  /** Another chat, to write to from `chat`. */
  other(number: number): { readonly channel: string; readonly chatId: string } | undefined;
  /** That chat was told, says the result of the call. */
  forwarded(number: number): void;
  /** An answer by the `message` tool was cut off: nobody knows whether it will be shown. */
  excused(number: number): void;
  /** A request came, or was answered. */
  happened(what: "asked" | "answered"): void;
}

export interface Model {
  /** Ends in `/v1`, as a base URL does. */
  readonly url: string;
  readonly requests: number;
  /** Requests that no vendor would take, and why. */
  readonly invalid: readonly string[];
  close(): Promise<void>;
}

/** So many times in a row one thing fails before it works: fewer than the program tries it. */
const FAILURES_IN_A_ROW = 2;
/** Longer than the hint of a call, which is shown, too, and is no answer. */
const PREAMBLE = "Here is, as you wanted it and as soon as it could be had: ";
const KEPT_REFUSALS = 100;

export async function startModel(options: ModelOptions): Promise<Model> {
  const { seed, failures, happened } = options;
  const invalid: string[] = [];
  const failed = new Map<string, number>();
  let requests = 0;
  let calls = 0;

  function failure(key: string): Reply | undefined {
    const times = failed.get(key) ?? 0;
    const random = createRandom(seed, `failure ${key} ${times}`);
    if (times >= FAILURES_IN_A_ROW || !random.chance(failures)) {
      failed.delete(key);
      return undefined;
    }
    failed.set(key, times + 1);
    const error = (message: string) => ({ body: { error: { message, type: "server_error", code: null } } });
    return random.pick<Reply>([
      { status: 500, ...error("Something went wrong.") },
      { status: 503, ...error("Overloaded.") },
      { status: 429, headers: { "retry-after": "1" }, ...error("Rate limit reached.") },
      { cutAt: random.between(300, 3_000) },
    ]);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    happened("asked");
    const text = await readBody(request);
    const refused = checkRequest(text);
    if (refused !== undefined && invalid.length < KEPT_REFUSALS) invalid.push(refused.message);
    const body = JSON.parse(text) as JsonObject;
    const step = readStep(body["messages"] as unknown as readonly Message[]);
    for (const number of step.told) options.forwarded(number);
    for (const number of step.uncertain) options.excused(number);
    const key = `${step.requests.at(-1)?.number}:${step.round}`;
    const faulty = failure(key);
    const reply =
      refused === undefined
        ? { ...replyTo(step, options, () => ++calls), ...faulty }
        : {
            status: 400,
            body: { error: { message: refused.message, type: "invalid_request_error", code: null } },
          };
    await send(response, reply, body["stream"] === true);
    happened("answered");
  }

  const server = createServer((request, response) => {
    // Whoever asks can be killed at any moment.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    get requests() {
      return requests;
    },
    invalid,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** How often tools are called for a message. */
function roundsFor({ number, task }: Request): number {
  if (task === "tools") return 1 + (number % 3);
  return task === "message" || task === "forward" ? 1 : 0;
}

function replyTo(step: Step, { seed, other }: ModelOptions, nextCall: () => number): Reply {
  const request = step.requests.at(-1);
  if (request === undefined) return { text: "Nothing was asked." };
  const random = createRandom(seed, `reply ${request.number}:${step.round}`);
  const delayMs = request.task === "slow" ? random.between(200, 600) : random.between(2, 60);
  if (step.round < roundsFor(request)) {
    const call = (name: string, args: JsonObject) => ({ id: `call_${nextCall()}`, name, arguments: args });
    if (request.task === "message")
      return { delayMs, toolCalls: [call("message", { content: `${PREAMBLE}${answerTo(request)}` })] };
    const place = request.task === "forward" ? other(request.number) : undefined;
    if (place !== undefined) {
      const content = `${PREAMBLE}${forwardMark(request.number)}; is for you.`;
      return {
        delayMs,
        toolCalls: [call("message", { content, channel: place.channel, chat_id: place.chatId })],
      };
    }
    const toolCalls = Array.from({ length: random.between(1, 2) }, () => {
      const seconds = random.chance(0.3) ? random.between(1, 4) / 10 : 0;
      const id = nextCall();
      return { id: `call_${id}`, name: "exec", arguments: { command: effectCommand(id, seconds) } };
    });
    return { delayMs, toolCalls };
  }
  const rest = step.requests.filter(({ number }) => !step.answered.has(number));
  const whole = rest.length === 0 ? "It is said." : rest.map(answerTo).join("\n");
  const text = whole.slice(step.begun.length) || " ";
  if (request.task === "long") return { delayMs, text: piecesOf(text, 300), betweenMs: 15 };
  if (request.task !== "stream") return { delayMs, text };
  // About 40 pieces, within a second.
  return { delayMs, text: piecesOf(text, Math.ceil(text.length / 40)), betweenMs: 20 };
}

function piecesOf(text: string, length: number): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  );
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return new TextDecoder().decode(joinBytes(chunks));
}

async function send(response: ServerResponse, reply: Reply, stream: boolean): Promise<void> {
  if (reply.delayMs) await Bun.sleep(reply.delayMs);
  if (reply.status !== undefined) {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(reply.body));
    return;
  }
  let ids = 0;
  const context = {
    model: "crash",
    includeUsage: true,
    promptTokens: 100,
    nextCallId: () => `call_x${ids++}`,
  };
  if (!stream) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(completionOf(reply, context)));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  let left = reply.cutAt ?? Number.POSITIVE_INFINITY;
  for (const bytes of streamWrites(reply, context)) {
    if (response.destroyed) return;
    response.write(bytes.subarray(0, left));
    left -= bytes.length;
    if (left <= 0) return void response.destroy();
    if (reply.betweenMs) await Bun.sleep(reply.betweenMs);
  }
  response.end();
}
