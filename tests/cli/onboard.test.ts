import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { command, onboard } from "../../src/cli/onboard.ts";
import type { Prompter } from "../../src/cli/prompter.ts";
import { Stopped } from "../../src/core/errors.ts";
import { refusalOf } from "../config/fixture.ts";
import { createTestApp, type TestApp } from "./fixture.ts";

type Options = Readonly<Record<string, string | boolean | undefined>>;

function makeHome(config?: object): string {
  const home = mkdtempSync(join(tmpdir(), "nanobot-"));
  if (config !== undefined) writeFileSync(join(home, "config.json"), JSON.stringify(config, undefined, 4));
  return home;
}

function configText(home: string): string {
  return readFileSync(join(home, "config.json"), "utf8");
}

function run(app: TestApp, options: Options, prompter: Partial<Prompter> = {}) {
  const signal = new AbortController().signal;
  return onboard({ app, options, signal }, async () => ({ ...noPrompter, ...prompter }));
}

function asksNothing(): never {
  throw new Error("It asked");
}

const noPrompter: Prompter = {
  confirm: asksNothing,
  choose: asksNothing,
  secret: asksNothing,
  text: asksNothing,
};

describe("onboard() without a terminal", () => {
  test("onboard() names the flags when there are none", async () => {
    const home = makeHome();
    const refusal = await refusalOf(run(createTestApp({ home }), {}));
    for (const flag of ["--provider", "--api-key", "--api-base", "--model", "--yes"]) {
      expect(refusal).toContain(flag);
    }
    expect(readdirSync(home)).toEqual([]);
  });

  test("onboard() does not ask when only its output is a terminal", async () => {
    const app = createTestApp({ home: makeHome(), tty: true, stdinIsTty: false });
    expect(await refusalOf(run(app, {}))).toContain("there is no terminal to ask on");
  });

  test("onboard() makes an empty configuration and a workspace for --yes", async () => {
    const home = makeHome();
    const app = createTestApp({ home });
    expect(await run(app, { yes: true })).toBe(0);
    expect(JSON.parse(configText(home))).toEqual({
      agents: { defaults: {} },
      providers: {},
      channels: {},
      access: { pairing: true },
      tools: {},
    });
    expect(existsSync(join(home, "workspace", "memory", "MEMORY.md"))).toBe(true);
    expect(app.terminal.stdout).toContain("SOUL.md");
    expect(app.terminal.stdout).toEndWith("Next: nanobot agent\n");
  });

  test.each([{}, { access: { pairing: false } }, { access: { approvers: [] } }])(
    "onboard() leaves it to a configuration that is there, %j, whether strangers get a code",
    async (config) => {
      const home = makeHome(config);
      await run(createTestApp({ home }), { provider: "openrouter", "api-key": "k", model: "m" });
      const { access } = JSON.parse(configText(home));
      expect({ access }).toEqual({ access: config.access });
    },
  );

  test("onboard() writes what the flags say, and shows no key", async () => {
    const home = makeHome();
    const app = createTestApp({ home });
    const options = { provider: "OpenRouter", "api-key": " sk-or-secret\n", model: "x/y" };
    expect(await run(app, options)).toBe(0);
    expect(JSON.parse(configText(home))).toMatchObject({
      agents: { defaults: { provider: "openrouter", model: "x/y" } },
      providers: { openrouter: { apiKey: "sk-or-secret" } },
    });
    expect(app.terminal.written).toContain("Model: openrouter, x/y");
    expect(app.terminal.written).not.toContain("sk-or-secret");
  });

  test("onboard() takes the provider's default model when none is named", async () => {
    const home = makeHome();
    await run(createTestApp({ home }), { provider: "openrouter", "api-key": "k" });
    expect(JSON.parse(configText(home)).agents.defaults.model).toBe("anthropic/some-model");
  });

  test("onboard() tells the provider from the model's prefix", async () => {
    const home = makeHome();
    await run(createTestApp({ home }), { "api-key": "k", model: "openrouter/x" });
    expect(JSON.parse(configText(home)).providers).toEqual({ openrouter: { apiKey: "k" } });
  });

  test("onboard() takes an address without a provider for a custom one", async () => {
    const home = makeHome();
    await run(createTestApp({ home }), { "api-base": "http://localhost:9/v1", model: "m" });
    expect(JSON.parse(configText(home))).toMatchObject({
      agents: { defaults: { provider: "custom", model: "m" } },
      providers: { custom: { apiBase: "http://localhost:9/v1" } },
    });
  });

  test("onboard() says which key is missing, unless the environment has it", async () => {
    const options = { provider: "openrouter", yes: true };
    const without = createTestApp({ home: makeHome() });
    await run(without, options);
    expect(without.terminal.stdout).toContain("set OPENROUTER_API_KEY");
    const having = createTestApp({ home: makeHome(), env: { OPENROUTER_API_KEY: "k" } });
    await run(having, options);
    expect(having.terminal.stdout).not.toContain("OPENROUTER_API_KEY");
  });

  test("onboard() misses no key of a local server, and names the flag where there is no variable", async () => {
    const local = createTestApp({ home: makeHome() });
    await run(local, { provider: "lm_studio", model: "m" });
    expect(local.terminal.stdout).not.toContain("key");
    const azure = createTestApp({ home: makeHome() });
    await run(azure, { provider: "azure_openai", "api-base": "https://a.test", model: "m" });
    expect(azure.terminal.stdout).toContain(
      "There is no key for azure_openai yet: run onboard again with --api-key",
    );
  });

  test("onboard() merges into what is there and keeps a backup", async () => {
    const before = {
      mine: 1,
      agents: { defaults: { model_preset: "a", max_tokens: 9 } },
      modelPresets: { a: { model: "z" } },
      providers: { openrouter: { api_key: "old", extraBody: { top_k: 1 } } },
    };
    const home = makeHome(before);
    const old = configText(home);
    await run(createTestApp({ home }), { provider: "openrouter", "api-key": "new", yes: true });
    expect(JSON.parse(configText(home))).toEqual({
      mine: 1,
      agents: { defaults: { max_tokens: 9, provider: "openrouter", model: "anthropic/some-model" } },
      modelPresets: { a: { model: "z" } },
      providers: { openrouter: { api_key: "new", extraBody: { top_k: 1 } } },
    });
    const [backup = ""] = readdirSync(home).filter((name) => name.includes(".bak-"));
    expect(readFileSync(join(home, backup), "utf8")).toBe(old);
  });

  test("onboard() changes the provider under the name the file gives it", async () => {
    const home = makeHome({ providers: { lmStudio: { apiBase: "http://localhost:1/v1" } } });
    await run(createTestApp({ home }), { provider: "lm-studio", "api-key": "k", model: "m" });
    expect(JSON.parse(configText(home)).providers).toEqual({
      lmStudio: { apiBase: "http://localhost:1/v1", apiKey: "k" },
    });
  });

  test("onboard() keeps the model when only the key changes", async () => {
    const home = makeHome({ agents: { defaults: { provider: "openrouter", model: "my/model" } } });
    await run(createTestApp({ home }), { "api-key": "k" });
    expect(JSON.parse(configText(home)).agents.defaults.model).toBe("my/model");
  });

  test("onboard() leaves a complete set-up untouched for --yes", async () => {
    const home = makeHome({ agents: { defaults: { model: "m" } } });
    const before = configText(home);
    const app = createTestApp({ home });
    await run(app, { yes: true });
    await run(app, { yes: true });
    expect(configText(home)).toBe(before);
    expect(readdirSync(home).sort()).toEqual(["config.json", "workspace"]);
  });

  test("onboard() copies no setting from the environment into the file", async () => {
    const home = makeHome({});
    const env = {
      NANOBOT_AGENTS__DEFAULTS__BOT_NAME: "env",
      NANOBOT_PROVIDERS__OPENROUTER__API_KEY: "env-key",
    };
    await run(createTestApp({ home, env }), { provider: "openrouter", model: "m" });
    expect(configText(home)).not.toContain("env");
  });

  const refused: readonly [name: string, options: Options, complaint: string][] = [
    ["an unknown provider", { provider: "opnrouter", "api-key": "k" }, 'Did you mean "openrouter"?'],
    ["a key in the place of a provider", { provider: "sk-or-v1-abc" }, '"<redacted>"'],
    ["auto as a provider", { provider: "auto" }, '"auto" is no provider'],
    ["a provider with a slash", { provider: "a/b", "api-base": "http://x" }, "Read --provider"],
    ["a provider of one's own without an address", { provider: "custom" }, "Add --api-base URL"],
    ["a known provider without an address", { provider: "azure-openai", model: "m" }, "Add --api-base URL"],
    ["a provider without a model", { provider: "lm_studio" }, "Add --model NAME"],
    ["a key of nobody", { "api-key": "k" }, "Add --provider NAME"],
    ["an empty key", { provider: "openrouter", "api-key": " " }, "Read --api-key"],
    ["a key of two words", { provider: "openrouter", "api-key": "s3cret key" }, "Read --api-key"],
    ["a key that no header can carry", { provider: "openrouter", "api-key": "s3cret–é" }, "Read --api-key"],
    ["an address that is none", { "api-base": "localhost:80", model: "m" }, "Read --api-base"],
    ["an address of another kind", { "api-base": "file:///etc", model: "m" }, "Read --api-base"],
    ["an empty model", { model: "" }, "Read --model"],
    ["a model of two words", { model: "a b" }, "Read --model"],
  ];
  for (const [name, options, complaint] of refused) {
    test(`onboard() refuses ${name} and changes nothing`, async () => {
      const home = makeHome();
      const refusal = await refusalOf(run(createTestApp({ home }), { ...options, yes: true }));
      expect(refusal).toContain(complaint);
      expect(refusal).not.toContain("s3cret");
      expect(readdirSync(home)).toEqual([]);
    });
  }

  test("onboard() refuses a broken file and leaves it alone", async () => {
    const home = makeHome();
    writeFileSync(join(home, "config.json"), '{"a": 1,}');
    expect(await refusalOf(run(createTestApp({ home }), { yes: true }))).toContain("Read config");
    expect(readdirSync(home)).toEqual(["config.json"]);
    expect(configText(home)).toBe('{"a": 1,}');
  });
});

describe("onboard() at a terminal", () => {
  test("onboard() asks for provider, key and model, and nothing else for a known one", async () => {
    const home = makeHome();
    const app = createTestApp({ home, tty: true });
    const code = await run(
      app,
      {},
      {
        choose: async (_, { choices }) => choices.find(({ label }) => label === "OpenRouter")?.value ?? "",
        secret: async () => "typed-key",
        text: async (_, { fallback }) => fallback,
      },
    );
    expect(code).toBe(0);
    expect(JSON.parse(configText(home))).toMatchObject({
      agents: { defaults: { provider: "openrouter", model: "anthropic/some-model" } },
      providers: { openrouter: { apiKey: "typed-key" } },
    });
    expect(app.terminal.written).not.toContain("typed-key");
  });

  test("onboard() asks for the address of another one", async () => {
    const home = makeHome();
    const texts = ["http://localhost:9/v1", "my-model"];
    await run(
      createTestApp({ home, tty: true }),
      {},
      {
        choose: async () => "custom",
        secret: async () => "",
        text: async () => texts.shift() ?? "",
      },
    );
    expect(JSON.parse(configText(home))).toMatchObject({
      agents: { defaults: { provider: "custom", model: "my-model" } },
      providers: { custom: { apiBase: "http://localhost:9/v1" } },
    });
  });

  test("onboard() asks for no key where none is taken", async () => {
    const home = makeHome();
    await run(
      createTestApp({ home, tty: true }),
      {},
      {
        choose: async () => "lm_studio",
        text: async () => "local-model",
      },
    );
    expect(JSON.parse(configText(home)).providers).toEqual({});
  });

  const studio = {
    name: "lm_studio",
    label: "LM Studio",
    baseUrl: "http://127.0.0.1:1234/v1",
    models: ["a", "b", "c", "d"],
  };
  const localServers = async () => [studio];

  test("onboard() offers first what runs on this machine, once, and its models", async () => {
    const home = makeHome();
    const asked: (readonly [string, readonly string[]])[] = [];
    await run(
      createTestApp({ home, tty: true, localServers }),
      {},
      {
        choose: async (question, { choices }) => {
          asked.push([question, choices.map(({ label }) => label)]);
          return question === "Model" ? "b" : (choices[0]?.value ?? "");
        },
      },
    );
    expect(asked[0]?.[1][0]).toBe("LM Studio on this machine (a, b, c and 1 more)");
    expect(asked[0]?.[1]).not.toContain("LM Studio");
    expect(asked[1]).toEqual(["Model", ["a", "b", "c", "d", "Another one"]]);
    expect(JSON.parse(configText(home))).toMatchObject({
      agents: { defaults: { provider: "lm_studio", model: "b" } },
      providers: {},
    });
  });

  test("onboard() takes another model than those a server lists", async () => {
    const home = makeHome();
    await run(
      createTestApp({ home, tty: true, localServers }),
      {},
      {
        choose: async (question, { choices }) => (question === "Model" ? "" : (choices[0]?.value ?? "")),
        text: async () => "typed",
      },
    );
    expect(JSON.parse(configText(home)).agents.defaults.model).toBe("typed");
  });

  test("onboard() writes the address of the server that was found over another one's", async () => {
    const home = makeHome({
      agents: { defaults: { provider: "lm_studio", model: "c" } },
      providers: { lmStudio: { apiBase: "http://box:1234/v1" } },
    });
    await run(
      createTestApp({ home, tty: true, localServers }),
      {},
      { confirm: async () => true, choose: async (_, { initial }) => initial ?? "" },
    );
    expect(JSON.parse(configText(home))).toMatchObject({
      agents: { defaults: { provider: "lm_studio", model: "c" } },
      providers: { lmStudio: { apiBase: studio.baseUrl } },
    });
  });

  test("onboard() takes the first model of a local server that is named alone", async () => {
    const home = makeHome();
    await run(createTestApp({ home, localServers }), { provider: "lm_studio" });
    expect(JSON.parse(configText(home)).agents.defaults).toEqual({ provider: "lm_studio", model: "a" });
  });

  test("onboard() looks for nothing when the flags say it all, or nobody is asked", async () => {
    const refuse = async (): Promise<never> => {
      throw new Error("It looked");
    };
    const told = { provider: "openrouter", "api-key": "k", model: "m" };
    expect(await run(createTestApp({ home: makeHome(), tty: true, localServers: refuse }), told)).toBe(0);
    const studioAlone = { provider: "lm_studio", model: "m" };
    expect(await run(createTestApp({ home: makeHome(), localServers: refuse }), studioAlone)).toBe(0);
  });

  test("onboard() asks for the key of a provider that takes it from no variable", async () => {
    const home = makeHome();
    const texts = ["https://mine.openai.azure.com", "my-deployment"];
    await run(
      createTestApp({ home, tty: true }),
      {},
      {
        choose: async () => "azure_openai",
        secret: async () => "azure-key",
        text: async () => texts.shift() ?? "",
      },
    );
    expect(JSON.parse(configText(home)).providers).toEqual({
      azure_openai: { apiBase: "https://mine.openai.azure.com", apiKey: "azure-key" },
    });
  });

  test("onboard() does not ask for what a flag said", async () => {
    const home = makeHome();
    const options = { provider: "openrouter", "api-key": "k", model: "m" };
    expect(await run(createTestApp({ home, tty: true }), options)).toBe(0);
    expect(JSON.parse(configText(home)).agents.defaults.model).toBe("m");
  });

  test("onboard() offers the address and the model of before", async () => {
    const home = makeHome({
      agents: { defaults: { provider: "custom", model: "old-model" } },
      providers: { custom: { apiBase: "http://localhost:9/v1" } },
    });
    const offered: string[] = [];
    await run(
      createTestApp({ home, tty: true }),
      {},
      {
        confirm: async () => true,
        choose: async () => "custom",
        secret: async () => "",
        text: async (_, { fallback }) => {
          offered.push(fallback);
          return fallback;
        },
      },
    );
    expect(offered).toEqual(["http://localhost:9/v1", "old-model"]);
  });

  test("onboard() starts at the provider in use and offers to keep its key", async () => {
    const home = makeHome({
      agents: { defaults: { provider: "Open-Router", model: "my/model" } },
      providers: { open_router: { apiKey: "old-key" } },
    });
    const asked: string[] = [];
    await run(
      createTestApp({ home, tty: true }),
      {},
      {
        confirm: async () => true,
        choose: async (_, { initial }) => initial ?? "",
        secret: async (question) => {
          asked.push(question);
          return "";
        },
        text: async (_, { fallback }) => fallback,
      },
    );
    expect(asked).toEqual(["API key, empty to keep the saved one"]);
    expect(JSON.parse(configText(home))).toMatchObject({
      agents: { defaults: { provider: "openrouter", model: "my/model" } },
      providers: { open_router: { apiKey: "old-key" } },
    });
  });

  test("onboard() lists a provider of one's own that is in use, and does not offer an address that is none", async () => {
    const home = makeHome({
      agents: { defaults: { provider: "mine", model: "m" } },
      providers: { mine: { apiBase: "localhost:9" } },
    });
    const offered: string[] = [];
    const texts = ["http://localhost:9/v1", "m"];
    await run(
      createTestApp({ home, tty: true }),
      {},
      {
        confirm: async () => true,
        choose: async (_, { choices, initial }) =>
          choices.find(({ value }) => value === initial)?.value ?? "",
        secret: async () => "",
        text: async (_, { fallback }) => {
          offered.push(fallback);
          return texts.shift() ?? "";
        },
      },
    );
    expect(offered).toEqual(["", "m"]);
    expect(JSON.parse(configText(home)).providers).toEqual({ mine: { apiBase: "http://localhost:9/v1" } });
  });

  test("onboard() refuses a flag that cannot be right before it asks anything", async () => {
    const home = makeHome({});
    const app = createTestApp({ home, tty: true });
    expect(await refusalOf(run(app, { provider: "opnrouter" }))).toContain('Did you mean "openrouter"?');
    expect(await refusalOf(run(app, { model: " " }))).toContain("Read --model");
  });

  test("onboard() checks what is typed", async () => {
    const complaints: (string | undefined)[] = [];
    await run(
      createTestApp({ home: makeHome(), tty: true }),
      {},
      {
        choose: async () => "custom",
        secret: async (_, check) => {
          complaints.push(check(""), check("a b"));
          return "";
        },
        text: async (question, { check }) => {
          complaints.push(check(""));
          return question === "Model" ? "m" : "http://x";
        },
      },
    );
    expect(complaints.map((complaint) => complaint !== undefined)).toEqual([true, false, true, true]);
  });

  test("onboard() leaves the file to the byte when the answer is no", async () => {
    const home = makeHome({ providers: { a: { apiKey: "k" } } });
    const before = configText(home);
    const app = createTestApp({ home, tty: true });
    expect(await run(app, {}, { confirm: async () => false })).toBe(0);
    expect(configText(home)).toBe(before);
    expect(readdirSync(home).sort()).toEqual(["config.json", "workspace"]);
  });

  test("onboard() keeps a backup when the answer is yes", async () => {
    const home = makeHome({ mine: true });
    await run(
      createTestApp({ home, tty: true }),
      { provider: "openrouter", "api-key": "k", model: "m" },
      {
        confirm: async () => true,
      },
    );
    expect(JSON.parse(configText(home))).toMatchObject({ mine: true, agents: { defaults: { model: "m" } } });
    expect(readdirSync(home).some((name) => name.includes(".bak-"))).toBe(true);
  });

  test("onboard() makes an empty configuration when the decision is put off", async () => {
    const home = makeHome();
    await run(
      createTestApp({ home, tty: true }),
      {},
      {
        choose: async (_, { choices }) => choices.at(-1)?.value ?? "?",
      },
    );
    expect(JSON.parse(configText(home)).agents).toEqual({ defaults: {} });
  });

  for (const question of ["confirm", "choose", "secret", "text"] as const) {
    test(`onboard() changes nothing when somebody leaves at ${question}, and says 130`, async () => {
      const leaves = async (): Promise<never> => {
        throw new Stopped("user");
      };
      const answers: Prompter = {
        confirm: async () => true,
        choose: async () => "openrouter",
        secret: async () => "k",
        text: async () => "m",
        [question]: leaves,
      };
      const home = makeHome({ a: 1 });
      const before = configText(home);
      expect(await run(createTestApp({ home, tty: true }), {}, answers)).toBe(130);
      expect(configText(home)).toBe(before);
      expect(readdirSync(home)).toEqual(["config.json"]);
    });
  }

  test("onboard() asks nothing for --yes", async () => {
    expect(await run(createTestApp({ home: makeHome(), tty: true }), { yes: true })).toBe(0);
  });
});

test("the onboard command takes every flag it names", () => {
  expect(Object.keys(command.options ?? {}).sort()).toEqual([
    "api-base",
    "api-key",
    "model",
    "provider",
    "yes",
  ]);
});

/** Starting the program takes long where the machine is busy. */
const patience = 60_000;

describe("nanobot onboard, as a program", () => {
  const main = resolve(import.meta.dir, "../../src/main.ts");
  const argv = [process.execPath, main, "onboard"];

  function environment(home: string) {
    return { PATH: process.env["PATH"] ?? "", NANOBOT_HOME: home, TERM: "xterm" };
  }

  /** Runs the wizard on a terminal and types each text when its question is there. */
  async function answer(home: string, steps: readonly [question: string, text: string][]) {
    let shown = "";
    let seen = 0;
    let next = 0;
    const child = Bun.spawn(argv, {
      env: environment(home),
      terminal: {
        cols: 100,
        rows: 30,
        data(terminal, bytes) {
          shown += new TextDecoder().decode(bytes);
          const [question, text] = steps[next] ?? [];
          if (question === undefined || text === undefined || !shown.includes(question, seen)) return;
          seen = shown.length;
          next++;
          terminal.write(text);
        },
      },
    });
    return { code: await child.exited, shown };
  }

  test(
    "nanobot onboard ends at once without a terminal, and names the flags",
    async () => {
      const home = makeHome();
      const child = Bun.spawn(argv, {
        env: environment(home),
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      expect(await child.exited).toBe(2);
      expect(await new Response(child.stderr).text()).toContain("--provider");
      expect(await new Response(child.stdout).text()).toBe("");
      expect(readdirSync(home)).toEqual([]);
    },
    patience,
  );

  test(
    "nanobot onboard sets up by asking, and never shows the key",
    async () => {
      const home = makeHome();
      const { code, shown } = await answer(home, [
        ["Who runs the model?", "openr"],
        ["openr", "\r"],
        ["API key", "sk-or-typed-key\r"],
        ["Model", "\r"],
      ]);
      expect(shown).toContain("Next: nanobot agent");
      expect(code).toBe(0);
      expect(shown).not.toContain("typed-key");
      expect(JSON.parse(configText(home)).providers.openrouter.apiKey).toBe("sk-or-typed-key");
    },
    patience,
  );

  test(
    "nanobot onboard takes what is typed in place of the model it offers",
    async () => {
      const home = makeHome({
        agents: { defaults: { provider: "groq", model: "old-model" } },
        providers: { groq: { apiKey: "saved" } },
      });
      const { code } = await answer(home, [
        ["There is a configuration", "y"],
        ["Who runs the model?", "\r"],
        ["empty to keep the saved one", "\r"],
        ["ld-model", "new-model\r"],
      ]);
      expect(code).toBe(0);
      expect(JSON.parse(configText(home))).toEqual({
        agents: { defaults: { provider: "groq", model: "new-model" } },
        providers: { groq: { apiKey: "saved" } },
      });
    },
    patience,
  );

  test(
    "nanobot onboard leaves everything as it was after Ctrl-C",
    async () => {
      const home = makeHome({ mine: 1 });
      const before = configText(home);
      const { code, shown } = await answer(home, [
        ["There is a configuration", "y"],
        ["Who runs the model?", "\x03"],
      ]);
      expect(code).toBe(130);
      expect(shown).toContain("Nothing was changed");
      expect(configText(home)).toBe(before);
      expect(readdirSync(home)).toEqual(["config.json"]);
    },
    patience,
  );
});
