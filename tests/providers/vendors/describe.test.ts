import { describe, expect, test } from "bun:test";
import type { ProviderInfo } from "../../../src/core/app.ts";
import { describeProviders } from "../../../src/providers/vendors/describe.ts";
import type { ResolveInput } from "../../../src/providers/vendors/resolve.ts";
import { vendors } from "../../../src/providers/vendors/vendors.ts";

function listed(input: Partial<ResolveInput> = {}): readonly ProviderInfo[] {
  return describeProviders({ model: undefined, provider: "auto", providers: {}, env: {}, ...input });
}

function infoOf(name: string, input: Partial<ResolveInput> = {}): ProviderInfo | undefined {
  return listed(input).find((info) => info.name === name);
}

const variable = (name: string) => `\${${name}}`;

describe("describeProviders()", () => {
  test("lists every row and then the user's own endpoints", () => {
    const providers = { mine: { apiBase: "http://box/v1" }, "open-router": { apiKey: "k" } };
    expect(listed({ providers }).map(({ name }) => name)).toEqual([
      ...vendors.map(({ name }) => name),
      "mine",
    ]);
  });

  test("marks the one that answers, and no other", () => {
    const env = { DEEPSEEK_API_KEY: "k", GROQ_API_KEY: "k" };
    expect(
      listed({ env })
        .filter(({ inUse }) => inUse)
        .map(({ name }) => name),
    ).toEqual(["deepseek"]);
    expect(listed().some(({ inUse }) => inUse)).toBe(false);
  });

  test.each([
    ["groq", {}, { from: "missing", variable: "GROQ_API_KEY" }, false],
    ["groq", { env: { GROQ_API_KEY: "k" } }, { from: "environment", variable: "GROQ_API_KEY" }, true],
    ["groq", { providers: { groq: { apiKey: "k" } } }, { from: "config", variable: undefined }, true],
    [
      "groq",
      { providers: { groq: { apiKey: variable("A") } }, env: { A: "k" } },
      { from: "config", variable: "A" },
      true,
    ],
    ["groq", { providers: { groq: { apiKey: variable("A") } } }, { from: "missing", variable: "A" }, true],
    [
      "siliconflow",
      { env: { OPENAI_API_KEY: "k" } },
      { from: "environment", variable: "OPENAI_API_KEY" },
      false,
    ],
    ["ollama", {}, { from: "none needed", variable: "OLLAMA_API_KEY" }, false],
    ["azure_openai", {}, { from: "missing", variable: undefined }, false],
    [
      "mine",
      { providers: { mine: { apiBase: "http://box/v1" } } },
      { from: "none needed", variable: undefined },
      true,
    ],
  ] as const)("says where the key of %s comes from with %j", (name, input, key, configured) => {
    expect(infoOf(name, input)).toMatchObject({ key, configured });
  });

  test.each([
    ["http://box:9/v1/", "http://box:9/v1"],
    ["https://user:hunter2@box/v1/hunter2", "https://box"],
    ["https://token-hunter2@box/v1", "https://box"],
    ["https://box/v1?key=hunter2#hunter2", "https://box/v1"],
    [`https://u:${variable("PASSWORD")}@box/v1`, "https://box"],
    [`https://${variable("UNSET")}/hunter2`, undefined],
    ["hunter2", undefined],
    ["file:///hunter2", undefined],
  ])("shows the address %s as %s", (apiBase, shown) => {
    const input = { providers: { mine: { apiBase } }, env: { PASSWORD: "hunter2" } };
    expect(infoOf("mine", input)?.baseUrl).toBe(shown);
    expect(JSON.stringify(listed(input))).not.toContain("hunter2");
  });

  test("holds no key, wherever it comes from", () => {
    const providers = {
      openrouter: { apiKey: "sk-or-hunter2" },
      mine: { apiBase: "http://b", apiKey: "hunter2" },
    };
    const text = JSON.stringify(listed({ providers, env: { GROQ_API_KEY: "hunter2" } }));
    expect(text).not.toContain("hunter2");
  });

  test("shows the name and the protocol that the settings give", () => {
    const openai = { apiKey: "k", displayName: "Work", apiType: "chat_completions" } as const;
    expect(infoOf("openai", { providers: { openai } })).toMatchObject({
      label: "Work",
      protocol: "chatCompletions",
      baseUrl: "https://api.openai.com/v1",
    });
  });
});
