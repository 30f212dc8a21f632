import { describe, expect, test } from "bun:test";
import { agent } from "../../src/cli/agent.ts";
import type { Prompter } from "../../src/cli/prompter.ts";
import type { App, ConverseOptions, LocalServer, ModelChoice } from "../../src/core/app.ts";
import { Stopped } from "../../src/core/errors.ts";
import { refusalOf } from "../config/fixture.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

function serverOf(name: string, label: string, ...models: string[]): LocalServer {
  return { name, label, baseUrl: `http://127.0.0.1:9/${name}`, models };
}

const OLLAMA = serverOf("ollama", "Ollama", "qwen3:latest");
const STUDIO = serverOf("lm_studio", "LM Studio", "gemma", "openai/gpt-oss-20b");

type Options = Readonly<Record<string, string | boolean>>;

/** Runs `nanobot agent` as far as the channel. */
async function run(
  options: Options,
  {
    found = [],
    tty = false,
    offline = false,
    choose,
  }: { found?: readonly LocalServer[]; tty?: boolean; offline?: boolean; choose?: Prompter["choose"] } = {},
) {
  const wishes: Parameters<App["chooseModel"]>[0][] = [];
  const conversations: ConverseOptions[] = [];
  let searches = 0;
  const app = createTestApp({
    home: tempFolder(),
    tty,
    chooseModel: async (wanted) => {
      wishes.push(wanted);
      return { name: wanted.model ?? "offline", offline } as ModelChoice;
    },
    localServers: async () => {
      searches++;
      return found;
    },
  });
  const never = async (): Promise<never> => {
    throw new Error("It asked");
  };
  const prompter: Prompter = { confirm: never, choose: choose ?? never, secret: never, text: never };
  const code = await agent(
    {
      app: {
        ...app,
        async converse(asked) {
          conversations.push(asked);
          return "answer";
        },
      },
      positionals: [],
      options: { message: "hi", ...options },
      signal: new AbortController().signal,
    },
    async () => prompter,
  );
  return { code, wishes, searches, conversations, notice: conversations[0]?.config["notice"] };
}

describe("agent --local", () => {
  test("uses the only model there is, and says so", async () => {
    const { code, wishes, notice } = await run({ local: true }, { found: [OLLAMA], tty: true });
    expect(code).toBe(0);
    expect(wishes).toEqual([{ model: "qwen3:latest", server: OLLAMA }]);
    expect(notice).toBe("qwen3:latest of Ollama on this machine answers.");
  });

  test("names the ports when nothing runs, and starts nothing", async () => {
    const refusal = await refusalOf(run({ local: true }));
    expect(refusal).toContain("no server on this machine lists one");
    expect(refusal).toContain("1234 (LM Studio)");
    expect(refusal).not.toContain("OpenRouter");
  });

  test("lists several models, and how to pick one, where nobody can be asked", async () => {
    for (const [options, tty] of [
      [{ local: true }, false],
      [{ local: true, json: true }, true],
    ] as const) {
      const refusal = await refusalOf(run(options, { found: [OLLAMA, STUDIO], tty }));
      expect(refusal).toContain("--local --model NAME");
      expect(refusal).toContain("ollama/qwen3:latest, lm_studio/gemma, lm_studio/openai/gpt-oss-20b");
    }
  });

  test("lists no more than thirty of them", async () => {
    const many = serverOf("vllm", "vLLM", ...Array.from({ length: 50 }, (_, index) => `m${index}`));
    const refusal = await refusalOf(run({ local: true }, { found: [many] }));
    expect(refusal).toContain("vllm/m29 and 20 more");
    expect(refusal).not.toContain("m30");
  });

  test("asks at a terminal which of several it shall be", async () => {
    const offered: string[] = [];
    const { wishes } = await run(
      { local: true },
      {
        found: [OLLAMA, STUDIO],
        tty: true,
        choose: async (_, { choices }) => {
          offered.push(...choices.map(({ label }) => label));
          return choices[1]?.value ?? "";
        },
      },
    );
    expect(offered).toEqual(["qwen3:latest (Ollama)", "gemma (LM Studio)", "openai/gpt-oss-20b (LM Studio)"]);
    expect(wishes).toEqual([{ model: "gemma", server: STUDIO }]);
  });

  test("leaves with 130, and starts nothing, when somebody leaves at the question", async () => {
    const leave = async (): Promise<never> => {
      throw new Stopped("user");
    };
    const { code, conversations } = await run(
      { local: true },
      { found: [OLLAMA, STUDIO], tty: true, choose: leave },
    );
    expect([code, conversations]).toEqual([130, []]);
  });

  test.each([
    ["gemma", "gemma", STUDIO],
    ["qwen3", "qwen3:latest", OLLAMA],
    ["lm-studio/gemma", "gemma", STUDIO],
    ["openai/gpt-oss-20b", "openai/gpt-oss-20b", STUDIO],
    ["Ollama/qwen3", "qwen3:latest", OLLAMA],
  ])("takes --model %s", async (wanted, model, server) => {
    const { wishes } = await run({ local: true, model: wanted }, { found: [OLLAMA, STUDIO] });
    expect(wishes).toEqual([{ model, server }]);
  });

  test("refuses a model that no server has, and lists those there are", async () => {
    const refusal = await refusalOf(run({ local: true, model: "gpt-4o" }, { found: [OLLAMA] }));
    expect(refusal).toContain('no server on this machine has "gpt-4o"');
    expect(refusal).toContain("ollama/qwen3:latest");
  });

  test("refuses a model that two servers have, until its server is named", async () => {
    const vllm = serverOf("vllm", "vLLM", "m");
    const found = [serverOf("ollama", "Ollama", "m"), vllm];
    expect(await refusalOf(run({ local: true, model: "m" }, { found }))).toContain("ollama/m, vllm/m");
    expect((await run({ local: true, model: "vllm/m" }, { found })).wishes).toEqual([
      { model: "m", server: vllm },
    ]);
  });

  test("refuses --offline beside it", async () => {
    expect(await refusalOf(run({ local: true, offline: true }))).toContain("contradict");
  });
});

describe("agent without --local", () => {
  test("names what runs on this machine when nothing is configured, and uses none of it", async () => {
    const { wishes, notice } = await run({}, { found: [OLLAMA, STUDIO], offline: true });
    expect(wishes).toEqual([{ offline: false }]);
    expect(notice).toBe(
      "No model is configured, so the built-in offline stand-in answers. On this machine runs " +
        "Ollama with qwen3:latest; LM Studio with gemma, openai/gpt-oss-20b: " +
        'use it with "nanobot agent --local", or run "nanobot onboard".',
    );
  });

  test("names the way to a model when nothing is configured and nothing runs", async () => {
    const { notice } = await run({}, { offline: true });
    expect(notice).toBe(
      'No model is configured, so the built-in offline stand-in answers. Run "nanobot onboard" to set one up.',
    );
  });

  test("looks for nothing when a model is configured, or the stand-in is wanted", async () => {
    expect((await run({}, { found: [OLLAMA] })).searches).toBe(0);
    const wanted = await run({ offline: true }, { found: [OLLAMA], offline: true });
    expect([wanted.searches, wanted.notice]).toEqual([
      0,
      "The built-in offline stand-in answers. It is no language model.",
    ]);
  });
});
