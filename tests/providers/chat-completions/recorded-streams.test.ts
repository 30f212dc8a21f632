/** What is read from streams in the shapes that vendors document, kept in `tests/fixtures/streams`. */

import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import fc from "fast-check";
import type { ChatRequest, ToolCall } from "../../../src/core/model.ts";
import { cutAtOffsets } from "../../fakes/chat-reply.ts";
import { FILTERED, folder, type Recorded, recorded, textOf } from "../../fixtures/recorded.ts";
import { type Connection, connect, serve } from "../fixture.ts";

const names = Object.keys(recorded);
const lineEnds = [
  ["LF", "\n"],
  ["CRLF", "\r\n"],
] as const;

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
