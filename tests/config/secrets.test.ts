import { expect, test } from "bun:test";
import { secretsOf } from "../../src/config/secrets.ts";
import { variable } from "./fixture.ts";

test("secretsOf() finds the values of keys that are named like secrets, known or not", () => {
  const raw = {
    providers: { openai: { apiKey: "value-1" }, other: { api_key: "value-2" } },
    channels: {
      telegram: { token: "value-3" },
      email: { imapPassword: "value-4", smtp_password: "value-5" },
      slack: { botToken: "value-6", appToken: "value-7" },
      feishu: { appSecret: "value-8", encryptKey: "value-9" },
    },
    plugins: { mine: { secrets: { a: "no" }, secret: ["value-10", { b: "value-11" }] } },
    tools: {
      mcpServers: {
        x: { headers: { "X-Anything": "value-12" }, env: { GITHUB_TOKEN_READ: "value-13", LANG: "de" } },
      },
    },
    extra_headers: { Cookie: "value-14" },
  };
  const expected = Array.from({ length: 14 }, (_, index) => `value-${index + 1}`);
  expect(new Set(secretsOf(raw, {}))).toEqual(new Set(expected));
});

test("secretsOf() takes no ordinary setting for a secret", () => {
  const raw = {
    agents: { defaults: { maxTokens: 8192, model: "keyboard-cat", workspace: "/tokens" } },
    channels: { websocket: { tokenTtlS: 300, host: "127.0.0.1" } },
    tools: { exec: { allowedEnvKeys: ["PATH"] } },
  };
  expect(secretsOf(raw, {})).toEqual([]);
});

test("secretsOf() finds what a variable stands for, whatever its name", () => {
  const raw = { providers: { a: { apiKey: variable("OPENAI") } } };
  expect(secretsOf(raw, { OPENAI: "the-value" })).toEqual(["the-value"]);
});

test("secretsOf() finds long values of variables that are named like secrets", () => {
  const env = { OPENAI_API_KEY: "12345678", bot_token: "abcdefgh", DB_PASSWORD: "1234567", PATH: "/usr/bin" };
  expect(secretsOf({}, env)).toEqual(["12345678", "abcdefgh"]);
});

test("secretsOf() finds the password of an address", () => {
  expect(secretsOf({ tools: { web: { proxy: "http://ada:lovelace@proxy:3128" } } }, {})).toEqual([
    "lovelace",
  ]);
});

test("secretsOf() leaves out what is empty or too short to hide", () => {
  expect(secretsOf({ apiKey: "", token: "abc", password: null }, { API_KEY: undefined })).toEqual([]);
});
