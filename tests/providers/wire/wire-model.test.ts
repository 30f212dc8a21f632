import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/core/model.ts";
import { isObject } from "../../../src/lib/is-object.ts";
import { createTransport } from "../../../src/providers/wire/transport.ts";
import { createWireModel, type Protocol, type ReplyBuilder } from "../../../src/providers/wire/wire-model.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import { collect, type ScriptedBody, scriptBody, TARGET } from "./setup.ts";

const REQUEST: ChatRequest = {
  model: "m",
  messages: [{ role: "user", content: "hi" }],
  tools: [],
  toolChoice: "auto",
  maxTokens: 100,
};
const KEY = "sk-secret-123456";

function builder(onDelta: (delta: { kind: "text"; text: string }) => void): ReplyBuilder {
  const sink = collect();
  let said = "";
  return {
    add(chunk) {
      if (isObject(chunk) && typeof chunk["text"] === "string") {
        said += chunk["text"];
        onDelta({ kind: "text", text: chunk["text"] });
      }
      sink.add(chunk);
    },
    get complete() {
      return sink.complete;
    },
    get started() {
      return sink.started;
    },
    usage: undefined,
    partial: () => said,
    finish: () => ({ ok: true, content: said, toolCalls: [], finishReason: "stop" }),
  };
}

function setup(protocol: Partial<Protocol> = {}, server: ScriptedBody = scriptBody()) {
  const clock = createFakeClock();
  const bugs: unknown[] = [];
  const model = createWireModel({
    provider: "fake",
    baseUrl: "http://model.test/v1",
    secrets: [KEY],
    clock,
    transport: createTransport({ fetch: server.fetch, clock }),
    protocol: {
      target: async () => TARGET,
      encode: () => new TextEncoder().encode("{}"),
      builder: (_request, onDelta) => builder(onDelta),
      learn: () => false,
      ...protocol,
    },
    onBug: (error) => bugs.push(error),
  });
  const chat = (signal = new AbortController().signal) => model.chat(REQUEST, { signal, onDelta() {} });
  return { server, chat, bugs, clock };
}

describe("chat() is stopped", () => {
  test("while it finds out where to send, without sending", async () => {
    const found = Promise.withResolvers<typeof TARGET>();
    const { server, chat } = setup({ target: () => found.promise });
    const controller = new AbortController();
    const asking = chat(controller.signal);
    controller.abort();
    expect(await asking).toMatchObject({ ok: false, error: { kind: "aborted" }, partial: "" });
    found.resolve(TARGET);
    expect(server.requests).toEqual([]);
  });

  test("in the moment that it knows, without sending", async () => {
    const controller = new AbortController();
    const target = async () => {
      // Behind the promise of the target itself.
      queueMicrotask(() => queueMicrotask(() => controller.abort()));
      return TARGET;
    };
    const { server, chat } = setup({ target });
    expect(await chat(controller.signal)).toMatchObject({ ok: false, error: { kind: "aborted" } });
    expect(server.requests).toEqual([]);
  });
});

describe("chat() calls a mistake of this program by its name", () => {
  const boom = () => {
    throw new TypeError(`boom ${KEY}`);
  };
  const FAULT = "A fault of nanobot itself stopped the request to fake (TypeError: boom";

  test("when it is met in the middle of a reply, with the text so far", async () => {
    const { server, chat, bugs } = setup();
    const asking = chat();
    server.write('data: {"text":"so far"}\n\ndata: {"bug":true}\n\n');
    expect(await asking).toMatchObject({
      ok: false,
      partial: "so far",
      error: { kind: "badRequest", message: `${FAULT})` },
    });
    expect(bugs).toEqual([new TypeError("boom")]);
  });

  test.each<[string, Partial<Protocol>]>([
    ["made a request", { encode: boom }],
    ["finished a reply", { builder: (_, onDelta) => ({ ...builder(onDelta), finish: boom }) }],
  ])("where it %s, without the key", async (_, protocol) => {
    const { server, chat, bugs } = setup(protocol);
    const asking = chat();
    server.write("data: [DONE]\n\n");
    const reply = await asking;
    expect(reply).toMatchObject({ ok: false, error: { kind: "badRequest" } });
    expect(JSON.stringify(reply)).toContain(`${FAULT} [masked])`);
    expect(bugs).toHaveLength(1);
  });

  test("but not what the configuration did, or the network", async () => {
    const target = async () => {
      throw new TypeError("Invalid URL");
    };
    const wrong = setup({ target });
    expect(await wrong.chat()).toMatchObject({
      error: { kind: "badRequest", message: "The request to fake could not be made: Invalid URL" },
    });
    const broken = setup();
    const asking = broken.chat();
    broken.server.write('data: {"text":"so far"}\n\n');
    await broken.clock.advance(0);
    broken.server.fail(new TypeError("terminated"));
    expect(await asking).toMatchObject({
      partial: "so far",
      error: {
        kind: "transient",
        message: "The model at http://model.test broke off in the middle of its reply",
      },
    });
    expect([...wrong.bugs, ...broken.bugs]).toEqual([]);
  });
});
