import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { loadConfig } from "../../src/config/load.ts";
import { UserError } from "../../src/core/errors.ts";
import { files, makeConfig, makeFolder, refusalOf, variable } from "./fixture.ts";

describe("loadConfig() refuses", () => {
  const syntax: readonly [name: string, text: string, complaint: string][] = [
    ["a trailing comma", '{\n  "agents": {},\n}', "line 2, there is a comma too many"],
    [
      "a trailing comma in a list",
      '{"tools": {"allowedPaths": [\n"a",\n]}}',
      "line 2, there is a comma too many",
    ],
    ["a comment", '{\n// mine\n"agents": {}}', "line 2, JSON has no comments"],
    ["a missing comma", '{\n"agents": {}\n"tools": {}\n}', "line 2, a comma is missing"],
    ["a missing brace", '{\n"agents": {\n}\n', "line 3, a closing } is missing"],
    ["a missing bracket", '{"a": [1', "line 1, a closing ] is missing"],
    ["a missing colon", '{\n"agents" {}}', "line 2, expected a colon after the key"],
    ["an open string", '{\n"agents: {}}', "line 2, a string is not closed"],
    ["a single backslash", '{"a":\n"C:\\Users"}', "line 2, a backslash in a string must be written twice"],
    ["a bare key", "{\nagents: {}}", "line 2, this is not JSON"],
    ["something after the end", '{}\n{"a": 1}', "line 2, there is more after the end"],
    ["a list", "[]", "line 1, expected an object, found a list"],
    ["null", "null", "line 1, expected an object, found null"],
    ["a string", '"secret"', "line 1, expected an object, found a string"],
    ["an empty file", "", "it is empty; an empty configuration is {}"],
    ["white space", " \n\t", "it is empty; an empty configuration is {}"],
    ["a NUL byte", '{\n"a": "\0"}', "line 2, there is a NUL byte"],
    ["a key that is there twice", '{"tools": {},\n"tools": {}}', 'line 2, the key "tools" is there twice'],
    [
      "a key twice, once escaped",
      '{"tools": {},\n"t\\u006fols": {}}',
      'line 2, the key "tools" is there twice',
    ],
    ["a foreign white space", '{"a":\u00a01}', "line 1, this is not JSON"],
  ];
  for (const [name, text, complaint] of syntax) {
    test(`loadConfig() refuses ${name}`, async () => {
      const file = makeConfig(text);
      expect((await file.refusal()).split("\n")[0]).toBe(`Read config "${file.path}": ${complaint}`);
    });
  }

  test("loadConfig() refuses a key that is there in two spellings", async () => {
    const file = makeConfig('{"channels": {"telegram": {"allowFrom": ["*"],\n"allow_from": []}}}');
    expect(await file.refusal()).toEndWith(
      "line 2, channels.telegram.allow_from: the key is there twice, in two spellings",
    );
  });

  test("loadConfig() refuses a list nested 100,000 deep", async () => {
    const text = `{"a":\n${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(await makeConfig(text).refusal()).toEndWith("line 2, it is nested more than 64 deep");
    expect(await makeConfig("[".repeat(100_000)).refusal()).toEndWith(
      "line 1, it is nested more than 64 deep",
    );
  });

  test("loadConfig() counts no brackets inside strings", async () => {
    const { config } = await makeConfig({
      agents: { defaults: { botName: `\\"${"[{".repeat(200)}` } },
    }).load();
    expect(config.agents.defaults.botName).toHaveLength(402);
  });

  test("loadConfig() refuses a file of more than 1 MiB", async () => {
    const file = makeConfig(`{"a": "${"x".repeat(1024 * 1024)}"}`);
    expect(await file.refusal()).toBe(`Read config "${file.path}": it is larger than 1 MiB`);
  });

  test("loadConfig() refuses UTF-16", async () => {
    const file = makeConfig(Buffer.from("\uFEFF{}", "utf16le"));
    expect(await file.refusal()).toContain("the text is UTF-16");
  });

  test("loadConfig() names the line that is not UTF-8", async () => {
    const file = makeConfig(
      Buffer.concat([Buffer.from('{\n"a": "é",\n"b": "'), Buffer.from([0xe9, 0x22, 0x7d])]),
    );
    expect(await file.refusal()).toContain("line 3, the text is not UTF-8");
  });

  test("loadConfig() refuses that there is no file when somebody named one", async () => {
    const path = join(makeFolder(), "config.json");
    expect(await refusalOf(loadConfig({ files, path, env: {}, mustExist: true }))).toBe(
      `Read config "${path}": there is no such file`,
    );
  });

  test("loadConfig() refuses a folder", async () => {
    const path = join(makeFolder(), "config.json");
    mkdirSync(path);
    expect(await refusalOf(loadConfig({ files, path, env: {} }))).toBe(
      `Read config "${path}": it is a folder`,
    );
  });

  test("loadConfig() refuses a device", async () => {
    expect(await refusalOf(loadConfig({ files, path: "/dev/zero", env: {} }))).toContain(
      "not a regular file",
    );
  });

  test("loadConfig() refuses a link to nothing", async () => {
    const path = join(makeFolder(), "config.json");
    symlinkSync("nowhere", path);
    expect(await refusalOf(loadConfig({ files, path, env: {} }))).toContain("it is a link to nothing");
  });

  test("loadConfig() turns a refusal of the system into a sentence", async () => {
    const denied = Object.assign(new Error("EACCES"), { code: "EACCES" });
    const locked = { ...files, read: () => Promise.reject(denied) };
    const { path } = makeConfig({});
    expect(await refusalOf(loadConfig({ files: locked, path, env: {} }))).toContain("permission denied");
  });
});

describe("loadConfig() refuses what does not fit the schema", () => {
  const cases: readonly [name: string, text: string, complaint: string][] = [
    [
      "a string for a list",
      '{"channels": {\n"telegram": {\n"allowFrom": "123"}}}',
      "line 3, channels.telegram.allowFrom: expected a list of strings, found a string",
    ],
    [
      "the same under a channel nobody knows, in snake_case",
      '{"channels": {\n"nobody": {"allow_from": {}}}}',
      "line 2, channels.nobody.allow_from: expected a list of strings, found an object",
    ],
    [
      "an id that lost digits as a number",
      '{"channels": {"discord": {"allowFrom": [1,\n123456789012345678]}}}',
      "line 2, channels.discord.allowFrom[1]: the number is too long to be exact; put it in quotes",
    ],
    [
      "a word for a switch",
      '{"channels": {"telegram": {"enabled": "yes"}}}',
      "line 1, channels.telegram.enabled: expected true or false, found a string",
    ],
    [
      "a switch for a channel",
      '{"channels": {"telegram": true}}',
      "line 1, channels.telegram: expected an object, found true or false",
    ],
    ["a number for an object", '{\n"agents": 5}', "line 2, agents: expected an object, found a number"],
    [
      "a number out of range",
      '{"channels": {"sendMaxRetries": 11}}',
      "line 1, channels.sendMaxRetries: expected a whole number from 0 to 10, found another number",
    ],
    [
      "half a number",
      '{"agents": {"defaults": {"maxTokens": 1.5}}}',
      "line 1, agents.defaults.maxTokens: expected a whole number, 1 or more, found another number",
    ],
    [
      "a number without end",
      '{"tools": {"exec": {"timeout": 1e999}}}',
      "line 1, tools.exec.timeout: expected a number, 0 or more, found another number",
    ],
    [
      "a word that is none of the words",
      '{"logging": {"level": "loud"}}',
      'line 1, logging.level: expected one of "debug", "info", "warn", "error", found another string',
    ],
    [
      "a pattern for commands that is none",
      '{"tools": {"exec": {"denyPatterns": ["fine",\n"("]}}}',
      "line 2, tools.exec.denyPatterns[1]: expected a regular expression, found another string",
    ],
    [
      "a sandbox that nobody knows",
      '{"tools": {"exec": {"sandbox": "docker"}}}',
      'line 1, tools.exec.sandbox: expected one of "auto", "bwrap", "none", "", found another string',
    ],
    [
      "a time zone that does not exist",
      '{"agents": {"defaults": {"timezone": "Mars/Base"}}}',
      "line 1, agents.defaults.timezone: expected the name of a time zone, as in Europe/Berlin, found another string",
    ],
    [
      "a preset without a model",
      '{"model_presets": {\n"fast": {}}}',
      "line 2, model_presets.fast.model: expected a string, found nothing",
    ],
    [
      "a preset that is not there",
      '{"agents": {"defaults": {\n"modelPreset": "fast"}}}',
      "line 2, agents.defaults.modelPreset: there is no preset of this name in modelPresets",
    ],
    [
      "a preset called default",
      '{"modelPresets": {"default": {"model": "m"}}}',
      "line 1, modelPresets.default: this name stands for agents.defaults; choose another",
    ],
  ];
  for (const [name, text, complaint] of cases) {
    test(`loadConfig() refuses ${name}`, async () => {
      const file = makeConfig(text);
      expect(await file.refusal()).toBe(`Read config "${file.path}": ${complaint}`);
    });
  }

  test("loadConfig() tells of the other mistakes in the hint", async () => {
    const file = makeConfig('{"agents": 1,\n"tools": 2}');
    expect(await file.refusal()).toContain("Wrong too: line 2, tools: expected an object, found a number");
  });

  test("loadConfig() lets a variable stand where a pattern is wanted", async () => {
    const { config } = await makeConfig({ agents: { defaults: { timezone: variable("TZ") } } }).load();
    expect(config.agents.defaults.timezone).toBe(variable("TZ"));
  });

  test("loadConfig() shows no value, whatever is wrong with it", async () => {
    const secret = "hunter2-secret-value";
    const broken = [
      `{"providers": {"openai": {"apiKey": [variable("secret")]}}}`,
      `{"providers": {"openai": {"apiKey": variable("secret") "x": 1}}}`,
      `{"providers": {"openai": {"apiKey": "${secret}\n}}}`,
      `{"providers": {"openai": variable("secret")}}`,
      `{"logging": {"level": variable("secret")}}`,
      `{"agents": {"defaults": {"modelPreset": variable("secret")}}}`,
      `${secret}`,
      `{"a": ${secret}}`,
    ];
    for (const text of broken) expect(await makeConfig(text).refusal()).not.toContain("hunter2");
  });

  test("loadConfig() either understands a text or refuses it with a UserError", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      fc.string({ unit: fc.constantFrom("{", "}", "[", "]", '"', ":", ",", "\\", "a", "1", " ", "\n", "/") }),
    );
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const bytes = new TextEncoder().encode(content);
        const memory = {
          ...files,
          stat: async () => ({
            kind: "file" as const,
            bytes: bytes.length,
            modifiedMs: 0,
            inode: 1,
            mode: 0o600,
          }),
          read: async () => bytes,
        };
        try {
          await loadConfig({ files: memory, path: "/config.json", env: {} });
          JSON.parse(content.replace(/^\uFEFF/, ""));
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
        }
      }),
    );
  });
});
