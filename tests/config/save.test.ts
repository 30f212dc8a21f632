import { describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { RawConfig } from "../../src/config/load.ts";
import { saveConfig } from "../../src/config/save.ts";
import { type ConfigFile, files, makeConfig, makeFolder, refusalOf, variable } from "./fixture.ts";

const now = Date.UTC(2026, 1, 18, 15, 30, 0, 7);

function save({ path }: Pick<ConfigFile, "path">, changes: RawConfig) {
  return saveConfig({ files, path, changes, now });
}

function backups({ folder }: ConfigFile): string[] {
  return readdirSync(folder).filter((name) => name.includes(".bak-"));
}

describe("saveConfig() makes a file", () => {
  test("saveConfig() writes two spaces, 0600, in a folder of 0700", async () => {
    const path = join(makeFolder(), "a", "b", "config.json");
    const saved = await save({ path }, { agents: { defaults: { botName: "小猫" } } });
    expect(saved).toEqual({ changed: true, backup: undefined });
    expect(readFileSync(path, "utf8")).toBe(
      '{\n  "agents": {\n    "defaults": {\n      "botName": "小猫"\n    }\n  }\n}\n',
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  });

  test("saveConfig() writes nothing that could not be loaded", async () => {
    const path = join(makeFolder(), "config.json");
    expect(await refusalOf(save({ path }, { agents: 5 }))).toContain("expected an object");
    expect(existsSync(path)).toBe(false);
  });
});

describe("saveConfig() changes a file", () => {
  test("saveConfig() keeps all that it was not asked to change, to the byte", async () => {
    const file = makeConfig(
      `{"zebra": {"2": 1, "1": 2},\n  "providers": {\n    "openai": { "apiKey": "${variable("OPENAI")}" }\n  },\n` +
        '  "channels": {"discord": {"groups": [123456789012345678, 1.50]}},\n  "näme": "é"\n}',
    );
    const before = file.text();
    await save(file, { providers: { groq: { apiKey: "k" } } });
    const after = file.text();
    expect(JSON.parse(after)).toEqual({
      ...JSON.parse(before),
      providers: { openai: { apiKey: variable("OPENAI") }, groq: { apiKey: "k" } },
    });
    expect(Object.keys(JSON.parse(after))).toEqual(["zebra", "providers", "channels", "näme"]);
    expect(after).toStartWith('{"zebra": {"2": 1, "1": 2},\n');
    expect(after).toContain('{"groups": [123456789012345678, 1.50]}');
  });

  test("saveConfig() changes a key in the spelling it has", async () => {
    const file = makeConfig({ model_presets: {}, agents: { defaults: { max_tokens: 1 } } });
    await save(file, { agents: { defaults: { maxTokens: 2 } }, modelPresets: { a: { model: "m" } } });
    expect(JSON.parse(file.text())).toEqual({
      model_presets: { a: { model: "m" } },
      agents: { defaults: { max_tokens: 2 } },
    });
  });

  test("saveConfig() fills what was null", async () => {
    const file = makeConfig({ providers: null, agents: { defaults: null } });
    await save(file, { providers: { a: { apiKey: "k" } }, agents: { defaults: { model: "m" } } });
    expect(JSON.parse(file.text())).toEqual({
      providers: { a: { apiKey: "k" } },
      agents: { defaults: { model: "m" } },
    });
  });

  test("saveConfig() takes away what is changed to null", async () => {
    const file = makeConfig({
      agents: { defaults: { model_preset: "a", model: "m" } },
      modelPresets: { a: { model: "x" } },
    });
    await save(file, { agents: { defaults: { modelPreset: null, provider: null } } });
    expect(JSON.parse(file.text())).toEqual({
      agents: { defaults: { model: "m" } },
      modelPresets: { a: { model: "x" } },
    });
  });

  test("saveConfig() keeps the old bytes under a name with the time, 0600", async () => {
    const file = makeConfig('\uFEFF{"a":   1}');
    const { backup } = await save(file, { logging: { level: "info" } });
    expect(backup).toBe(`${file.path}.bak-20260218T153000007Z`);
    expect(readFileSync(backup ?? "", "utf8")).toBe('\uFEFF{"a":   1}');
    expect(statSync(backup ?? "").mode & 0o777).toBe(0o600);
    expect(statSync(file.path).mode & 0o777).toBe(0o600);
  });

  test("saveConfig() overwrites no backup of the same time", async () => {
    const file = makeConfig({});
    await save(file, { logging: { level: "info" } });
    await save(file, { logging: { level: "error" } });
    expect(backups(file)).toHaveLength(2);
    expect(readFileSync(join(file.folder, "config.json.bak-20260218T153000007Z"), "utf8")).toBe("{}");
  });

  test("saveConfig() touches nothing when nothing changes", async () => {
    const file = makeConfig('{ "logging":{"level":"info"} }');
    expect(await save(file, { logging: { level: "info" } })).toEqual({ changed: false, backup: undefined });
    expect(file.text()).toBe('{ "logging":{"level":"info"} }');
    expect(backups(file)).toEqual([]);
  });

  test("saveConfig() leaves a link a link and changes what it leads to", async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, "dotfiles"));
    writeFileSync(join(folder, "dotfiles", "nanobot.json"), "{}");
    const path = join(folder, "config.json");
    symlinkSync("dotfiles/nanobot.json", path);
    await save({ path }, { logging: { level: "info" } });
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "dotfiles", "nanobot.json"), "utf8")).toContain("info");
  });

  test("saveConfig() refuses a broken file and leaves it alone", async () => {
    for (const content of ['{"a": 1,}', "", "[]", '{"agents": 5}', "{}\0"]) {
      const file = makeConfig(content);
      expect(await refusalOf(save(file, { logging: { level: "info" } }))).toContain("Read config");
      expect(file.text()).toBe(content);
      expect(backups(file)).toEqual([]);
    }
  });

  test("saveConfig() leaves the old file when the disk is full", async () => {
    const file = makeConfig({ a: 1 });
    const before = file.text();
    const full = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    const fullDisk = { ...files, replace: () => Promise.reject(full) };
    const saving = saveConfig({
      files: fullDisk,
      path: file.path,
      changes: { logging: { level: "info" } },
      now,
    });
    expect(await refusalOf(saving)).toContain("the disk is full");
    expect(file.text()).toBe(before);
  });

  test("saveConfig() keeps every unknown key of any configuration", async () => {
    const key = fc.string({ minLength: 1, maxLength: 8 }).filter((name) => name !== "__proto__");
    const unknown = fc.dictionary(
      key.map((name) => `x-${name}`),
      fc.jsonValue({ maxDepth: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(unknown, fc.constantFrom(undefined, 1, 2, 4, "\t"), async (values, space) => {
        const file = makeConfig(JSON.stringify(values, undefined, space));
        // What JSON makes of the values is what has to stay: it knows no -0.
        const before = JSON.parse(file.text());
        await save(file, { agents: { defaults: { model: "m" } } });
        expect(JSON.parse(file.text())).toEqual({ ...before, agents: { defaults: { model: "m" } } });
      }),
      { numRuns: 50 },
    );
  });
});
