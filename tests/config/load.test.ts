import { describe, expect, test } from "bun:test";
import { makeConfig, variable } from "./fixture.ts";

describe("loadConfig() reads", () => {
  test("loadConfig() gives the defaults when there is no file", async () => {
    const { config, exists, raw, warnings } = await makeConfig().load();
    expect(exists).toBe(false);
    expect(raw).toEqual({});
    expect(warnings).toEqual([]);
    expect(config.agents.defaults.maxToolIterations).toBe(40);
    expect(config.agents.defaults.model).toBeUndefined();
    expect(config.tools.restrictToWorkspace).toBe(true);
    expect(config.tools.allowedPaths).toEqual([]);
    expect(config.logging.level).toBe("warn");
    expect(config.gateway.heartbeat).toEqual({ enabled: true, intervalS: 1800, keepRecentMessages: 8 });
  });

  test("loadConfig() tolerates a byte order mark", async () => {
    const { config } = await makeConfig('\uFEFF{"agents":{"defaults":{"model":"m"}}}').load();
    expect(config.agents.defaults.model).toBe("m");
  });

  test("loadConfig() takes keys in snake_case as in camelCase", async () => {
    const { config, warnings } = await makeConfig({
      agents: { defaults: { max_tool_iterations: 7, dream: { interval_h: 3 } } },
      model_presets: { my_fast_one: { model: "m", max_tokens: 5 } },
      providers: { lm_studio: { api_base: "http://localhost:1234/v1" } },
      tools: { mcp_servers: {}, restrict_to_workspace: false },
    }).load();
    expect(config.agents.defaults.maxToolIterations).toBe(7);
    expect(config.modelPresets["my_fast_one"]?.maxTokens).toBe(5);
    expect(config.providers["lm_studio"]?.apiBase).toBe("http://localhost:1234/v1");
    expect(config.tools.restrictToWorkspace).toBe(false);
    expect(warnings).toEqual(["agents.defaults.dream is not supported yet and has no effect"]);
  });

  test("loadConfig() leaves the names in free parts as they are", async () => {
    const { config } = await makeConfig({
      providers: { a: { extra_headers: { x_my_header: "1" }, extra_body: { top_k: { min_p: 1 } } } },
      tools: { mcp_servers: { my_server: { command: "x", env: { MY_TOKEN: "t" } } } },
      channels: { some_channel: { bot_token: "t", dm: { allow_from: [] } } },
    }).load();
    expect(config.providers["a"]?.extraHeaders).toEqual({ x_my_header: "1" });
    expect(config.providers["a"]?.extraBody).toEqual({ top_k: { min_p: 1 } });
    expect(config.tools.mcpServers["my_server"]?.env).toEqual({ MY_TOKEN: "t" });
    expect(config.channels["some_channel"]).toEqual({ bot_token: "t", dm: { allow_from: [] } });
  });

  test("loadConfig() gives enabled and allowFrom their names under every channel", async () => {
    const { config } = await makeConfig({
      channels: { whatever: { enabled: true, allow_from: ["a", 5] } },
    }).load();
    expect(config.channels["whatever"]).toEqual({ enabled: true, allowFrom: ["a", 5] });
  });

  test("loadConfig() takes null for absent", async () => {
    const { config } = await makeConfig({
      agents: { defaults: { maxTokens: null, modelPreset: null, model: null } },
      providers: { openai: null, groq: { apiBase: null } },
      channels: { telegram: null },
      tools: null,
    }).load();
    expect(config.agents.defaults.maxTokens).toBe(8192);
    expect(config.providers).toEqual({ groq: { apiType: "auto" } });
    expect(config.channels["telegram"]).toBeUndefined();
    expect(config.tools.exec.timeout).toBe(60);
  });

  test("loadConfig() moves keys of the original to where they are now", async () => {
    const { config, warnings } = await makeConfig({
      agents: { defaults: { session_ttl_minutes: 3, memoryWindow: 50, max_messages: 9 } },
      modelPresets: { a: { model: "m", label: "A" } },
      tools: { exec: { restrictToWorkspace: false }, myEnabled: false, my_set: true },
    }).load();
    expect(config.agents.defaults.idleCompactAfterMinutes).toBe(3);
    expect(config.tools.restrictToWorkspace).toBe(false);
    expect(config.tools.my).toEqual({ enable: false, allowSet: true });
    expect(warnings).toEqual(["tools.my is not supported yet and has no effect"]);
  });

  test("loadConfig() lets the new place of a moved key win", async () => {
    const { config } = await makeConfig({
      tools: { exec: { restrictToWorkspace: false }, restrictToWorkspace: true },
    }).load();
    expect(config.tools.restrictToWorkspace).toBe(true);
  });

  test("loadConfig() checks a moved value and names the place it was written in", async () => {
    const file = makeConfig('{\n "tools": {\n  "exec": {\n   "restrict_to_workspace": "no"\n}}}');
    expect(await file.refusal()).toEndWith(
      "line 4, tools.exec.restrict_to_workspace: expected true or false, found a string",
    );
  });

  test("loadConfig() keeps the file as it was written in raw", async () => {
    const content = { providers: { a: { api_key: "k" } }, mine: { apiKey: variable("X") } };
    const { raw } = await makeConfig(content).load({ env: { NANOBOT_PROVIDERS__A__API_KEY: "other" } });
    expect(raw).toEqual(content);
  });

  test("loadConfig() takes any keys of channels that do not exist here, but for those that say who may talk", async () => {
    const channels = { napcat: { groupPolicy: 0.3, pairing: "by hand", sendProgress: null } };
    const { config, warnings } = await makeConfig({ channels }).load();
    expect(config.channels["napcat"]).toEqual(channels.napcat);
    expect(warnings).toEqual([]);
    expect(await makeConfig({ channels: { napcat: { allow_from: "me" } } }).refusal()).toContain(
      "channels.napcat.allow_from: expected a list",
    );
    expect(await makeConfig({ channels: { telegram: { group_policy: 0.3 } } }).refusal()).toContain(
      "channels.telegram.group_policy: expected one of",
    );
  });

  test("loadConfig() expands no variables", async () => {
    const { config } = await makeConfig({ providers: { a: { apiKey: variable("KEY") } } }).load({
      env: { KEY: "k" },
    });
    expect(config.providers["a"]?.apiKey).toBe(variable("KEY"));
  });
});

describe("loadConfig() warns", () => {
  test("loadConfig() names the nearest key for an unknown one", async () => {
    const file = makeConfig({ agents: { defaults: { maxTokns: 5 } }, providrs: {} });
    const { warnings } = await file.load();
    expect(warnings).toEqual([
      `Unknown key agents.defaults.maxTokns is ignored; did you mean "maxTokens"? (in ${file.path})`,
      `Unknown key providrs is ignored; did you mean "providers"? (in ${file.path})`,
    ]);
  });

  test("loadConfig() does not print an unknown key that could be a secret", async () => {
    const keys = ["sk-or-v1-abc", "123456:AAbb", "gsk_abcdef", "a1b2c3d4e5f6a7", "has space"];
    for (const key of keys) {
      const { warnings } = await makeConfig({ providers: { openai: { [key]: "apiKey" } } }).load();
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain("providers.openai.<redacted>");
      expect(warnings[0]).not.toContain(key);
    }
  });

  test("loadConfig() says nothing about unsupported keys that hold their default", async () => {
    const { warnings } = await makeConfig({
      transcription: { enabled: true },
      tools: { cliApps: { enable: true }, imageGeneration: { enabled: false } },
    }).load();
    expect(warnings).toEqual([]);
  });

  test("loadConfig() drops names that reach a prototype, and keeps the prototype clean", async () => {
    const { config, warnings } = await makeConfig(
      `{"__proto__": {"polluted": 1},
        "providers": {"__proto__": {"apiKey": "x"}, "constructor": {"apiKey": "x"}},
        "channels": {"__proto__": {"enabled": true}, "a": {"__proto__": {"polluted": 1}}},
        "tools": {"mcpServers": {"a": {"env": {"__proto__": "x"}}}}}`,
    ).load({ env: { NANOBOT_CHANNELS__A__X: "1", NANOBOT_PROVIDERS__CONSTRUCTOR__API_KEY: "k" } });
    expect(Reflect.get({}, "polluted")).toBeUndefined();
    expect(Reflect.get(config.channels["a"] ?? {}, "polluted")).toBeUndefined();
    expect(Object.keys(config.providers)).toEqual([]);
    expect(warnings.filter((warning) => warning.startsWith("Unknown key"))).toHaveLength(6);
  });
});
