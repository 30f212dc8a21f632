import { describe, expect, test } from "bun:test";
import { type ResolveInput, resolveProvider } from "../../src/providers/resolve.ts";
import { vendors } from "../../src/providers/vendors.ts";

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

describe("vendors", () => {
  test("have names, addresses and key prefixes of their own", () => {
    expect(new Set(vendors.map(({ name }) => name)).size).toBe(vendors.length);
    for (const { baseUrl } of vendors) expect(URL.canParse(baseUrl)).toBe(true);
    const prefixes = vendors.flatMap(({ keyPrefix }) => keyPrefix ?? []);
    expect(new Set(prefixes).size).toBe(prefixes.length);
  });
});

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

  test("never puts a key into what people read", () => {
    const { why } = resolved({ providers: OPENROUTER });
    expect(why).not.toContain("abc");
  });
});
