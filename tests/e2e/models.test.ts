/** Models that think aloud, fail, hang and vanish: every turn ends, and the next one works. */

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import { type Cable, type Fault, startCable } from "../fakes/cable.ts";
import type { ChatServer, LoggedRequest, Reply } from "../fakes/chat-server.ts";
import { textOf } from "../fixtures/recorded.ts";
import {
  ask,
  endToEnd,
  type Home,
  inTerminal,
  newHome,
  type Outcome,
  run,
  sessionOf,
  startModel,
} from "./harness.ts";

endToEnd();

const cables = new Set<Cable>();
afterEach(async () => {
  await Promise.all([...cables].map((cable) => cable.close()));
  cables.clear();
});

/** So that what hangs, or fails for ever, is over within seconds. */
function patience(seconds: number): Readonly<Record<string, string>> {
  return { NANOBOT_LLM_TIMEOUT_S: String(seconds), NANOBOT_STREAM_IDLE_TIMEOUT_S: String(seconds / 2) };
}

/** Asks with little patience, but enough for a model that works. */
function askBriefly(message: string, home: Home, seconds = 1): Promise<Outcome> {
  return run(["agent", "-m", message], { home, env: patience(seconds) });
}

/** A home whose models are asked in this order. */
function homeAt(first: string, second?: string): Home {
  const entry = (url: string) => ({ apiBase: url, apiKey: "key-of-the-fake" });
  const fallbackModels = second === undefined ? [] : [{ provider: "second", model: "model-2" }];
  return newHome({
    providers: { first: entry(first), ...(second === undefined ? {} : { second: entry(second) }) },
    agents: { defaults: { provider: "first", model: "model-1", timezone: "UTC", fallbackModels } },
  });
}

/** An address where nobody is. */
async function deadAddress(): Promise<string> {
  const server = await startModel([]);
  await server.close();
  return server.url;
}

function messagesOf(body: JsonObject): readonly JsonObject[] {
  return body["messages"] as readonly JsonObject[];
}

/** One sentence for a person, and nothing else. */
const ONE_SENTENCE = /^I could not answer: [^\n]+\.\n$/;

async function rolesIn(home: Home): Promise<readonly string[]> {
  return (await sessionOf(home)).map(({ role }) => role);
}

describe("nanobot agent reads what a server sends in its own way", () => {
  /** A turn behind the vendor's own name, so that all that is known of the vendor is in use. */
  function homeOf(vendor: string, server: ChatServer): Home {
    return newHome({
      providers: { [vendor]: { apiBase: server.url, apiKey: "key-of-the-fake" } },
      agents: { defaults: { provider: vendor, model: "some-model", timezone: "UTC" } },
    });
  }

  test("two calls with one index, and reasoning, from Ollama", async () => {
    const server = await startModel([{ raw: textOf("ollama") }, { text: "They differ." }, { text: "Yes." }]);
    const home = homeOf("ollama", server);
    mkdirSync(home.workspace);
    writeFileSync(join(home.workspace, "north.md"), "north wind\n");
    writeFileSync(join(home.workspace, "south.md"), "south wind\n");
    expect(await ask("compare", home)).toMatchObject({ code: 0, stdout: "They differ.\n" });
    const lines = await sessionOf(home);
    const calls = lines.flatMap(({ tool_calls = [] }) => tool_calls);
    const asked = calls.map((call) => JSON.parse(call.function.arguments));
    expect(asked).toEqual([{ path: "north.md" }, { path: "south.md" }]);
    // They ran side by side, and either may have been done first.
    const resultOf = (id: string) => lines.find(({ tool_call_id }) => tool_call_id === id)?.content;
    expect(resultOf(calls[0]?.id ?? "")).toContain("north wind");
    expect(resultOf(calls[1]?.id ?? "")).toContain("south wind");
    expect(await ask("sure?", home)).toMatchObject({ code: 0, stdout: "Yes.\n" });
    expect(server.invalid).toEqual([]);
  });

  test.each([
    ["llama.cpp", "llamacpp", "vllm", "At full moon, if a < b holds.", "neap"],
    ["DeepSeek", "deepseek", "deepseek", "Because of the moon.", "pulls"],
    ["OpenRouter", "openrouter", "openrouter", "Twice a day.", "Two highs"],
  ])("the answer of %s without its reasoning", async (_, stream, vendor, answer, thought) => {
    // It alone takes its reasoning back.
    const rules = vendor === "deepseek" ? ({ vendor: "deepseek" } as const) : {};
    const server = await startModel(() => ({ raw: textOf(stream) }), rules);
    const home = homeOf(vendor, server);
    const [plain, json, shown] = await Promise.all([
      ask("why?", home),
      ask("why?", home, "--json", "-s", "cli:json"),
      ask("why?", home, "--show-reasoning", "-s", "cli:shown"),
    ]);
    expect(plain).toEqual({ code: 0, stdout: `${answer}\n`, stderr: "" });
    expect(JSON.parse(json.stdout)).toMatchObject({ outcome: "answer", content: answer });
    expect(json.stdout + json.stderr).not.toContain(thought);
    expect(shown).toMatchObject({ code: 0, stdout: `${answer}\n` });
    expect(shown.stderr).toContain(thought);
    for (const key of ["cli:direct", "cli:json", "cli:shown"]) {
      expect((await sessionOf(home, key)).map(({ content }) => content)).toEqual(["why?", answer]);
    }
    expect(await ask("really?", home)).toMatchObject({ code: 0, stdout: `${answer}\n` });
    expect(server.invalid).toEqual([]);
  });

  test("an answer in a terminal without its reasoning", async () => {
    const server = await startModel([{ raw: textOf("llamacpp") }]);
    const terminal = inTerminal(["agent", "-m", "why?"], homeOf("vllm", server));
    expect(await terminal.exited).toBe(0);
    expect(terminal.shown).toContain("At full moon");
    expect(terminal.shown).not.toMatch(/neap|think>/);
  });
});

describe("nanobot agent takes the fallback model", () => {
  test.each([
    ["refuses connections", async () => deadAddress()],
    ["answers 500 for ever", async () => (await startModel(() => ({ status: 500, body: {} }))).url],
    ["never answers", async () => (await startModel(() => ({ never: true }))).url],
    ["refuses the key", async () => (await startModel(() => ({ status: 401, body: {} }))).url],
  ])("when the first %s", async (_, first) => {
    const second = await startModel(() => ({ text: "From the second." }));
    const home = homeAt(await first(), second.url);
    const { code, stdout } = await askBriefly("hello", home);
    expect([code, stdout]).toEqual([0, "From the second.\n"]);
    expect(second.requests.map(({ body }) => body["model"])).toEqual(["model-2"]);
    expect((await sessionOf(home)).map(({ content }) => content)).toEqual(["hello", "From the second."]);
    expect(second.invalid).toEqual([]);
  });

  test("but not when the first finds fault with the request", async () => {
    const first = await startModel([{ status: 400, body: { error: { message: "no such thing" } } }]);
    const second = await startModel([]);
    const { code, stdout, stderr } = await askBriefly("hello", homeAt(first.url, second.url));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(ONE_SENTENCE);
    expect(stderr).toContain("no such thing");
    expect(second.requests).toEqual([]);
  });
});

describe("nanobot agent without any model that works", () => {
  test("ends with 1 and a sentence that says why, and keeps the question alone", async () => {
    const [first, second] = await Promise.all([deadAddress(), deadAddress()]);
    const home = homeAt(first, second);
    const { code, stdout, stderr } = await askBriefly("hello", home);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^I could not answer: .*connection refused.*\.$/);
    expect(stderr.match(/I could not answer/g)).toHaveLength(1);
    expect((await sessionOf(home)).map(({ role, content }) => [role, content])).toEqual([["user", "hello"]]);
  });

  test("ends at once with 130 on Ctrl-C while it waits for another try", async () => {
    const server = await startModel([
      { status: 429, headers: { "retry-after": "30" }, body: { error: { message: "slow down" } } },
      { text: "too late" },
    ]);
    const home = homeAt(server.url);
    const terminal = inTerminal(["agent", "-m", "hello"], home);
    await terminal.until("trying again in 30 s");
    terminal.type("\x03");
    expect(await terminal.exited).toBe(130);
    expect(server.requests).toHaveLength(1);
    expect(await rolesIn(home)).toEqual(["user"]);
  });
});

describe("nanobot agent when the network is pulled", () => {
  /** One round of a tool and an answer; behind it, whatever was asked next. What broke off is gone on with. */
  function converse(body: JsonObject): Reply {
    const last = messagesOf(body).at(-1);
    const said = String(last?.["content"]);
    if (last?.["role"] === "tool") return { text: ["The result ", "is ", "42."] };
    if (said.includes("Your reply was cut off")) return { text: "is 42." };
    if (said.includes("what now")) return { text: "All is well." };
    return { toolCalls: [{ name: "exec", arguments: ['{"comm', 'and":"echo 42 | tee -a calls.log"}'] }] };
  }

  const isAfterTools = ({ body }: LoggedRequest) => messagesOf(body).at(-1)?.["role"] === "tool";

  /** When it is pulled: as a request arrives, or as soon as the program has got this text. */
  const stages: readonly (readonly [
    string,
    { request: (it: LoggedRequest) => boolean } | { text: string },
  ])[] = [
    ["before the headers", { request: () => true }],
    ["behind the headers", { text: "\r\n\r\n" }],
    ["in the middle of a call's arguments", { text: '{\\"comm' }],
    ["between two rounds", { text: "[DONE]\n\n" }],
    ["behind the result of a tool", { request: isAfterTools }],
    ["in the middle of the text", { text: '"is ' }],
  ];

  interface Scene {
    readonly home: Home;
    readonly cable: Cable;
    readonly outcome: Outcome;
    readonly servers: readonly ChatServer[];
  }

  type Stage = (typeof stages)[number][1];

  /** A turn that is struck by `fault`, once. */
  async function strike(
    stage: Stage,
    fault: Fault,
    ask: (message: string, home: Home) => Promise<Outcome>,
    second?: ChatServer,
  ): Promise<Scene> {
    const first = await startModel(converse, {
      onRequest(request) {
        if (cable.pulls === 0 && "request" in stage && stage.request(request)) cable.pull(fault);
      },
    });
    const cable = await startCable(first.url);
    cables.add(cable);
    if ("text" in stage) cable.pullAfter(stage.text, fault);
    const home = homeAt(cable.url, second?.url);
    const outcome = await ask("multiply", home);
    return { home, cable, outcome, servers: second ? [first, second] : [first] };
  }

  /** Nothing ran twice, and the conversation goes on as if nothing had been. */
  async function expectHealthy({ home, cable, servers }: Scene): Promise<void> {
    expect(cable.pulls).toBe(1);
    const log = join(home.workspace, "calls.log");
    if (existsSync(log)) expect(readFileSync(log, "utf8")).toBe("42\n");
    cable.plug();
    expect(await ask("what now?", home)).toMatchObject({ code: 0, stdout: "All is well.\n" });
    for (const { invalid } of servers) expect(invalid.map((request) => request.invalid)).toEqual([]);
    const contents = (await sessionOf(home)).map(({ content }) => content);
    expect(contents.join("\n")).not.toContain("I could not answer");
    expect(contents.at(-1)).toBe("All is well.");
  }

  async function expectAnswer(strikes: Promise<Scene>): Promise<void> {
    const scene = await strikes;
    expect([scene.outcome.code, scene.outcome.stdout]).toEqual([0, "The result is 42.\n"]);
    await expectHealthy(scene);
  }

  async function expectReason(strikes: Promise<Scene>): Promise<void> {
    const scene = await strikes;
    expect([scene.outcome.code, scene.outcome.stdout]).toEqual([1, ""]);
    expect(scene.outcome.stderr).toMatch(ONE_SENTENCE);
    await expectHealthy(scene);
  }

  const briefly = (seconds: number) => (message: string, home: Home) => askBriefly(message, home, seconds);

  // Most of the time is waiting, so the turns of a stage wait together.
  test.each(stages)("%s: answers, or lets the fallback answer, or says why not", async (_, stage) => {
    await Promise.all([
      expectAnswer(strike(stage, "blip", ask)),
      expectReason(strike(stage, "cut", briefly(0.5))),
      expectReason(strike(stage, "silent", briefly(0.5))),
      expectAnswer(strike(stage, "cut", briefly(1), await startModel(converse))),
      expectAnswer(strike(stage, "silent", briefly(1), await startModel(converse))),
    ]);
  });
});
