import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApp, type ProcessApp } from "../src/app.ts";
import type { ModelChoice } from "../src/core/app.ts";
import { UserError } from "../src/core/errors.ts";
import { createPlatform } from "../src/platform/index.ts";
import { startChatServer } from "./fakes/chat-server.ts";
import { tempFolder } from "./fakes/temp.ts";

/** As the configuration writes it. */
const variable = (name: string) => `\${${name}}`;

const providers = { mine: { apiBase: "http://127.0.0.1:9/v1", apiKey: variable("MY_KEY") } };

function ask({ model, name }: ModelChoice, signal = new AbortController().signal) {
  return model.chat(
    {
      model: name,
      messages: [{ role: "user", content: "hi" }],
      tools: [],
      toolChoice: "auto",
      maxTokens: 9,
    },
    { signal, onDelta() {} },
  );
}

/** The program with this configuration and environment. */
async function appWith(config: object, env: Record<string, string> = {}) {
  const home = tempFolder();
  writeFileSync(join(home, "config.json"), JSON.stringify(config));
  const platform = { ...(await createPlatform()), env: { NANOBOT_HOME: home, ...env } };
  return createApp({
    platform,
    version: "1",
    flags: { config: undefined, workspace: undefined, verbose: false },
  });
}

test("chooseModel() takes all settings of the configured preset", async () => {
  const app = await appWith(
    {
      agents: { defaults: { model: "other", modelPreset: "fast", maxTokens: 5 } },
      modelPresets: { fast: { model: "small", provider: "mine", maxTokens: 7, contextWindowTokens: 9_000 } },
      providers,
    },
    { MY_KEY: "secret-value" },
  );
  expect(await app.chooseModel({})).toMatchObject({
    name: "small",
    maxTokens: 7,
    contextWindowTokens: 9_000,
  });
});

test("chooseModel() takes a preset by the name that was asked for, and any other name as a model", async () => {
  const app = await appWith(
    {
      agents: { defaults: { provider: "mine" } },
      modelPresets: { big: { model: "large", provider: "mine" } },
      providers,
    },
    { MY_KEY: "secret-value" },
  );
  expect((await app.chooseModel({ model: "big" })).name).toBe("large");
  expect((await app.chooseModel({ model: "huge" })).name).toBe("huge");
});

test("chooseModel() fills variables in when they are used, and names the key of one that is not set", async () => {
  const app = await appWith({ agents: { defaults: { model: "mine/m" } }, providers });
  const failure = await app.chooseModel({}).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UserError);
  expect(String(failure)).toContain("providers.mine.apiKey");
});

test("chooseModel() is offline when nothing is configured, and never when a model is named", async () => {
  const app = await appWith({});
  expect((await app.chooseModel({})).offline).toBe(true);
  expect(await app.chooseModel({ model: "gpt-5" }).catch((error: unknown) => error)).toBeInstanceOf(
    UserError,
  );
});

test("createApp() refuses a time zone that a variable made wrong", async () => {
  const config = { agents: { defaults: { timezone: variable("ZONE") } } };
  const wrong = await (await appWith(config, { ZONE: "Mars/Base" }))
    .sessions()
    .catch((error: unknown) => error);
  expect(wrong).toBeInstanceOf(UserError);
  expect(String(wrong)).toContain("agents.defaults.timezone");
  await (await appWith(config, { ZONE: "Europe/Berlin" })).sessions();
});

test("toolbox() does without the key of a search engine whose variable is not set, and without other parts", async () => {
  const tools = {
    web: { search: { provider: "kagi", apiKey: variable("MISSING") } },
    mcpServers: { other: { command: "x", env: { KEY: variable("MISSING") } } },
  };
  const { definitions } = await (await appWith({ tools })).toolbox();
  expect(definitions.map(({ name }) => name)).toContain("web_search");
});

test.each([
  [{ exec: { pathPrepend: variable("MISSING") } }, "tools.exec.pathPrepend"],
  [{ ssrfWhitelist: ["nonsense"] }, "tools.ssrfWhitelist[0]"],
  [{ exec: { sandboxRoBinds: ["/"] } }, "tools.exec.sandboxRoBinds[0]"],
  [{ web: { proxy: "socks5://127.0.0.1:1080" } }, "tools.web.proxy"],
])("toolbox() refuses %j, and names the key", async (tools, key) => {
  const failure = await (await appWith({ tools })).toolbox().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UserError);
  expect(String(failure)).toContain(key);
});

test("toolbox() loads no package that only some call needs", () => {
  const source = (path: string) => JSON.stringify(join(import.meta.dir, "../src", path));
  const program = `
    const { createApp } = await import(${source("app.ts")});
    const { createPlatform } = await import(${source("platform/index.ts")});
    const platform = { ...(await createPlatform()), env: { NANOBOT_HOME: ${JSON.stringify(tempFolder())} } };
    const app = createApp({ platform, version: "1", flags: { verbose: false } });
    await app.toolbox();
    console.log(Object.keys(require.cache).join("\\n"));
  `;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program]);
  const packages = [...stdout.toString().matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].map(
    ([, name]) => name,
  );
  expect(stderr.toString()).toBe("");
  expect([...new Set(packages)].sort()).toEqual(["@valibot/to-json-schema", "jsonrepair", "valibot"]);
});

test("mask() takes out what the configuration and the environment hold", async () => {
  const app = await appWith(
    { providers: { mine: { apiKey: "from-the-file" } } },
    { SOME_TOKEN: "from-the-environment" },
  );
  await app.paths();
  expect(app.mask("a from-the-file b from-the-environment c")).toBe("a [masked] b [masked] c");
});

test("sessions() keeps as much of a conversation as the largest window of any preset asks for", async () => {
  const app = await appWith({
    agents: { defaults: { contextWindowTokens: 1_000 } },
    modelPresets: { large: { model: "m", provider: "mine", contextWindowTokens: 100_000 } },
    providers,
  });
  const { signal } = new AbortController();
  const session = await (await app.sessions()).open("a", { signal });
  for (let turn = 0; turn < 60; turn++) {
    await session.append([{ role: "user", content: "word ".repeat(100) }], { sync: false });
  }
  await session.close();
  const again = await (await app.sessions()).open("a", { signal });
  expect(again.window(100_000)).toHaveLength(60);
  await again.close();
});

test("providers() marks the one that the configured preset is asked of", async () => {
  const app = await appWith(
    {
      agents: { defaults: { model: "gpt-x", modelPreset: "fast" } },
      modelPresets: { fast: { model: "small", provider: "mine" } },
      providers,
    },
    { MY_KEY: "secret-value", OPENAI_API_KEY: "secret-value" },
  );
  const listed = await app.providers();
  expect(listed.filter(({ inUse }) => inUse)).toEqual([
    {
      name: "mine",
      label: "mine",
      protocol: "chatCompletions",
      baseUrl: "http://127.0.0.1:9/v1",
      key: { from: "config", variable: "MY_KEY" },
      configured: true,
      inUse: true,
    },
  ]);
  expect(JSON.stringify(listed)).not.toContain("secret-value");
});

test("chooseModel() asks a server of this machine, with nothing of what is configured and without stand-ins", async () => {
  const chat = await startChatServer({ script: [{ text: "hi" }] });
  const app = await appWith(
    {
      agents: { defaults: { provider: "mine", fallbackModels: ["mine/other"] } },
      modelPresets: { m: { model: "other", provider: "mine" } },
      providers: { ...providers, ollama: { apiKey: "k", extraHeaders: { "X-Mine": "1" } } },
    },
    { MY_KEY: "secret-value", OLLAMA_API_KEY: "secret-value" },
  );
  const server = { name: "ollama", label: "Ollama", baseUrl: chat.url, models: ["m"] };
  const choice = await app.chooseModel({ model: "m", server });
  const { name, why, fallbacks } = choice;
  expect([name, why, fallbacks]).toEqual(["m", "ollama, because it was found on this machine", []]);
  expect((await ask(choice)).ok).toBe(true);
  const { headers = {}, body } = chat.requests[0] ?? {};
  expect([headers["authorization"], headers["x-mine"], body?.["model"]]).toEqual([undefined, undefined, "m"]);
  await chat.close();
});

/** What is recorded in the workspace of `app`. */
async function recordsOf(app: ProcessApp): Promise<readonly unknown[]> {
  const { workspace } = await app.paths();
  const lines = readFileSync(join(workspace, ".nanobot/usage.jsonl"), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

test("flush() resolves when a call that ended this moment is recorded, at what it cost", async () => {
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 0 };
  const chat = await startChatServer({ script: [{ text: "hi", usage }] });
  const app = await appWith({
    agents: { defaults: { model: "mine/m" } },
    providers: { mine: { apiBase: chat.url } },
    modelPrices: { m: { input: 3, output: 1 } },
  });
  expect((await ask(await app.chooseModel({}))).ok).toBe(true);
  await app.flush();
  expect(await recordsOf(app)).toMatchObject([
    { model: "m", provider: "mine", origin: "chat", input: 1_000_000, cost: 3 },
  ]);
  await chat.close();
});

test.each(["is refused", "is stopped"])("flush() records a call that %s", async (how) => {
  const abort = new AbortController();
  const chat = await startChatServer({
    script: [how === "is refused" ? { status: 401, body: {} } : { never: true }],
    onRequest: () => (how === "is refused" ? undefined : abort.abort()),
  });
  const app = await appWith({
    agents: { defaults: { model: "mine/m" } },
    providers: { mine: { apiBase: chat.url } },
  });
  expect((await ask(await app.chooseModel({}), abort.signal)).ok).toBe(false);
  await app.flush();
  expect(await recordsOf(app)).toMatchObject([{ model: "m", failed: true }]);
  await chat.close();
});

test("flush() makes no record where no model was asked", async () => {
  const app = await appWith({});
  await app.flush();
  expect(existsSync(join((await app.paths()).workspace, ".nanobot"))).toBe(false);
});
