/** The program against a model server that nobody wrote for it, in each protocol that it speaks. */

import { afterEach, describe, expect, test } from "bun:test";
import { LLMock } from "@copilotkit/aimock";
import { ask, endToEnd, type Home, newHome, sessionOf } from "./harness.ts";

endToEnd();

const KEY = "key-of-the-mock";

const mocks: LLMock[] = [];
afterEach(async () => {
  await Promise.all(mocks.splice(0).map((mock) => mock.stop()));
});

async function startMock(): Promise<LLMock> {
  const mock = new LLMock({ host: "127.0.0.1", port: 0, chunkSize: 4, auth: { apiKeys: [KEY] } });
  mocks.push(mock);
  await mock.start();
  return mock;
}

/** How each protocol is asked for, and the path that shows that it was spoken. */
const protocols = {
  "chat completions": {
    path: "/v1/chat/completions",
    providers: (url: string) => ({ mock: { apiBase: `${url}/v1`, apiKey: KEY } }),
    provider: "mock",
  },
  "OpenAI's responses": {
    path: "/v1/responses",
    providers: (url: string) => ({ mock: { apiBase: `${url}/v1`, apiKey: KEY, apiType: "responses" } }),
    provider: "mock",
  },
  "Anthropic's messages": {
    path: "/v1/messages",
    providers: (url: string) => ({ anthropic: { apiBase: url, apiKey: KEY } }),
    provider: "anthropic",
  },
};
type Protocol = (typeof protocols)[keyof typeof protocols];

function homeAt(mock: LLMock, { providers, provider }: Protocol = protocols["chat completions"]): Home {
  const defaults = { provider, model: "mock-model", timezone: "UTC" };
  return newHome({ providers: providers(mock.url), agents: { defaults } });
}

function pathsOf(mock: LLMock): readonly string[] {
  return mock.getRequests().map(({ path }) => path);
}

describe.each(Object.entries(protocols))("nanobot agent over %s", (_, protocol) => {
  test("gives the answer that was streamed, and none of the reasoning", async () => {
    const mock = await startMock();
    mock.onMessage("tides", { content: "Twice a day — 🌊, more or less.", reasoning: "The moon, mostly." });
    const home = homeAt(mock, protocol);
    const outcome = await ask("what of the tides?", home);
    expect(outcome).toEqual({ code: 0, stdout: "Twice a day — 🌊, more or less.\n", stderr: "" });
    expect(pathsOf(mock)).toEqual([protocol.path]);
    expect(mock.getLastRequest()?.body).toMatchObject({ stream: true });
  });

  test("runs a tool and takes its result back", async () => {
    const mock = await startMock();
    const args = JSON.stringify({ command: "echo $((6 * 7))" });
    mock.on(
      { userMessage: "multiply", hasToolResult: false },
      { toolCalls: [{ name: "exec", arguments: args }] },
    );
    mock.on({ userMessage: "multiply", toolResultContains: "42" }, { content: "It is 42." });
    mock.onMessage("once more", { content: "Still 42." });
    const home = homeAt(mock, protocol);
    const outcome = await ask("multiply", home);
    expect(outcome).toMatchObject({ code: 0, stdout: "It is 42.\n" });
    const lines = await sessionOf(home);
    expect(lines.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(lines[2]?.content).toContain("42");
    expect(await ask("once more", home)).toMatchObject({ code: 0, stdout: "Still 42.\n" });
  });

  test("tries again when the server fails once", async () => {
    const mock = await startMock();
    mock.onMessage("hello", { content: "Good morning." });
    mock.nextRequestError(500, { message: "The engine is down", type: "server_error" });
    expect(await ask("hello", homeAt(mock, protocol))).toMatchObject({ code: 0, stdout: "Good morning.\n" });
    expect(pathsOf(mock)).toEqual([protocol.path, protocol.path]);
  });

  test("does not wait for an hour, but says so in one sentence, and goes on later", async () => {
    const mock = await startMock();
    const error = { message: "Too many requests", type: "rate_limit_error" };
    // What stayed unanswered is said again, so the later message must be looked for first.
    mock.onMessage("again", { content: "Good morning." });
    mock.onMessage("hello", { error, status: 429, retryAfter: 3600 });
    const home = homeAt(mock, protocol);
    const { code, stdout, stderr } = await ask("hello", home);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^I could not answer: .*\(429\).* 60 minutes\.\n$/);
    expect(code).toBe(1);
    expect(pathsOf(mock)).toEqual([protocol.path]);
    expect((await sessionOf(home)).map(({ role }) => role)).toEqual(["user"]);
    expect(await ask("again", home)).toMatchObject({ code: 0, stdout: "Good morning.\n" });
  });

  test("says that the key is wrong, once and without the key", async () => {
    const mock = await startMock();
    const home = homeAt(mock, {
      ...protocol,
      providers: (url) => JSON.parse(JSON.stringify(protocol.providers(url)).replaceAll(KEY, "another-key")),
    });
    const { code, stdout, stderr } = await ask("hello", home);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^I could not answer: .*key.*\.\n$/);
    expect(stderr).not.toContain("another-key");
    expect(code).toBe(1);
  });
});

test("nanobot agent goes on where a stream of chat completions broke off", async () => {
  const mock = await startMock();
  // A pause before each chunk, or the end of the connection would overtake them.
  const opts = { latency: 20, truncateAfterChunks: 4 };
  mock.onMessage("tides", { content: "They come twice a day." }, opts);
  mock.on({ userMessage: "Your reply was cut off" }, { content: " … and go." });
  const { code, stdout } = await ask("tides", homeAt(mock));
  expect(stdout).toMatch(/^They.* … and go\.\n$/);
  expect(code).toBe(0);
});

test("nanobot agent --json gives what a foreign server counted", async () => {
  const mock = await startMock();
  const usage = { prompt_tokens: 1200, completion_tokens: 7 };
  mock.onMessage("hello", { content: "Good morning.", usage });
  const { stdout } = await ask("hello", homeAt(mock), "--json");
  expect(JSON.parse(stdout)).toMatchObject({ content: "Good morning.", usage: { input: 1200, output: 7 } });
});
