import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkRequest } from "./chat-rules.ts";
import { execThenAnswer } from "./chat-scenarios.ts";
import { type ChatServer, type ChatServerOptions, startChatServer } from "./chat-server.ts";

const servers: ChatServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(options: ChatServerOptions): Promise<ChatServer> {
  const server = await startChatServer(options);
  servers.push(server);
  return server;
}

const user = (content = "hi") => ({ role: "user", content });
const call = (id: string, name = "exec", text = "{}") => ({
  id,
  type: "function",
  function: { name, arguments: text },
});
const assistant = (...calls: object[]) => ({ role: "assistant", content: "", tool_calls: calls });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
const tool = (name: string, parameters: unknown = { type: "object" }) => ({
  type: "function",
  function: { name, parameters },
});

function body(extra: object): string {
  return JSON.stringify({ model: "m", messages: [user()], ...extra });
}

function post(server: ChatServer, text: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}/chat/completions`, { method: "POST", body: text, headers });
}

describe("checkRequest()", () => {
  test("takes a history with calls and results", () => {
    const messages = [
      { role: "system", content: "s" },
      user(),
      assistant(call("a"), call("b")),
      result("b"),
      result("a"),
      { role: "assistant", content: "done" },
      user("more"),
    ];
    const text = body({ messages, tools: [tool("exec")], tool_choice: "auto", max_tokens: 5, stream: true });
    expect(checkRequest(text, { strictKeys: true, contextWindow: 1_000 })).toBeUndefined();
  });

  test.each<[string, object, RegExp]>([
    ["no messages", { messages: [] }, /must not be empty/],
    ["messages that are no list", { messages: "hi" }, /must be a list/],
    ["an unknown role", { messages: [{ role: "developer", content: "x" }] }, /unknown role/],
    ["an empty user message", { messages: [user(" \n")] }, /empty user message/],
    ["an assistant first", { messages: [{ role: "assistant", content: "x" }, user()] }, /before any user/],
    ["a late system message", { messages: [user(), { role: "system", content: "s" }] }, /not the first/],
    ["two user messages in a row", { messages: [user(), user()] }, /follows another user/],
    ["an assistant last", { messages: [user(), { role: "assistant", content: "x" }] }, /last message/],
    [
      "an assistant that says nothing",
      { messages: [user(), { role: "assistant", content: "" }, user()] },
      /neither/,
    ],
    [
      "null as content",
      { messages: [user(), { ...assistant(call("a")), content: null }, result("a")] },
      /a string/,
    ],
    ["no content", { messages: [{ role: "user" }] }, /must be a string/],
    ["a result without a call", { messages: [user(), result("a")] }, /no open call/],
    [
      "a result twice",
      { messages: [user(), assistant(call("a")), result("a"), result("a")] },
      /no open call/,
    ],
    [
      "a result of an older call",
      {
        messages: [user(), assistant(call("a")), result("a"), assistant(call("b")), result("a")],
      },
      /no open call/,
    ],
    [
      "a call without a result",
      { messages: [user(), assistant(call("a"), call("b")), result("a"), user()] },
      /results of b/,
    ],
    ["a missing result at the end", { messages: [user(), assistant(call("a"))] }, /missing at the end/],
    [
      "a call id twice in one message",
      { messages: [user(), assistant(call("a"), call("a")), result("a")] },
      /repeats/,
    ],
    [
      "a call id twice in the history",
      {
        messages: [user(), assistant(call("a")), result("a"), assistant(call("a")), result("a")],
      },
      /repeats/,
    ],
    ["a call without a name", { messages: [user(), assistant(call("a", "")), result("a")] }, /bad name/],
    ["a call with a bad name", { messages: [user(), assistant(call("a", "a.b")), result("a")] }, /bad name/],
    [
      "arguments that are a list",
      { messages: [user(), assistant(call("a", "x", "[1]")), result("a")] },
      /JSON object/,
    ],
    [
      "arguments that are no JSON",
      { messages: [user(), assistant(call("a", "x", "{")), result("a")] },
      /not JSON/,
    ],
    ["a lone surrogate", { messages: [user("a\ud83d")] }, /lone surrogate/],
    [
      "a lone surrogate in arguments",
      {
        messages: [user(), assistant(call("a", "x", '{"k":"\\ud83d"}')), result("a")],
      },
      /lone surrogate/,
    ],
    ["an empty list of tools", { tools: [] }, /at least one/],
    ["a schema that is no object", { tools: [tool("a", { type: "string" })] }, /type is not object/],
    ["a tool twice", { tools: [tool("a"), tool("a")] }, /repeats the name/],
    [
      "a choice of an unknown tool",
      {
        tools: [tool("a")],
        tool_choice: { type: "function", function: { name: "b" } },
      },
      /unknown tool b/,
    ],
    ["a choice without tools", { tool_choice: "auto" }, /only allowed when tools/],
    ["no room for the reply", { max_tokens: 0 }, /positive integer/],
    ["an unknown key", { cache: true }, /unrecognized request argument: cache/],
  ])("refuses %s", (_, extra, reason) => {
    expect(checkRequest(body(extra), { strictKeys: true })).toMatchObject({
      code: "invalid_request_error",
      message: expect.stringMatching(reason),
    });
  });

  test("refuses what is larger than the context window, under its own code", () => {
    const violation = checkRequest(body({ messages: [user("x".repeat(4_000))] }), { contextWindow: 500 });
    expect(violation?.code).toBe("context_length_exceeded");
  });

  test("takes null beside calls, and unknown keys, where it is told to", () => {
    const messages = [user(), { ...assistant(call("a")), content: null }, result("a")];
    expect(checkRequest(body({ messages, cache: true }), { allowNullContent: true })).toBeUndefined();
  });
});

describe("startChatServer()", () => {
  test("answers with JSON unless a stream is asked for", async () => {
    const server = await serve({ script: [{ text: ["a", "b"] }, { text: ["a", "b"] }] });
    const whole = await (await post(server, body({}))).json();
    expect(whole).toMatchObject({ choices: [{ message: { content: "ab" }, finish_reason: "stop" }] });
    const stream = await (await post(server, body({ stream: true }))).text();
    expect(stream.match(/"content":"[ab]"/g)).toEqual(['"content":"a"', '"content":"b"']);
    expect(stream.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("refuses with the reason, logs it as invalid, and keeps the script's place", async () => {
    const server = await serve({ script: [{ text: "first" }] });
    const refused = await post(server, body({ messages: [] }));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { message: "messages must not be empty" } });
    expect(server.invalid.map(({ invalid }) => invalid)).toEqual(["messages must not be empty"]);
    expect(await (await post(server, body({}))).text()).toContain("first");
    expect(server.requests).toHaveLength(2);
  });

  test("logs a request beyond the end of the script as invalid", async () => {
    const server = await serve({ script: [] });
    expect((await post(server, body({}))).status).toBe(400);
    expect(server.invalid).toHaveLength(1);
  });

  test("refuses a wrong key", async () => {
    const server = await serve({ script: [{ text: "x" }], apiKey: "right" });
    expect((await post(server, body({}))).status).toBe(401);
    expect((await post(server, body({}), { authorization: "Bearer right" })).status).toBe(200);
  });

  test("sends the status, the headers and the body of the script", async () => {
    const reply = { status: 429, headers: { "retry-after": "3" }, body: { error: { message: "slow" } } };
    const server = await serve({ script: [reply] });
    const response = await post(server, body({}));
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "3"]);
    expect(await response.json()).toEqual({ error: { message: "slow" } });
  });

  test("holds a reply until it is released", async () => {
    const gate = Promise.withResolvers<void>();
    const server = await serve({ script: [{ text: "x", hold: gate.promise }] });
    let settled = false;
    const response = post(server, body({})).then((value) => {
      settled = true;
      return value;
    });
    await server.received(1);
    expect(settled).toBe(false);
    gate.resolve();
    expect((await response).status).toBe(200);
  });

  test("cuts a body at the exact byte", async () => {
    const server = await serve({
      script: [{ raw: "0123456789", cutAt: 4, headers: { "content-length": "10" } }],
    });
    const response = await post(server, body({ stream: true }));
    await expect(response.text()).rejects.toThrow();
  });

  test("tells when a client has gone", async () => {
    const server = await serve({ script: [{ never: true }] });
    const controller = new AbortController();
    const response = fetch(`${server.url}/chat/completions`, {
      method: "POST",
      body: body({}),
      signal: controller.signal,
    });
    const [request] = await server.received(1);
    controller.abort();
    await expect(response).rejects.toThrow();
    expect(await request?.over).toBe("gone");
  });
});

describe("execThenAnswer()", () => {
  test("asks for its rounds of calls, each command once, then answers", () => {
    const script = execThenAnswer({ rounds: 2, callsPerRound: 2, command: "echo {n}" });
    const messages: object[] = [user()];
    expect(script({ messages: messages as never }, 0)).toMatchObject({
      toolCalls: [{ arguments: { command: "echo 1" } }, { arguments: { command: "echo 2" } }],
    });
    messages.push(assistant(call("a")), result("a"));
    expect(script({ messages: messages as never }, 1)).toMatchObject({
      toolCalls: [{ arguments: { command: "echo 3" } }, { arguments: { command: "echo 4" } }],
    });
    messages.push(assistant(call("b")), result("b"));
    expect(script({ messages: messages as never }, 2)).toEqual({ text: ["done ", "1"] });
    messages.push({ role: "assistant", content: "done 1" }, user());
    expect(script({ messages: messages as never }, 3)).toMatchObject({ toolCalls: [{}, {}] });
  });
});

test("chat-server.ts as a process prints its URL, serves the scenario and logs the requests", async () => {
  const folder = mkdtempSync(join(tmpdir(), "nanobot-"));
  const script = join(folder, "script.json");
  const log = join(folder, "log.jsonl");
  writeFileSync(script, JSON.stringify({ scenario: "exec-then-answer", rounds: 1 }));
  const command = [
    process.execPath,
    join(import.meta.dir, "chat-server.ts"),
    "--script",
    script,
    "--log",
    log,
  ];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  try {
    const { value } = await child.stdout.getReader().read();
    const url = new TextDecoder().decode(value).trim();
    const response = await fetch(`${url}/chat/completions`, { method: "POST", body: body({}) });
    expect(await response.json()).toMatchObject({
      choices: [
        { message: { tool_calls: [{ function: { arguments: '{"command":"echo 1 >> calls.log"}' } }] } },
      ],
    });
    await fetch(`${url}/chat/completions`, { method: "POST", body: body({ messages: [] }) });
    const lines = readFileSync(log, "utf8").trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).invalid)).toEqual([undefined, "messages must not be empty"]);
  } finally {
    child.kill();
    await child.exited;
    rmSync(folder, { recursive: true });
  }
});
