import { describe, expect, test } from "bun:test";
import type { ModelChoice } from "../../src/core/app.ts";
import { UserError } from "../../src/core/errors.ts";
import type { Image, ModelNotice } from "../../src/core/model.ts";
import type { ModelCall } from "../../src/core/usage.ts";
import { never } from "../../src/lib/abort.ts";
import { type ChooserOptions, createModelChooser, mainSettings } from "../../src/providers/choose.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";

const defaults: ChooserOptions["settings"] = {
  model: "deepseek/deepseek-chat",
  provider: "auto",
  maxTokens: 4_000,
  contextWindowTokens: 64_000,
  temperature: 0.1,
  reasoningEffort: "high",
  fallbackModels: [],
  providerRetryMode: "standard",
};
const providers = {
  deepseek: { apiKey: "deepseek-key" },
  groq: { apiKey: "groq-key" },
  mine: { apiBase: "http://127.0.0.1:9/v1" },
};
const small = {
  model: "tiny",
  provider: "mine",
  maxTokens: 500,
  contextWindowTokens: 8_000,
  temperature: 0.9,
};

interface Sent {
  readonly host: string;
  readonly body: Record<string, unknown>;
}

/** A chooser in front of servers that answer `hi`, but for those in `down`, which refuse with `status`. */
function setup({
  settings = {},
  down = [],
  status = 401,
  ...options
}: Partial<Omit<ChooserOptions, "settings">> & {
  settings?: Partial<ChooserOptions["settings"]>;
  down?: readonly string[];
  status?: number;
} = {}) {
  const sent: Sent[] = [];
  const secrets: string[] = [];
  const calls: ModelCall[] = [];
  const log = createFakeLog();
  const clock = createFakeClock();
  const server = async (input: unknown, init?: RequestInit): Promise<Response> => {
    const { host } = new URL(String(input instanceof Request ? input.url : input));
    const text = typeof init?.body === "string" ? init.body : await new Response(init?.body ?? "").text();
    sent.push({ host, body: JSON.parse(text) });
    if (down.includes(host)) return new Response("{}", { status });
    const choices = [{ message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
    return Response.json({ choices, usage: { prompt_tokens: 1, completion_tokens: 1 } });
  };
  const choose = createModelChooser({
    settings: { ...defaults, ...settings },
    presets: {},
    providers,
    env: {},
    expand: (value) => value,
    onSecret: (secret) => secrets.push(secret),
    fetch: Object.assign(server, { preconnect: () => {} }),
    clock,
    random: () => 0.5,
    log,
    callTimeoutMs: 300_000,
    streamIdleMs: 90_000,
    onCall: (call) => calls.push(call),
    ...options,
  });
  return { choose, sent, secrets, calls, log, clock };
}

/** Asks it as the agent does. */
function ask(
  { model, name, maxTokens, temperature, reasoningEffort }: ModelChoice,
  { images = [], notices = [] }: { images?: readonly Image[]; notices?: ModelNotice[] } = {},
) {
  return model.chat(
    {
      model: name,
      messages: [{ role: "user", content: "hi", images }],
      tools: [],
      toolChoice: "auto",
      maxTokens,
      temperature,
      ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    },
    {
      signal: never,
      onDelta: () => {},
      onNotice: (notice) => notices.push(notice),
      caller: { sessionKey: "cli:direct", origin: "chat", turn: "1" as never },
    },
  );
}

describe("createModelChooser()", () => {
  test("leaves half of the window for the prompt, whatever maxTokens says", async () => {
    const { choose } = setup({ settings: { maxTokens: 8_192, contextWindowTokens: 8_192 } });
    expect(await choose({})).toMatchObject({ maxTokens: 4_096, promptTokens: 8_192 - 4_096 - 1_024 });
  });

  test("chooses what is configured, with its settings", async () => {
    const { choose, sent, secrets } = setup();
    const choice = await choose({});
    expect(choice).toMatchObject({
      name: "deepseek-chat",
      offline: false,
      fallbacks: [],
      contextWindowTokens: 64_000,
      maxTokens: 4_000,
      temperature: 0.1,
      reasoningEffort: "high",
    });
    expect(choice.why).toContain("deepseek");
    expect(secrets).toEqual(["deepseek-key"]);
    expect(await ask(choice)).toMatchObject({ ok: true, content: "hi", model: "deepseek/deepseek-chat" });
    expect(sent).toMatchObject([
      { host: "api.deepseek.com", body: { model: "deepseek-chat", max_tokens: 4_000 } },
    ]);
  });

  test("gives the same wish the same model, and another one another", async () => {
    const { choose } = setup();
    expect(await choose({})).toBe(await choose({}));
    expect(await choose({ model: "mine/a" })).toBe(await choose({ model: "mine/a" }));
    expect(await choose({ model: "mine/b" })).not.toBe(await choose({ model: "mine/a" }));
  });

  test("keeps what is configured, and what was wanted last, however many names were tried", async () => {
    const { choose } = setup();
    const [configured, used] = await Promise.all([choose({}), choose({ model: "mine/used" })]);
    for (let index = 0; index < 150; index++) {
      await choose({ model: `mine/${index}` });
      expect(await choose({ model: "mine/used" })).toBe(used);
    }
    expect(await choose({})).toBe(configured);
  });

  test("takes all settings of a preset, by the name that is asked for or configured", async () => {
    const presets = { small };
    const expected = {
      name: "tiny",
      maxTokens: 500,
      contextWindowTokens: 8_000,
      temperature: 0.9,
      reasoningEffort: undefined,
    };
    expect(await setup({ presets }).choose({ model: "small" })).toMatchObject(expected);
    const configured = setup({ presets, settings: { modelPreset: "small" } });
    expect(await configured.choose({})).toMatchObject(expected);
    expect(await configured.choose({ model: "deepseek/other" })).toMatchObject({
      name: "other",
      maxTokens: 4_000,
    });
  });

  test("knows no preset by a name that every object has", async () => {
    await expect(
      setup({ settings: { provider: "groq" } }).choose({ model: "constructor" }),
    ).resolves.toMatchObject({
      name: "constructor",
      maxTokens: 4_000,
    });
  });

  test("leaves for a prompt what the answer and a reserve leave", async () => {
    expect((await setup().choose({})).promptTokens).toBe(64_000 - 4_000 - 1_024);
    const tight = setup({ settings: { contextWindowTokens: 5_000 } });
    expect((await tight.choose({})).promptTokens).toBe(5_000 - 2_500 - 1_024);
    const tiny = setup({ settings: { contextWindowTokens: 1_000 } });
    expect((await tiny.choose({})).promptTokens).toBe(500);
    const limited = setup({ settings: { contextBlockLimit: 9_000 } });
    expect((await limited.choose({})).promptTokens).toBe(9_000);
  });

  test("refuses what cannot be used with words for the user, and looks again the next time", async () => {
    const env: Record<string, string> = {};
    const { choose } = setup({ providers: {}, env });
    await expect(choose({ model: "openai/gpt-4o" })).rejects.toThrow(UserError);
    env["OPENAI_API_KEY"] = "sk-late";
    expect(await choose({ model: "openai/gpt-4o" })).toMatchObject({ name: "gpt-4o" });
  });

  test("refuses a model whose variable is missing, with the place", async () => {
    const places: string[] = [];
    const { choose } = setup({
      expand: (_, path) => {
        places.push(path.join("."));
        throw new UserError("The variable KEY is not set");
      },
    });
    await expect(choose({})).rejects.toThrow("The variable KEY is not set");
    expect(places).toEqual(["providers.deepseek"]);
  });

  test("is offline when asked for, or when nothing is configured and nothing named", async () => {
    expect(await setup().choose({ offline: true })).toMatchObject({ offline: true, name: "offline" });
    const bare = setup({ providers: {}, settings: { model: undefined } });
    expect(await bare.choose({})).toMatchObject({ offline: true, why: "no provider is configured" });
    const named = setup({ providers: {}, settings: { model: "gpt-4o" } });
    await expect(named.choose({})).rejects.toThrow(UserError);
  });

  test("waits longer for the first word of a server nearby than of one far away", async () => {
    const silent = { fetch: Object.assign(() => new Promise<Response>(() => {}), { preconnect: () => {} }) };
    const firstFailure = async (model: string) => {
      const { choose, clock, calls } = setup(silent);
      const asking = ask(await choose({ model }));
      await clock.advance(0);
      await clock.advance(900_000);
      await asking;
      return calls[0]?.latencyMs;
    };
    expect(await firstFailure("deepseek/x")).toBe(120_000);
    expect(await firstFailure("mine/x")).toBe(300_000);
  });
});

describe("createModelChooser() fallbacks", () => {
  const standIns: ChooserOptions["settings"]["fallbackModels"] = [
    { model: "llama", provider: "groq", maxTokens: 100, temperature: 0.5 },
    "small",
  ];

  test("answer in turn, each at its own server with its own settings", async () => {
    const { choose, sent } = setup({
      settings: { fallbackModels: standIns },
      presets: { small },
      down: ["api.deepseek.com", "api.groq.com"],
    });
    const choice = await choose({});
    expect(choice.fallbacks).toEqual(["groq/llama", "mine/tiny"]);
    expect(await ask(choice)).toMatchObject({ ok: true, model: "mine/tiny" });
    expect(
      sent.map(({ host, body }) => [host, body["model"], body["max_tokens"], body["temperature"]]),
    ).toEqual([
      ["api.deepseek.com", "deepseek-chat", 4_000, 0.1],
      ["api.groq.com", "llama", 100, 0.5],
      ["127.0.0.1:9", "tiny", 500, 0.9],
    ]);
    expect(sent[2]?.body).not.toHaveProperty("reasoning_effort");
  });

  test("take no larger prompt than the smallest of them", async () => {
    const { choose } = setup({ settings: { fallbackModels: standIns }, presets: { small } });
    expect((await choose({})).promptTokens).toBe(8_000 - 500 - 1_024);
  });

  test("that cannot be used are left out with a warning", async () => {
    const fallbackModels = [{ model: "gpt-4o", provider: "openai" }, "no such preset", "small"];
    const { choose, log } = setup({ settings: { fallbackModels }, presets: { small } });
    expect((await choose({})).fallbacks).toEqual(["mine/tiny"]);
    const warnings = log.lines.filter((line) => line.startsWith("warn"));
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain("gpt-4o There is no API key");
    expect(warnings[1]).toContain("no such preset");
  });

  test("never are the model itself, nor one of them twice", async () => {
    const fallbackModels = [
      { model: "deepseek-chat", provider: "deepseek" },
      { model: "tiny", provider: "mine", temperature: 0.2 },
      "small",
    ];
    const { choose } = setup({ settings: { fallbackModels }, presets: { small } });
    expect((await choose({})).fallbacks).toEqual(["mine/tiny"]);
    expect((await choose({ model: "small" })).fallbacks).toEqual(["deepseek/deepseek-chat"]);
  });

  test("stand in for no server that was chosen on this machine", async () => {
    const server = {
      name: "ollama",
      label: "Ollama",
      baseUrl: "http://127.0.0.1:11434/v1",
      models: ["qwen"],
    };
    const { choose, sent } = setup({
      settings: { fallbackModels: standIns },
      presets: { small },
      down: ["127.0.0.1:11434"],
    });
    const choice = await choose({ server, model: "small" });
    expect(choice).toMatchObject({ name: "small", fallbacks: [], maxTokens: 4_000 });
    expect((await ask(choice)).ok).toBe(false);
    expect(sent.map(({ host }) => host)).toEqual(["127.0.0.1:11434"]);
  });
});

describe("createModelChooser() knows a model by whatever name it was chosen", () => {
  const image: Image = { mime: "image/png", data: "AAAA", name: "cat.png" };
  const other = { ...defaults, temperature: 0.7 };
  const standIn = [{ model: "llama", provider: "groq" }];
  const options = { presets: { other }, settings: { fallbackModels: standIn } };
  const deepseek = "api.deepseek.com";

  test("so that failures under one count under the other", async () => {
    const { choose, sent } = setup({ ...options, down: [deepseek] });
    const choices = [await choose({}), await choose({ model: "other" })] as const;
    for (const choice of [choices[0], choices[1], choices[0], choices[1]]) await ask(choice);
    expect(sent.map(({ host }) => host).filter((host) => host === deepseek)).toHaveLength(3);
  });

  test("so that an empty account is told of once", async () => {
    const { choose } = setup({ ...options, down: [deepseek], status: 402 });
    const notices: ModelNotice[] = [];
    await ask(await choose({}), { notices });
    await ask(await choose({ model: "other" }), { notices });
    expect(notices.map(({ kind }) => kind)).toEqual(["quota"]);
  });

  test("so that what it learns of its tokens holds for both", async () => {
    const { choose } = setup(options);
    const [one, two] = [await choose({}), await choose({ model: "other" })];
    expect(one).not.toBe(two);
    expect(one.scale).toBe(two.scale);
    expect((await choose({ model: "deepseek/another" })).scale).not.toBe(one.scale);
  });

  test("so that images it refused in a session are not sent again", async () => {
    const { choose, sent } = setup({
      ...options,
      settings: { fallbackModels: [] },
      fetch: Object.assign(
        async (_: unknown, init?: RequestInit) => {
          const body = await new Response(init?.body ?? "").text();
          sent.push({ host: deepseek, body: JSON.parse(body) });
          if (body.includes("AAAA")) return new Response("{}", { status: 400 });
          const choices = [{ message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
          return Response.json({ choices });
        },
        { preconnect: () => {} },
      ),
    });
    await ask(await choose({}), { images: [image] });
    await ask(await choose({ model: "other" }), { images: [image] });
    const withImages = sent.map(({ body }) => JSON.stringify(body).includes("AAAA"));
    expect(withImages).toEqual([true, false, false]);
  });
});

describe("mainSettings()", () => {
  const options = { settings: defaults, presets: { small }, expand: <T>(value: T) => value };

  test("are those that are configured, with the model that is named", () => {
    expect(mainSettings(options)).toMatchObject({ model: "deepseek/deepseek-chat", maxTokens: 4_000 });
    expect(mainSettings(options, "groq/llama")).toMatchObject({ model: "groq/llama", maxTokens: 4_000 });
  });

  test("are all of a preset's, whether it is named or configured", () => {
    expect(mainSettings(options, "small")).toEqual(small);
    const configured = { ...options, settings: { ...defaults, modelPreset: "small" } };
    expect(mainSettings(configured)).toEqual(small);
    expect(mainSettings(configured, "groq/llama")).toMatchObject({ model: "groq/llama" });
  });

  test("are those that are configured when the configured preset is missing", () => {
    const missing = { ...options, settings: { ...defaults, modelPreset: "gone" } };
    expect(mainSettings(missing)).toMatchObject({ model: "deepseek/deepseek-chat" });
  });
});
