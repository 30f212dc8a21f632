import { expect, test } from "bun:test";
import { makeConfig } from "./fixture.ts";

test("loadConfig() lets the environment win over the file", async () => {
  const file = makeConfig({ agents: { defaults: { model: "file", provider: "file" } } });
  const { config } = await file.load({ env: { NANOBOT_AGENTS__DEFAULTS__MODEL: "env" } });
  const { model, provider } = config.agents.defaults;
  expect([model, provider]).toEqual(["env", "file"]);
});

test("loadConfig() finds keys for variables in any case and spelling", async () => {
  const { config, warnings } = await makeConfig().load({
    env: {
      NANOBOT_agents__defaults__maxTokens: "1",
      NANOBOT_AGENTS__DEFAULTS__TOOLHINTMAXLENGTH: "21",
      NANOBOT_MODEL_PRESETS__FAST__MODEL: "m",
    },
  });
  expect(warnings).toEqual([]);
  expect(config.agents.defaults.maxTokens).toBe(1);
  expect(config.agents.defaults.toolHintMaxLength).toBe(21);
  expect(config.modelPresets["fast"]?.model).toBe("m");
});

test("loadConfig() reads JSON where the schema wants no string", async () => {
  const { config } = await makeConfig({ tools: { exec: { pathAppend: "/a" } } }).load({
    env: {
      NANOBOT_TOOLS__ALLOWED_PATHS: '["/data"]',
      NANOBOT_TOOLS__EXEC: '{"timeout": 5, "deny_patterns": ["x"]}',
      NANOBOT_TOOLS__RESTRICT_TO_WORKSPACE: "False",
      NANOBOT_AGENTS__DEFAULTS__BOT_NAME: "5",
    },
  });
  expect(config.tools.allowedPaths).toEqual(["/data"]);
  expect(config.tools.exec).toMatchObject({ timeout: 5, denyPatterns: ["x"], pathAppend: "/a" });
  expect(config.tools.restrictToWorkspace).toBe(false);
  expect(config.agents.defaults.botName).toBe("5");
});

test("loadConfig() adds to the entry that is there, however it is spelled", async () => {
  const { config } = await makeConfig({
    providers: { lmStudio: { apiBase: "http://localhost:1" } },
    channels: { telegram: { bot_token: "old" } },
  }).load({
    env: { NANOBOT_PROVIDERS__LM_STUDIO__API_KEY: "k", NANOBOT_CHANNELS__TELEGRAM__BOT_TOKEN: "new" },
  });
  expect(config.providers).toEqual({
    lmStudio: { apiBase: "http://localhost:1", apiKey: "k", apiType: "auto" },
  });
  expect(config.channels["telegram"]).toEqual({ bot_token: "new" });
});

test("loadConfig() leaves the file's own values unchanged when the environment adds to them", async () => {
  const { raw } = await makeConfig({ channels: { slack: { dm: { enabled: true } } } }).load({
    env: { NANOBOT_CHANNELS__SLACK__DM__ENABLED: "false" },
  });
  expect(raw).toEqual({ channels: { slack: { dm: { enabled: true } } } });
});

test("loadConfig() guesses only what is unmistakable inside a channel's block", async () => {
  const { config } = await makeConfig().load({
    env: {
      NANOBOT_CHANNELS__X__TOKEN: "123456:AAE",
      NANOBOT_CHANNELS__X__USER_ID: "123456789012345678",
      NANOBOT_CHANNELS__X__IMAP_PORT: "993",
      NANOBOT_CHANNELS__X__QUOTED: '"993"',
      NANOBOT_CHANNELS__X__PHONE: "+49123",
      NANOBOT_CHANNELS__X__STREAMING: "true",
      NANOBOT_CHANNELS__X__BROKEN: "[1",
      NANOBOT_CHANNELS__X__ENABLED: "1",
      NANOBOT_CHANNELS__X__ALLOW_FROM: '["*"]',
    },
  });
  expect(config.channels["x"]).toEqual({
    token: "123456:AAE",
    userId: "123456789012345678",
    imapPort: 993,
    quoted: "993",
    phone: "+49123",
    streaming: true,
    broken: "[1",
    enabled: true,
    allowFrom: ["*"],
  });
});

test("loadConfig() takes no variable without two underscores, and none without the prefix", async () => {
  const { config, warnings } = await makeConfig().load({
    env: { NANOBOT_HOME: "/x", NANOBOT_LOGGING_LEVEL: "loud", LOGGING__LEVEL: "loud" },
  });
  expect(config.logging.level).toBe("warn");
  expect(warnings).toEqual([]);
});

test("loadConfig() warns of a variable that names no setting", async () => {
  const { warnings } = await makeConfig().load({
    env: {
      NANOBOT_LOGGING__LEVL: "info",
      NANOBOT_LOGGING__LEVEL__X: "1",
      NANOBOT___X: "1",
      NANOBOT_A__: "1",
    },
  });
  expect(warnings).toEqual([
    "Environment variable NANOBOT_A__ is ignored: A is no setting",
    "Environment variable NANOBOT_LOGGING__LEVEL__X is ignored: there is nothing below X",
    'Environment variable NANOBOT_LOGGING__LEVL is ignored: LEVL is no setting; did you mean "level"?',
    "Environment variable NANOBOT___X is ignored: a part of its name is missing",
  ]);
});

const wrong: readonly [name: string, value: string, complaint: string][] = [
  ["AGENTS__DEFAULTS__MAX_TOKENS", "many", "expected a whole number, 1 or more, found a string"],
  ["AGENTS__DEFAULTS__MAX_TOKENS", "0", "expected a whole number, 1 or more, found another number"],
  ["AGENTS__DEFAULTS__MAX_TOKENS", "", "expected a whole number, 1 or more, found a string"],
  ["TOOLS__ALLOWED_PATHS", "/data", "expected a list of strings, found a string"],
  ["TOOLS__RESTRICT_TO_WORKSPACE", "maybe", "expected true or false, found a string"],
  ["TOOLS__EXEC", '{"timeout": "s3cret"}', "timeout: expected a number, 0 or more, found a string"],
  ["CHANNELS__X__ALLOW_FROM", "123", "expected a list of strings, found a number"],
  ["TOOLS__EXEC", `{"x": ${"[".repeat(99)}${"]".repeat(99)}}`, "expected an object, found a string"],
  ["LOGGING__LEVEL", "s3cret", 'expected one of "debug", "info", "warn", "error", found another string'],
];
for (const [name, value, complaint] of wrong) {
  test(`loadConfig() refuses NANOBOT_${name}=${value.slice(0, 25)}`, async () => {
    const refusal = await makeConfig().refusal({ env: { [`NANOBOT_${name}`]: value } });
    expect(refusal).toStartWith(`Read environment variable NANOBOT_${name}: ${complaint}`);
    expect(refusal).not.toContain("s3cret");
  });
}

test("loadConfig() names no line for a contradiction that came from the environment", async () => {
  const file = makeConfig({ agents: { defaults: {} } });
  const refusal = await file.refusal({ env: { NANOBOT_AGENTS__DEFAULTS__MODEL_PRESET: "fast" } });
  expect(refusal).toStartWith("Read settings: agents.defaults.modelPreset: there is no preset");
});

test("loadConfig() does not let a part of the environment move keys out of that part", async () => {
  const { config, warnings } = await makeConfig().load({
    env: { NANOBOT_TOOLS__EXEC: '{"restrictToWorkspace": false}' },
  });
  expect(config.tools.restrictToWorkspace).toBe(true);
  expect(warnings[0]).toContain("Unknown key tools.exec.restrictToWorkspace is ignored");
});

test("loadConfig() refuses a block that a variable began and that lacks a key", async () => {
  const refusal = await makeConfig().refusal({ env: { NANOBOT_MODEL_PRESETS__FAST__MAX_TOKENS: "5" } });
  expect(refusal).toBe("Read settings: modelPresets.fast.model: expected a string, found nothing");
});
