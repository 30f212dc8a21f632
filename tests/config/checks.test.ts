import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { kept, unsupported } from "../../src/config/checks.ts";
import { configSchema } from "../../src/config/schema.ts";
import { type AnySchema, schemaAt, shapeOf } from "../../src/config/shape.ts";
import { makeConfig, variable } from "./fixture.ts";

async function warningsFor(content: object): Promise<readonly string[]> {
  return (await makeConfig(content).load()).warnings;
}

const noEffect = (path: string) => `${path} is not supported yet and has no effect`;

/** Every setting, as a dotted path; `*` stands for a name of the user's own. */
function settingsOf(schema: AnySchema, path: readonly string[] = []): string[] {
  const shape = shapeOf(schema);
  if (shape.kind === "record" && shapeOf(shape.value).kind === "object") {
    return settingsOf(shape.value, [...path, "*"]);
  }
  if (shape.kind !== "object") return [path.join(".")];
  return [...shape.entries].flatMap(([key, entry]) => settingsOf(entry, [...path, key]));
}

describe("unsupported", () => {
  test("names only settings that the schema has", () => {
    for (const path of [...unsupported, ...kept]) {
      expect([path, schemaAt(configSchema, path.split("."))]).not.toEqual([path, undefined]);
    }
  });

  const src = resolve(import.meta.dir, "../../src");
  const code = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/^config.(schema|checks|translate)/.test(file))
    .map((file) => readFileSync(join(src, file), "utf8"))
    .join("\n");
  const all = settingsOf(configSchema);
  const nameOf = (path: string) => path.split(".").at(-1) ?? "";
  const isNamed = (path: string) =>
    [...unsupported, ...kept].some((one) => path === one || path.startsWith(`${one}.`));

  test("names every setting that no other part of the program reads", () => {
    const isRead = (path: string) => new RegExp(`\\b${nameOf(path)}\\b`).test(code);
    expect(all.filter((path) => !isNamed(path) && !isRead(path))).toEqual([]);
  });

  test("names no setting that some part of the program reads", () => {
    // One word is a name of many things; one of several is that of the setting.
    const isOwn = (path: string) =>
      /[a-z][A-Z]/.test(nameOf(path)) && all.filter((other) => nameOf(other) === nameOf(path)).length === 1;
    const isRead = (path: string) => new RegExp(`[.{,]\\s*${nameOf(path)}\\b(?!\\()`).test(code);
    const read = all.filter((path) => isNamed(path) && isOwn(path) && isRead(path));
    expect(read).toEqual([]);
  });
});

describe("loadConfig() warns", () => {
  test("of settings of a provider that have no effect", async () => {
    const providers = {
      a: { apiKey: "k", proxy: "http://p", apiType: "responses", region: "eu", profile: "x" },
      b: { thinkingStyle: "thinking_type", displayName: "B", apiType: "chat_completions" },
    };
    expect(new Set(await warningsFor({ providers }))).toEqual(
      new Set(["a.profile", "a.proxy", "a.region"].map((name) => noEffect(`providers.${name}`))),
    );
  });

  test("of every channel that is enabled and does not exist here, and of no other", async () => {
    const channels = {
      telegram: { enabled: true, token: "t" },
      carrierPigeon: { enabled: true },
      slack: { enabled: false },
      discord: {},
    };
    expect(await warningsFor({ channels })).toEqual([noEffect("channels.carrierPigeon")]);
  });

  test("of settings of tools and agent that have no effect", async () => {
    const warnings = await warningsFor({
      agents: { defaults: { botName: "b", failOnToolError: false, timezoneMode: "auto" } },
      tools: {
        exec: { sandboxRoBinds: ["/x"], sandbox: "bwrap", allowPatterns: ["ls"], policy: "ask" },
        ssrfWhitelist: ["10.0.0.0/8"],
        web: { proxy: "http://p", enable: false, search: { provider: "brave", maxResults: 3 } },
        maxSessionMessagesPerMinute: 5,
      },
    });
    expect(warnings).toEqual([
      noEffect("agents.defaults.botName"),
      noEffect("agents.defaults.failOnToolError"),
      noEffect("tools.maxSessionMessagesPerMinute"),
      "agents.defaults.timezoneMode has no effect",
    ]);
  });

  test("of nothing where the value is the default, or asks for what is done anyway", async () => {
    const warnings = await warningsFor({
      agents: { defaults: { botName: "nanobot", idleCompactAfterMinutes: 15, timezoneMode: "manual" } },
      providers: { a: { apiType: "auto" } },
      gateway: { port: 18_790 },
    });
    expect(warnings).toEqual([]);
  });

  test("of a channel that does not exist here, with the one that may be meant", async () => {
    const channels = { telegrm: { enabled: true }, slack: { enabled: true }, websocket: { enabled: true } };
    expect(await warningsFor({ channels })).toEqual([
      `${noEffect("channels.telegrm")}; did you mean "telegram"?`,
      noEffect("channels.slack"),
    ]);
  });

  test("of no preset, since presets are supported", async () => {
    const modelPresets = { fast: { model: "m" } };
    expect(await warningsFor({ modelPresets, agents: { defaults: { modelPreset: "fast" } } })).toEqual([]);
  });

  test("of contradictions in parts that are not supported yet, and starts", async () => {
    const noPreset = "there is no preset of this name in modelPresets";
    const defaults = {
      fallbackModels: ["gone", { provider: "a", model: "m" }],
      dream: { modelOverride: "gone" },
    };
    const warnings = await warningsFor({
      agents: { defaults },
      api: { host: "::" },
      gateway: { host: "0.0.0.0" },
    });
    expect(warnings.slice(-4)).toEqual([
      `agents.defaults.fallbackModels[0]: ${noPreset}`,
      `agents.defaults.dream.modelOverride: ${noPreset}`,
      "gateway.host: everybody in your network reaches the gateway; a tunnel needs no more than 127.0.0.1",
      "api.host: an API that everybody can reach needs api.apiKey",
    ]);
  });

  test("of no contradiction where presets and keys are there", async () => {
    const warnings = await warningsFor({
      modelPresets: { fast: { model: "m" } },
      agents: { defaults: { fallbackModels: ["fast"], dream: { modelOverride: "fast" } } },
      api: { host: "0.0.0.0", apiKey: "k" },
    });
    expect(warnings.filter((warning) => !warning.endsWith("is not supported yet and has no effect"))).toEqual(
      [],
    );
  });
});

describe("loadConfig() checks tools.web.search.provider", () => {
  const search = (provider: string) => ({ tools: { web: { search: { provider, apiKey: "k" } } } });

  test.each([
    ["duckduckgo"],
    ["brave"],
    ["tavily"],
    ["searxng"],
    ["jina"],
    ["kagi"],
    ["exa"],
    ["serper"],
    [" Brave "],
    [""],
    [variable("MY_ENGINE")],
  ])("and takes %p", async (provider) => {
    expect(await warningsFor(search(provider))).toEqual([]);
  });

  test("and refuses a slip with the nearest name, and never with what was written", async () => {
    const refusal = await makeConfig(search("brvae")).refusal();
    expect(refusal).toEndWith(
      'line 5, tools.web.search.provider: there is no search engine of this name; did you mean "brave"? (duckduckgo, brave, tavily, searxng, jina, kagi, exa, serper)',
    );
    expect(refusal).not.toContain("brvae");
  });

  test("and refuses another word with all names", async () => {
    expect(await makeConfig(search("altavista")).refusal()).toEndWith(
      "there is no search engine of this name; choose from duckduckgo, brave, tavily, searxng, jina, kagi, exa, serper",
    );
  });

  test.each([["bocha"], ["keenable"], ["mst"], ["olostep"], ["Volcengine"]])(
    "and only warns of %s, which the original asks",
    async (provider) => {
      expect(await warningsFor(search(provider))).toEqual([
        "tools.web.search.provider: this search engine is not supported; DuckDuckGo is asked instead",
      ]);
    },
  );
});
