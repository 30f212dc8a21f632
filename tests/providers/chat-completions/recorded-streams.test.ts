/** What is read from streams in the shapes that vendors document, kept in `tests/fixtures/streams`. */

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { ChatRequest, ToolCall, Usage } from "../../../src/core/model.ts";
import { cutAtOffsets } from "../../fakes/chat-reply.ts";
import { type Connection, connect, serve } from "../fixture.ts";

const folder = join(import.meta.dir, "../../fixtures/streams");

interface Recorded {
  readonly content: string;
  readonly reasoning?: string;
  readonly calls?: readonly ToolCall[];
  readonly usage?: Usage;
}

function call(id: string, name: string, args: object): ToolCall {
  return { id, name, arguments: JSON.stringify(args) };
}

function used(input: number, output: number, cached = 0, reasoning = 0): Usage {
  return { input, output, cached, reasoning };
}

const recorded: Readonly<Record<string, Recorded>> = {
  openai: { content: "The tide turns twice a day.", usage: used(1210, 70, 1024, 64) },
  "openai-tools": {
    content: "",
    calls: [
      call("call_Yx1", "read_file", { path: "tides.md" }),
      call("call_Yx2", "exec", { command: "cal" }),
    ],
    usage: used(310, 41),
  },
  openrouter: {
    content: "Twice a day.",
    reasoning: "Two highs, two lows.",
    usage: { ...used(410, 29, 128, 21), cost: 0.00042 },
  },
  deepseek: {
    content: "Because of the moon.",
    reasoning: "The moon pulls.",
    usage: used(374, 25, 256, 17),
  },
  groq: {
    content: "",
    calls: [call("k4m1tk85n", "exec", { command: "date -u" }), call("p9w2zx71c", "list_dir", {})],
    usage: used(210, 33),
  },
  ollama: {
    content: "",
    reasoning: "Both files are needed.",
    calls: [
      call("call_q1w2e3r4", "read_file", { path: "north.md" }),
      call("call_t5y6u7i8", "read_file", { path: "south.md" }),
    ],
    usage: used(188, 52),
  },
  vllm: {
    content: "",
    reasoning: "A listing will do.",
    calls: [call("chatcmpl-tool-9f149c74c42f265b", "list_dir", { path: "notes" })],
    usage: used(151, 19),
  },
  "vllm-forced": {
    content: "",
    calls: [call("chatcmpl-tool-0c6a2d7714be4f0e", "exec", { command: "uptime" })],
  },
  llamacpp: { content: "At full moon, if a < b holds.", reasoning: "Spring and neap tides." },
  lmstudio: {
    content: "",
    reasoning: "Look first.",
    calls: [call("365174485", "read_file", { path: "tides.md" })],
  },
  gemini: {
    content: "",
    calls: [
      {
        ...call("function-call-1112", "read_file", { path: "north.md" }),
        extra: { google: { thought_signature: "CikBVGhlIGZpcnN0IGNhbGw=" } },
      },
      call("function-call-1113", "read_file", { path: "south.md" }),
    ],
    usage: used(281, 31),
  },
  mistral: {
    content: "About every six hours.",
    reasoning: "Six hours each way.",
    usage: used(110, 46),
  },
  "mistral-tools": {
    content: "",
    calls: [
      call("D681PevKs", "read_file", { path: "north.md" }),
      call("gJ2yT0xQb", "exec", { command: "date" }),
    ],
    usage: used(171, 32),
  },
  moonshot: {
    content: "One moment.",
    reasoning: "The clock knows.",
    calls: [call("functions.exec:0", "exec", { command: "date" })],
    usage: used(390, 21, 256),
  },
  zhipu: {
    content: "好的 🌊",
    reasoning: "读一下文件。",
    calls: [call("call_-8123456789", "read_file", { path: "north.md" })],
    usage: used(205, 44, 192, 12),
  },
};

/** A stream that is no answer. */
const FILTERED = "zhipu-sensitive";

const names = Object.keys(recorded);
const lineEnds = [
  ["LF", "\n"],
  ["CRLF", "\r\n"],
] as const;

function textOf(name: string): string {
  return readFileSync(join(folder, `${name}.sse`), "utf8");
}

function bytesOf(name: string, lineEnd: string): Uint8Array {
  return new TextEncoder().encode(textOf(name).replace(/\r?\n/g, lineEnd));
}

function definition(name: string) {
  return { name, description: "A tool.", parameters: { type: "object", properties: {} } };
}

const request: Partial<ChatRequest> = { tools: ["exec", "list_dir", "read_file"].map(definition) };

/** What matters of a reply, in the form of the table. Arguments count as what they say. */
async function readBy(connection: Connection): Promise<Recorded> {
  const reply = await connection.ask(request);
  if (!reply.ok) throw new Error(reply.error.message);
  const text = connection.deltas.map((delta) => (delta.kind === "text" ? delta.text : "")).join("");
  expect(text).toBe(reply.content);
  const { content, toolCalls, reasoningContent, usage } = reply;
  return {
    content: content.trim(),
    ...(reasoningContent === undefined ? {} : { reasoning: reasoningContent.trim() }),
    ...(toolCalls.length === 0 ? {} : { calls: toolCalls.map(normal) }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function normal(toolCall: ToolCall): ToolCall {
  return { ...toolCall, arguments: JSON.stringify(JSON.parse(toolCall.arguments)) };
}

/** A fetch whose body comes in exactly these pieces, which a socket would be free to join. */
function fetchOf(pieces: readonly Uint8Array[]): typeof fetch {
  const answer = async () => {
    const body = new ReadableStream({
      start(controller) {
        for (const bytes of pieces) controller.enqueue(bytes);
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  return Object.assign(answer, { preconnect() {} });
}

function readInPieces(pieces: readonly Uint8Array[]): Connection {
  return connect("http://fake.test/v1", { fetch: fetchOf(pieces) });
}

test("every recorded stream is in the table, and says in its first line what it shows", () => {
  const files = readdirSync(folder).map((file) => file.replace(/\.sse$/, ""));
  expect(files.sort()).toEqual([...names, FILTERED].sort());
  for (const name of files) {
    expect(textOf(name)).toMatch(/^: \w/);
    expect(textOf(name).trimEnd().split("\n").length).toBeLessThanOrEqual(20);
  }
});

describe.each(names)("chat() reads what %s sends", (name) => {
  const expected = recorded[name];

  test("as it was recorded", async () => {
    const server = await serve([{ raw: textOf(name) }]);
    expect(await readBy(connect(server.url))).toEqual(expected as Recorded);
    expect(server.invalid).toEqual([]);
  });

  test.each(lineEnds)("byte by byte over a socket, with %s", async (_, lineEnd) => {
    const server = await serve([{ raw: bytesOf(name, lineEnd), rechunk: "bytes" }]);
    expect(await readBy(connect(server.url))).toEqual(expected as Recorded);
  });

  test.each(lineEnds)("cut at every byte, and anywhere, with %s", async (_, lineEnd) => {
    const bytes = bytesOf(name, lineEnd);
    expect(await readBy(readInPieces(cutAtOffsets(bytes, "bytes")))).toEqual(expected as Recorded);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 30 }), async (cuts) => {
        expect(await readBy(readInPieces(cutAtOffsets(bytes, cuts)))).toEqual(expected as Recorded);
      }),
      { numRuns: 20 },
    );
  });

  test("and takes no part of it for the whole", async () => {
    const text = textOf(name);
    for (const { index } of text.matchAll(/\n/g)) {
      const begun = new TextEncoder().encode(text.slice(0, index));
      const reply = await readInPieces([begun]).ask(request);
      if (reply.ok) {
        expect(reply.content.trim()).toBe(expected?.content ?? "");
        expect(reply.toolCalls.map(normal)).toEqual([...(expected?.calls ?? [])]);
      } else {
        expect(reply.error.kind).toBe("transient");
      }
    }
  });
});

describe(`chat() of ${FILTERED}`, () => {
  test.each(lineEnds)("fails because of the filter, with %s", async (_, lineEnd) => {
    const server = await serve([{ raw: bytesOf(FILTERED, lineEnd), rechunk: "bytes" }]);
    const reply = await connect(server.url).ask(request);
    expect(reply).toMatchObject({ ok: false, error: { kind: "contentFilter" }, partial: "The begin" });
  });
});
