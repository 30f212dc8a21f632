import { expect, test } from "bun:test";
import { secretsOf } from "../../src/config/secrets.ts";
import { makeConfig, variable } from "./fixture.ts";

test("secretsOf() finds the values of keys that are named like secrets, known or not", () => {
  const raw = {
    providers: { openai: { apiKey: "a-value-1" }, other: { api_key: "a-value-2" } },
    channels: {
      telegram: { token: "a-value-3" },
      email: { imapPassword: "a-value-4", smtp_password: "a-value-5" },
      slack: { botToken: "a-value-6", appToken: "a-value-7" },
      feishu: { appSecret: "a-value-8", encryptKey: "a-value-9" },
    },
    plugins: { mine: { secrets: { a: "no" }, secret: ["a-value-10", { b: "a-value-11" }] } },
    tools: {
      mcpServers: {
        x: { headers: { "X-Anything": "a-value-12" }, env: { GITHUB_TOKEN_READ: "a-value-13", LANG: "de" } },
      },
    },
    extra_headers: { Cookie: "a-value-14" },
  };
  const expected = Array.from({ length: 14 }, (_, index) => `a-value-${index + 1}`);
  expect(new Set(secretsOf([raw], {}))).toEqual(new Set(expected));
});

test("secretsOf() takes no ordinary setting for a secret", () => {
  const raw = {
    agents: { defaults: { maxTokens: 8192, model: "keyboard-cat", workspace: "/tokens" } },
    channels: { websocket: { tokenTtlS: 300, host: "127.0.0.1" } },
    tools: { exec: { allowedEnvKeys: ["PATH"] } },
  };
  expect(secretsOf([raw], {})).toEqual([]);
});

test("secretsOf() finds what a variable stands for, whatever its name", () => {
  const raw = { providers: { a: { apiKey: variable("OPENAI") } } };
  expect(secretsOf([raw], { OPENAI: "the-value" })).toEqual(["the-value"]);
});

test("secretsOf() finds long values of variables that are named like secrets", () => {
  const env = { OPENAI_API_KEY: "12345678", bot_token: "abcdefgh", DB_PASSWORD: "1234567", PATH: "/usr/bin" };
  expect(secretsOf([], env)).toEqual(["12345678", "abcdefgh"]);
});

test("secretsOf() finds the password of an address", () => {
  expect(secretsOf([{ tools: { web: { proxy: "http://ada:lovelace@proxy:3128" } } }], {})).toEqual([
    "lovelace",
  ]);
});

test("secretsOf() leaves out what is empty or too short to hide", () => {
  expect(secretsOf([{ apiKey: "", token: "1234567", password: null }], { API_KEY: undefined })).toEqual([]);
});

test("secretsOf() finds headers that were set through the environment", async () => {
  const env = { NANOBOT_PROVIDERS__MINE__EXTRA_HEADERS: '{"X-Anything": "from-the-environment"}' };
  const { raw, config } = await makeConfig({ providers: { mine: { apiKey: "from-the-file" } } }).load({
    env,
  });
  expect(secretsOf([raw, config], {})).toEqual(["from-the-file", "from-the-environment"]);
});

test("secretsOf() takes no default for a secret", async () => {
  expect(secretsOf([(await makeConfig().load()).config], {})).toEqual([]);
});
