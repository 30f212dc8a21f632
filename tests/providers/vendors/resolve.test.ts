import { describe, expect, test } from "bun:test";
import {
  type ResolveInput,
  resolveAtServer,
  resolveProvider,
} from "../../../src/providers/vendors/resolve.ts";
import { vendors } from "../../../src/providers/vendors/vendors.ts";

function resolve(input: Partial<ResolveInput>) {
  return resolveProvider({ model: undefined, provider: "auto", providers: {}, env: {}, ...input });
}

function resolved(input: Partial<ResolveInput>) {
  const result = resolve(input);
  if (result.kind !== "resolved") throw new Error(`${result.kind}: ${JSON.stringify(result)}`);
  return result;
}

const OPENROUTER = { openrouter: { apiKey: "sk-or-v1-abc" } };
const MINE = { mine: { apiBase: "http://127.0.0.1:9/v1" } };

describe("resolveProvider()", () => {
  test("finds nothing when nothing is configured and nothing is named", () => {
    expect(resolve({})).toEqual({ kind: "unconfigured", why: "no provider is configured" });
    const blank = { openai: { apiKey: "", apiBase: null }, openrouter: { apiKey: null } };
    expect(resolve({ providers: blank, env: { OPENAI_API_KEY: " " } }).kind).toBe("unconfigured");
  });

  test("takes the provider that is named, whatever the model's name says", () => {
    const providers = { ...OPENROUTER, groq: { apiKey: "gsk_1" } };
    const { endpoint, name } = resolved({ provider: "groq", model: "openai/gpt-oss-120b", providers });
    expect([endpoint.provider, name]).toEqual(["groq", "openai/gpt-oss-120b"]);
  });

  test("reads hyphens, underscores and capitals of a provider's name as nothing", () => {
    expect(
      resolved({ provider: "Open-Router", providers: { open_router: { apiKey: "k" } } }).endpoint,
    ).toMatchObject({
      provider: "openrouter",
      apiKey: "k",
    });
  });

  test("takes the whole address of a call for the base of it, and sends its parameters along", () => {
    const at = (apiBase: string) => {
      const { endpoint } = resolved({ model: "m", providers: { mine: { apiBase, extraQuery: { b: 2 } } } });
      return [endpoint.baseUrl, endpoint.extraQuery];
    };
    expect(at("http://127.0.0.1:9/v1/chat/completions?a=1&b=1#x")).toEqual([
      "http://127.0.0.1:9/v1",
      { a: "1", b: "2" },
    ]);
    expect(at("http://127.0.0.1:9/v1/responses/")).toEqual(["http://127.0.0.1:9/v1", { b: "2" }]);
    expect(at("http://127.0.0.1:9/v1/")).toEqual(["http://127.0.0.1:9/v1", { b: "2" }]);
  });

  test("refuses a provider that nobody knows, with the nearest name", () => {
    expect(resolve({ provider: "openruoter" })).toEqual({
      kind: "failed",
      reason: 'There is no provider "openruoter"',
      hint: 'Did you mean "openrouter"?',
    });
  });

  test("refuses a named provider without a key, and says where it goes", () => {
    const result = resolve({ provider: "deepseek" });
    expect(result).toMatchObject({ kind: "failed", reason: "There is no API key of DeepSeek" });
    expect(JSON.stringify(result)).toContain("DEEPSEEK_API_KEY");
  });

  test.each([
    ["anthropic/claude-sonnet-5-5", "anthropic", "claude-sonnet-5-5"],
    ["claude-sonnet-5-5", "anthropic", "claude-sonnet-5-5"],
    ["gpt-4o", "openai", "gpt-4o"],
    ["gemini-flash-latest", "gemini", "gemini-flash-latest"],
    ["codestral-latest", "mistral", "codestral-latest"],
    ["openrouter/anthropic/claude-sonnet-5", "openrouter", "anthropic/claude-sonnet-5"],
    ["openrouter/auto", "openrouter", "openrouter/auto"],
    ["groq/llama-4", "groq", "llama-4"],
    ["ollama/llama3.2", "ollama", "llama3.2"],
    ["kimi-for-coding", "kimi_coding", "kimi-for-coding"],
    ["z-ai/glm-5", "zhipu", "glm-5"],
    ["nvidia/nemotron-3", "nvidia", "nvidia/nemotron-3"],
    ["nvidia/meta/llama-4", "nvidia", "meta/llama-4"],
    ["aihubmix/anthropic/claude-x", "aihubmix", "claude-x"],
    ["Kimi-Coding/k3", "kimi_coding", "k3"],
  ])("sends %s to %s as %s when every vendor has a key", (model, provider, name) => {
    const env = Object.fromEntries(
      vendors.flatMap(({ keyVariable }) => (keyVariable ? [[keyVariable, "k"]] : [])),
    );
    const result = resolved({ model, env });
    expect([result.endpoint.provider, result.name]).toEqual([provider, name]);
  });

  test("strips the name of an own endpoint, and gives it its settings", () => {
    const mine = {
      apiBase: "http://127.0.0.1:9/v1",
      apiKey: "k",
      extraHeaders: { "X-A": "1" },
      extraBody: { top_k: 1 },
      extraQuery: { v: 2 },
    };
    expect(resolved({ model: "mine/llama3", providers: { mine, ...OPENROUTER } })).toMatchObject({
      endpoint: {
        provider: "mine",
        baseUrl: "http://127.0.0.1:9/v1",
        apiKey: "k",
        headers: { "X-A": "1" },
        extraBody: { top_k: 1 },
        extraQuery: { v: "2" },
      },
      name: "llama3",
      why: "mine, because the model's name begins with mine/",
    });
  });

  test("lets a gateway serve a model whose vendor has no key, under its whole name", () => {
    const { endpoint, name } = resolved({ model: "anthropic/claude-opus-4-5", providers: OPENROUTER });
    expect([endpoint.provider, name]).toEqual(["openrouter", "anthropic/claude-opus-4-5"]);
  });

  test("lets an own endpoint serve what nobody else can", () => {
    const { endpoint, name } = resolved({ model: "anthropic/claude-x", providers: MINE });
    expect([endpoint.provider, name]).toEqual(["mine", "anthropic/claude-x"]);
  });

  test("refuses a named model whose key is missing, although somebody else has one", () => {
    const result = resolve({ model: "gpt-4o", env: { DEEPSEEK_API_KEY: "k" } });
    expect(result).toMatchObject({
      kind: "failed",
      reason: 'There is no API key of OpenAI for the model "gpt-4o"',
      hint: expect.stringContaining("OPENAI_API_KEY"),
    });
  });

  test("refuses a named model when nothing is configured", () => {
    expect(resolve({ model: "some-model" })).toMatchObject({
      kind: "failed",
      reason: 'No provider is set up for the model "some-model"',
    });
  });

  test("prefers a local server whose address is configured for a model of no vendor", () => {
    const providers = { ...OPENROUTER, ollama: { apiBase: "http://box:11434/v1" } };
    expect(resolved({ model: "qwen3:8b", providers }).endpoint).toMatchObject({
      provider: "ollama",
      baseUrl: "http://box:11434/v1",
      apiKey: undefined,
    });
  });

  test("takes a row's default model for a key without a model, and says so", () => {
    expect(resolved({ env: { DEEPSEEK_API_KEY: "k" } })).toMatchObject({
      endpoint: { provider: "deepseek", baseUrl: "https://api.deepseek.com", apiKey: "k" },
      name: "deepseek-flash",
      why: "deepseek, because DEEPSEEK_API_KEY is set, with its default model, because none is named",
    });
  });

  test("prefers a key from the configuration to one from the environment", () => {
    const providers = { groq: { apiKey: "gsk_1" } };
    expect(resolved({ providers, env: { ANTHROPIC_API_KEY: "k" } }).endpoint.provider).toBe("groq");
    expect(
      resolved({ providers: { groq: { apiKey: "mine" } }, env: { GROQ_API_KEY: "env" } }).endpoint.apiKey,
    ).toBe("mine");
  });

  test("asks for a model when only an own endpoint is configured", () => {
    expect(resolve({ providers: MINE })).toMatchObject({ kind: "failed", hint: "Set agents.defaults.model" });
  });

  test("refuses an own endpoint without an address", () => {
    expect(resolve({ model: "mine/x", providers: { mine: { apiKey: "k" } } })).toMatchObject({
      kind: "failed",
      hint: "Set providers.mine.apiBase",
    });
  });

  test.each(["localhost:9/v1", "file:///etc", "box", "user:hunter2@box"])(
    "refuses the address %s, names the setting and does not repeat the value",
    (apiBase) => {
      const result = resolve({ model: "mine/x", providers: { mine: { apiBase } } });
      expect(result).toMatchObject({
        kind: "failed",
        reason: expect.stringContaining("providers.mine.apiBase"),
      });
      expect(JSON.stringify(result)).not.toContain(apiBase);
    },
  );

  test.each(["$" + "{MY_BASE}", "https://$" + "{HOST}/v1"])(
    "leaves the address %s to its variable",
    (apiBase) => {
      const { endpoint } = resolved({ model: "mine/x", providers: { mine: { apiBase } } });
      expect(endpoint.baseUrl).toBe(apiBase);
    },
  );

  test("sends a key that was put under another vendor's name to the vendor it belongs to", () => {
    const result = resolved({ model: "openai/gpt-4o", providers: { openai: { apiKey: "sk-or-v1-abc" } } });
    expect(result.endpoint).toMatchObject({
      provider: "openrouter",
      baseUrl: "https://openrouter.ai/api/v1",
    });
    expect([result.name, result.why]).toEqual(["openai/gpt-4o", "openrouter, because the key begins sk-or-"]);
  });

  test("leaves a key alone where an address is configured", () => {
    const openai = { apiKey: "sk-or-v1-abc", apiBase: "http://proxy.test/v1" };
    expect(resolved({ model: "gpt-4o", providers: { openai } }).endpoint).toMatchObject({
      provider: "openai",
      baseUrl: "http://proxy.test/v1",
    });
  });

  test("looks at the key behind a variable, and leaves one alone whose variable is not set", () => {
    const openai = { apiKey: "$" + "{MY_KEY}" };
    const ask = (env: Record<string, string>) => resolved({ model: "gpt-4o", providers: { openai }, env });
    expect(ask({ MY_KEY: "sk-or-v1-abc" })).toMatchObject({
      endpoint: { provider: "openrouter", apiKey: "$" + "{MY_KEY}" },
      why: "openrouter, because the key begins sk-or-",
    });
    expect(ask({ MY_KEY: "sk-abc" }).endpoint.provider).toBe("openai");
    expect(ask({}).endpoint.provider).toBe("openai");
  });

  test("takes the key of a shared variable for its owner alone", () => {
    const env = { OPENAI_API_KEY: "k", OPENCODE_API_KEY: "k" };
    expect(resolved({ env }).endpoint.provider).toBe("opencode");
    expect(resolved({ env: { OPENAI_API_KEY: "k" } }).endpoint.provider).toBe("openai");
    expect(resolve({ model: "siliconflow-model", env: { OPENAI_API_KEY: "k" } })).toMatchObject({
      kind: "failed",
      reason: 'There is no API key of SiliconFlow for the model "siliconflow-model"',
    });
    expect(resolve({ env: { HF_TOKEN: "hf_1" } }).kind).toBe("unconfigured");
  });

  test.each([
    ["forced", { provider: "siliconflow", model: "a/b" }],
    ["in front of the model", { model: "siliconflow/a/b" }],
    [
      "configured with an address",
      { model: "siliconflow-x", providers: { siliconflow: { apiBase: "http://s/v1" } } },
    ],
  ])("takes the key of a shared variable for a vendor that is %s", (_, input) => {
    const { endpoint } = resolved({ ...input, env: { OPENAI_API_KEY: "k" } });
    expect(endpoint).toMatchObject({ provider: "siliconflow", apiKey: "k" });
  });

  test("does not count the empty blocks of a foreign configuration as configured", () => {
    const blank = { apiKey: "", apiBase: null, extraHeaders: null };
    const providers = Object.fromEntries(vendors.map(({ name }) => [name, blank]));
    const { endpoint } = resolved({ providers, model: "gpt-4o", env: { OPENAI_API_KEY: "k" } });
    expect(endpoint.provider).toBe("openai");
  });

  test("does not take a local server for running because its variable is set", () => {
    expect(resolve({ env: { OLLAMA_API_KEY: "k" } }).kind).toBe("unconfigured");
  });

  test("lets a host of open models answer for one whose maker has no key, and not for a closed one", () => {
    const providers = { groq: { apiKey: "gsk_1" } };
    expect(resolved({ model: "openai/gpt-oss-120b", providers })).toMatchObject({
      endpoint: { provider: "groq" },
      name: "openai/gpt-oss-120b",
      why: "groq, because its key is configured",
    });
    expect(resolve({ model: "gpt-4o", providers })).toMatchObject({
      kind: "failed",
      reason: 'There is no API key of OpenAI for the model "gpt-4o"',
    });
  });

  test("sends no closed model to a local server whose address is configured", () => {
    const providers = { ollama: { apiBase: "http://box:11434/v1" } };
    expect(resolve({ model: "claude-x", providers })).toMatchObject({
      kind: "failed",
      reason: 'There is no API key of Anthropic for the model "claude-x"',
    });
    expect(resolved({ model: "gemma3", providers }).endpoint.provider).toBe("ollama");
  });

  test("prefers a gateway to a local server for a model with a vendor in front", () => {
    const providers = { ...OPENROUTER, lm_studio: { apiBase: "http://box:1234/v1" } };
    expect(resolved({ model: "deepseek/deepseek-r1", providers }).endpoint.provider).toBe("openrouter");
    expect(resolved({ model: "deepseek-r1", providers }).endpoint.provider).toBe("lm_studio");
  });

  test("prefers the local server whose address has the port of its row", () => {
    const providers = { vllm: { apiBase: "http://box:9/v1" }, lm_studio: { apiBase: "http://box:1234/v1" } };
    expect(resolved({ model: "some-model", providers }).endpoint.provider).toBe("lm_studio");
  });

  test("follows the longest keyword, whatever the order of the rows", () => {
    const providers = { volcengine: { apiKey: "a" }, volcengine_coding_plan: { apiKey: "b" } };
    expect(resolved({ model: "volcengine-plan/ark-code-latest", providers })).toMatchObject({
      endpoint: { provider: "volcengine_coding_plan" },
      name: "ark-code-latest",
    });
    const spark = { volcengine: { apiKey: "a" }, deepseek: { apiKey: "b" } };
    expect(resolved({ model: "spark-deepseek", providers: spark }).endpoint.provider).toBe("deepseek");
  });

  test("asks for the address of Azure, whose key alone says nothing", () => {
    expect(resolve({ model: "azure/mine", providers: { azure_openai: { apiKey: "k" } } })).toMatchObject({
      kind: "failed",
      hint: "Set providers.azure_openai.apiBase",
    });
    const azure_openai = { apiKey: "k", apiBase: "https://mine.openai.azure.com" };
    expect(resolved({ model: "azure/mine", providers: { azure_openai } })).toMatchObject({
      endpoint: { provider: "azure_openai", protocol: "responses", azure: true },
      name: "mine",
    });
  });

  test("asks for a model where the row has none", () => {
    expect(resolve({ provider: "lm_studio" })).toMatchObject({
      kind: "failed",
      reason: 'No model is named for the provider "lm_studio"',
    });
  });

  test.each([
    ["openai", {}, "responses"],
    ["openai", { apiBase: "http://proxy.test/v1" }, "chatCompletions"],
    ["openai", { apiBase: "https://api.openai.com/v1" }, "responses"],
    ["openai", { apiBase: "http://proxy.test/v1", apiType: "responses" }, "responses"],
    ["openai", { apiType: "chat_completions" }, "chatCompletions"],
    ["azure_openai", { apiBase: "https://a.test", apiType: "chat_completions" }, "chatCompletions"],
    ["deepseek", {}, "chatCompletions"],
    ["deepseek", { apiType: "responses" }, "responses"],
    ["anthropic", { apiBase: "http://proxy.test" }, "anthropic"],
    ["anthropic", { apiType: "chat_completions" }, "anthropic"],
    ["mine", { apiBase: "http://own.test/v1" }, "chatCompletions"],
    ["mine", { apiBase: "http://own.test/v1", apiType: "responses" }, "responses"],
  ] as const)("speaks to %s with %j by %3$s", (provider, settings, protocol) => {
    const providers = { [provider]: { apiKey: "k", ...settings } };
    expect(resolved({ provider, model: "m", providers }).endpoint.protocol).toBe(protocol);
  });

  test("takes the style of thinking from the settings, else from the row", () => {
    const deepseek = { apiKey: "k" };
    const quirksOf = (settings: object) =>
      resolved({ provider: "deepseek", providers: { deepseek: { ...deepseek, ...settings } } }).endpoint
        .quirks;
    expect(quirksOf({})).toEqual({ replayReasoning: true, thinking: "thinkingType" });
    expect(quirksOf({ thinkingStyle: "enable_thinking" }).thinking).toBe("enableThinking");
    expect(quirksOf({ thinkingStyle: "reasoning_split" }).thinking).toBe("split");
  });

  test("calls a provider what its displayName says", () => {
    const mine = { apiBase: "http://127.0.0.1:9/v1", displayName: "My box" };
    const { why, endpoint } = resolved({ model: "mine/x", providers: { mine } });
    expect([why, endpoint.provider]).toEqual(["My box, because the model's name begins with mine/", "mine"]);
    const deepseek = { displayName: "The deep one" };
    expect(resolve({ provider: "deepseek", providers: { deepseek } })).toMatchObject({
      reason: "There is no API key of The deep one",
    });
  });

  test("never puts a key into what people read", () => {
    const { why } = resolved({ providers: OPENROUTER });
    expect(why).not.toContain("abc");
  });
});

describe("resolveAtServer()", () => {
  test("goes to the server that was found, with the model's name to the letter and nothing else", () => {
    const server = {
      name: "ollama",
      label: "Ollama",
      baseUrl: "http://127.0.0.1:11434/v1",
      models: ["a", "ollama/b"],
    };
    expect(resolveAtServer(server, "ollama/b")).toEqual({
      kind: "resolved",
      endpoint: {
        provider: "ollama",
        protocol: "chatCompletions",
        azure: false,
        baseUrl: "http://127.0.0.1:11434/v1",
        apiKey: undefined,
        headers: {},
        extraBody: {},
        extraQuery: {},
        quirks: {},
      },
      name: "ollama/b",
      why: "ollama, because it was found on this machine",
    });
    expect(resolveAtServer(server).name).toBe("a");
  });
});
