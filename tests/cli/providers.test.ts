import { describe, expect, test } from "bun:test";
import { command } from "../../src/cli/providers.ts";
import type { App, ModelChoice, ProviderInfo } from "../../src/core/app.ts";
import { UserError } from "../../src/core/errors.ts";
import { describeProviders } from "../../src/providers/vendors/describe.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

const choice = {
  name: "some-model",
  why: "groq, because GROQ_API_KEY is set",
  offline: false,
} as ModelChoice;

const listed = describeProviders({
  model: undefined,
  provider: "auto",
  providers: {
    mine: { apiBase: "https://user:hunter2@box.test/v1", apiKey: "sk-hunter2", displayName: "我的服务器" },
  },
  env: { GROQ_API_KEY: "gsk_hunter2", OPENAI_API_KEY: "" },
});

async function output(
  options: Record<string, boolean>,
  providers: readonly ProviderInfo[] = listed,
  chooseModel: App["chooseModel"] = async () => choice,
) {
  const app = createTestApp({ home: tempFolder(), chooseModel });
  const code = await command.run?.({
    app: { ...app, providers: async () => providers },
    positionals: [],
    options,
    signal: new AbortController().signal,
  });
  return {
    code,
    text: app.terminal.stdout,
    lines: app.terminal.stdout.split("\n"),
    width: app.terminal.width,
  };
}

function lineOf(lines: readonly string[], name: string): string {
  return lines.find((line) => line.slice(2).startsWith(`${name} `)) ?? "";
}

describe("nanobot providers", () => {
  test("prints a line for each provider, and the model with the reason last", async () => {
    const { code, lines } = await output({});
    expect(code).toBe(0);
    expect(lines.filter((line) => /^[→✓ ] [a-z_]+ {2}/.test(line)).length).toBe(listed.length);
    expect(lines.at(-2)).toBe("Model: some-model (groq, because GROQ_API_KEY is set)");
  });

  test("marks what is configured and what answers, and says where each key comes from", async () => {
    const { lines } = await output({});
    expect(lineOf(lines, "groq")).toMatch(/^→ groq +Groq +key in GROQ_API_KEY +https:\/\/api\.groq\.com/);
    expect(lineOf(lines, "mine")).toMatch(/^✓ mine +我的服务器 +key configured +https:\/\/box\.test$/);
    expect(lineOf(lines, "deepseek")).toMatch(/^ {2}deepseek +DeepSeek +no key: DEEPSEEK_API_KEY /);
    expect(lineOf(lines, "ollama")).toContain("no key needed");
    expect(lineOf(lines, "azure_openai")).toMatch(/no key +address not known$/);
  });

  test("aligns its columns by what the terminal shows", async () => {
    const { lines, width } = await output({});
    const starts = ["groq", "mine", "deepseek"].map((name) => {
      const line = lineOf(lines, name);
      return width(line.slice(0, line.indexOf("https://")));
    });
    expect(new Set(starts).size).toBe(1);
  });

  test("prints no key and no password", async () => {
    for (const json of [false, true]) expect((await output({ json })).text).not.toContain("hunter2");
  });

  test("says which variable would be taken only for a vendor that is named", async () => {
    const shared = describeProviders({
      model: undefined,
      provider: "auto",
      providers: {},
      env: { OPENAI_API_KEY: "k" },
    });
    expect(lineOf((await output({}, shared)).lines, "siliconflow")).toMatch(
      /^ {2}siliconflow +SiliconFlow +key in OPENAI_API_KEY, when named /,
    );
  });

  test("tells what stands in the way of the model, and lists all the same", async () => {
    const refuse = async () => {
      throw new UserError("There is no API key of Groq", { hint: "Set it" });
    };
    const { code, lines } = await output({}, listed, refuse);
    expect([code, lines.at(-2)]).toEqual([0, "Model: ✗ There is no API key of Groq. Set it"]);
  });

  test("prints one JSON object with the list and the model", async () => {
    const { text } = await output({ json: true });
    expect(JSON.parse(text)).toMatchObject({
      providers: expect.arrayContaining([
        expect.objectContaining({
          name: "groq",
          inUse: true,
          key: { from: "environment", variable: "GROQ_API_KEY" },
        }),
      ]),
      model: { ready: true, model: "some-model" },
    });
  });

  test("prints no character that steers a terminal", async () => {
    const steering = listed.map((info) => ({ ...info, label: "a\u009b2J\u001b[1mb\nc" }));
    for (const json of [false, true]) {
      expect((await output({ json }, steering)).text).not.toMatch(/[\u001b\u009b]/);
    }
    expect((await output({}, steering)).lines.length).toBe((await output({})).lines.length);
  });
});
