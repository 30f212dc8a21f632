/** A configuration that is not understood stops the program; nothing is guessed, changed or shown. */

import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { endToEnd, modelAt, newHome, run, startModel } from "./harness.ts";

endToEnd();

const SECRET = "sk-never-show-this-4711";

interface Case {
  readonly name: string;
  readonly text: string;
  readonly line: number | undefined;
  readonly says: readonly string[];
}

const broken: readonly Case[] = [
  {
    name: "a trailing comma",
    text: `{\n  "providers": {\n    "openai": { "apiKey": "${SECRET}" },\n  }\n}\n`,
    line: 3,
    says: ["comma"],
  },
  {
    name: "a text in the place of a list",
    text: `{\n  "providers": { "openai": { "apiKey": "${SECRET}" } },\n  "channels": {\n    "telegram": {\n      "enabled": true,\n      "allowFrom": "123"\n    }\n  }\n}\n`,
    line: 6,
    says: ["channels.telegram.allowFrom", "expected a list", "found a string"],
  },
  {
    name: "a text in the place of a switch",
    text: `{\n  "tools": {\n    "restrict_to_workspace": "${SECRET}"\n  }\n}`,
    line: 3,
    says: ["tools.restrict_to_workspace", "true or false"],
  },
  {
    name: "a secret in the place of a number",
    text: `{ "agents": { "defaults": {\n"maxTokens": "${SECRET}" } } }`,
    line: 2,
    says: ["agents.defaults.maxTokens", "number"],
  },
  {
    name: "an object in the place of a key",
    text: `{\n"providers": {\n"openai": {\n"apiKey": { "value": "${SECRET}" } } } }`,
    line: 4,
    says: ["providers.openai.apiKey", "expected a string", "found an object"],
  },
  {
    name: "a file that was cut off",
    text: `{\n  "providers": { "openai": { "apiKey": "${SECRET}`,
    line: 2,
    says: ["not closed"],
  },
  { name: "a comment", text: `{\n  // ${SECRET}\n}`, line: 2, says: ["comment"] },
  {
    name: "a key that is there twice",
    text: `{\n"tools": {},\n"tools": {} }`,
    line: 3,
    says: ["tools", "twice"],
  },
  { name: "a list", text: `["${SECRET}"]`, line: 1, says: ["object"] },
  { name: "an empty file", text: "", line: undefined, says: ["empty"] },
  {
    name: "a broken file with a byte order mark",
    text: `\ufeff{\n"tools": {},\n}`,
    line: 2,
    says: ["comma"],
  },
  { name: "NUL bytes", text: `{\n"tools": {}\n\0\0\0}`, line: 3, says: ["NUL"] },
];

const commands = [
  ["agent", "-m", "hello"],
  ["config", "check"],
];

for (const command of commands) {
  describe(`nanobot ${command.join(" ")}`, () => {
    test.each([...broken])("refuses $name and leaves it as it is", async ({ text, line, says }) => {
      const home = newHome(text);
      const before = readFileSync(home.configFile);
      const { code, stdout, stderr } = await run(command, { home });
      expect(stdout).toBe("");
      expect(stderr).toContain(home.configFile);
      if (line !== undefined) expect(stderr).toContain(`line ${line}`);
      for (const part of says) expect(stderr).toContain(part);
      expect(stderr).not.toContain(SECRET);
      expect(code).toBe(2);
      expect(readFileSync(home.configFile)).toEqual(before);
      // Nothing was begun with settings that nobody wrote.
      expect(existsSync(home.workspace)).toBe(false);
    });
  });
}

describe("nanobot config check", () => {
  test("accepts a configuration", async () => {
    const home = newHome(modelAt("http://127.0.0.1:9/v1"));
    const { code, stdout, stderr } = await run(["config", "check"], { home });
    expect(stdout).toContain(home.configFile);
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  test("says in JSON what is wrong", async () => {
    const home = newHome('{ "tools": 5 }');
    const { code, stdout } = await run(["config", "check", "--json"], { home });
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: expect.stringContaining("tools") });
    expect(code).toBe(2);
  });

  test("warns of an unknown key with the nearest known one", async () => {
    const home = newHome('{\n "agents": { "defaults": { "modle": "x" } } }');
    const { code, stdout, stderr } = await run(["config", "check"], { home });
    expect(stdout + stderr).toContain("modle");
    expect(stdout + stderr).toContain('"model"');
    expect(code).toBe(0);
  });

  test("refuses a variable of the environment of the wrong kind by its name", async () => {
    const home = newHome();
    const env = { NANOBOT_AGENTS__DEFAULTS__MAX_TOKENS: SECRET };
    const { code, stderr } = await run(["config", "check"], { home, env });
    expect(stderr).toContain("NANOBOT_AGENTS__DEFAULTS__MAX_TOKENS");
    expect(stderr).not.toContain(SECRET);
    expect(code).toBe(2);
  });
});

describe("nanobot agent", () => {
  test("reads a configuration with a byte order mark", async () => {
    const server = await startModel([{ text: "read" }]);
    const home = newHome(`\ufeff${JSON.stringify(modelAt(server.url))}`);
    expect(await run(["agent", "-m", "hello"], { home })).toEqual({ code: 0, stdout: "read\n", stderr: "" });
  });

  test("warns of an unknown key and works", async () => {
    const server = await startModel([{ text: "works" }]);
    const home = newHome({ ...modelAt(server.url), chanels: { telegram: { token: SECRET } } });
    const { code, stdout, stderr } = await run(["agent", "-m", "hello"], { home });
    expect(stderr).toContain("chanels");
    expect(stderr).toContain('"channels"');
    expect(stderr).not.toContain(SECRET);
    expect(stdout).toBe("works\n");
    expect(code).toBe(0);
  });

  test("takes the environment over the file", async () => {
    const server = await startModel([{ text: "hello" }]);
    const home = newHome(modelAt(server.url));
    const env = { NANOBOT_AGENTS__DEFAULTS__MODEL: "from-the-environment" };
    await run(["agent", "-m", "hello"], { home, env });
    expect(server.requests[0]?.body["model"]).toBe("from-the-environment");
  });

  test("expands a variable in a key without writing it anywhere", async () => {
    const server = await startModel([{ text: "hello" }], { apiKey: SECRET });
    const config = modelAt(server.url);
    const variable = "$" + "{MY_FAKE}";
    const home = newHome({ ...config, providers: { fake: { apiBase: server.url, apiKey: variable } } });
    const before = readFileSync(home.configFile);
    const unset = await run(["agent", "-m", "hello"], { home });
    expect(unset.stderr).toContain("MY_FAKE");
    expect(unset.code).toBe(2);
    expect((await run(["agent", "-m", "hello"], { home, env: { MY_FAKE: SECRET } })).code).toBe(0);
    expect(readFileSync(home.configFile)).toEqual(before);
  });

  test.each([
    { model: "gpt-5.4", says: ["OPENAI_API_KEY"] },
    { model: "claude-sonnet-5-5", says: ["ANTHROPIC_API_KEY"] },
    { model: "a-model-of-nobody", says: ["a-model-of-nobody", "onboard"] },
  ])("does not fall back to offline for $model without a key", async ({ model, says }) => {
    const { code, stdout, stderr } = await run(["agent", "-m", "hello", "--model", model], {
      home: newHome(),
    });
    expect(stdout).toBe("");
    for (const text of says) expect(stderr).toContain(text);
    expect(code).toBe(2);
  });

  test("refuses a configuration that is no file instead of taking it for none", async () => {
    const home = newHome();
    mkdirSync(home.configFile);
    const { code, stdout, stderr } = await run(["agent", "-m", "hello"], { home });
    expect(stdout).toBe("");
    expect(stderr).toContain(home.configFile);
    expect(stderr).not.toContain("this is a bug");
    expect(code).toBe(2);
  });
});
