/**
 * A model in a process of its own that remembers nothing, for as many requests as come. `--delay MS` lets each wait,
 * `--bytes N` is how long its answer is. Prints its URL as one line.
 */

import { parseArgs } from "node:util";
import { type ReplyContext, streamWrites } from "../../../tests/fakes/chat-reply.ts";

const { values } = parseArgs({
  options: { delay: { type: "string", default: "0" }, bytes: { type: "string", default: "40" } },
});
const delay = Number(values.delay);
const text = "All of it is where you left it. ".repeat(1_000).slice(0, Number(values.bytes));
const context: ReplyContext = {
  model: "bench",
  includeUsage: true,
  promptTokens: 100,
  nextCallId: () => "call_1",
};
const body = new Blob(streamWrites({ text }, context).map((bytes) => bytes.slice()));

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    await request.arrayBuffer();
    if (delay > 0) await Bun.sleep(delay);
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  },
});
process.stdout.write(`http://127.0.0.1:${server.port}/v1\n`);
