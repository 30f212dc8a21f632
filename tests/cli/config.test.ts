import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExitCode } from "../../src/cli/command.ts";
import { command } from "../../src/cli/config.ts";
import type { App, ModelChoice } from "../../src/core/app.ts";
import { UserError } from "../../src/core/errors.ts";
import type { Platform } from "../../src/core/platform.ts";
import { createTokenScale } from "../../src/lib/token-scale.ts";
import { refusalOf, variable } from "../config/fixture.ts";
import { createTestToolbox } from "../fakes/toolbox.ts";
import { createTestApp, type TestApp } from "./fixture.ts";

const choice: ModelChoice = {
  model: { provider: "test", chat: () => Promise.reject(new Error("The command called the model")) },
  name: "some-model",
  why: "because the test says so",
  offline: false,
  fallbacks: [],
  contextWindowTokens: 1,
  promptTokens: 1,
  scale: createTokenScale(),
  maxTokens: 1,
  temperature: 0,
  reasoningEffort: undefined,
};

function makeApp(
  text?: string,
  {
    chooseModel = async () => choice,
    toolbox = async () => createTestToolbox({ tools: [] }),
    env = {},
  }: Partial<Pick<App, "chooseModel" | "toolbox"> & Pick<Platform, "env">> = {},
): TestApp {
  const home = mkdtempSync(join(tmpdir(), "nanobot-"));
  if (text !== undefined) writeFileSync(join(home, "config.json"), text);
  return { ...createTestApp({ home, chooseModel, env }), toolbox };
}

async function run(
  app: TestApp,
  name: string,
  options: { json?: boolean } = {},
): Promise<ExitCode | undefined> {
  const signal = new AbortController().signal;
  return command.subcommands?.[name]?.run?.({ app, positionals: [], options, signal });
}

test("config check says that all is well, and with which model", async () => {
  const app = makeApp("{}");
  expect(await run(app, "check")).toBe(0);
  expect(app.terminal.stdout).toBe(
    `${app.platform.cwd}/config.json: ok, model some-model (because the test says so)\n`,
  );
});

test("config check refuses what only the tools themselves look at", async () => {
  const toolbox = () => Promise.reject(new UserError("Read tools.ssrfWhitelist[0]: it is no network"));
  expect(await refusalOf(run(makeApp("{}", { toolbox }), "check"))).toContain("tools.ssrfWhitelist[0]");
});

test("config check says that there is no file", async () => {
  const app = makeApp();
  expect(await run(app, "check")).toBe(0);
  expect(app.terminal.stdout).toStartWith("No ");
});

test("config check prints warnings, also for variables that are not set", async () => {
  const app = makeApp(JSON.stringify({ loging: {}, providers: { a: { apiKey: variable("UNSET") } } }));
  expect(await run(app, "check")).toBe(0);
  expect(app.terminal.stdout).toContain('Warning: Unknown key loging is ignored; did you mean "logging"?');
  expect(app.terminal.stdout).toContain("providers.a.apiKey: the environment variable UNSET is not set");
});

test("config check prints what is odd about channels that are enabled", async () => {
  const channel = { exists: true, problem: undefined };
  const app = {
    ...makeApp("{}"),
    channels: async () => [
      { ...channel, name: "a", enabled: true, warnings: ["Nobody is let in"] },
      { ...channel, name: "b", enabled: false, warnings: ["Nobody minds"] },
    ],
  };
  expect(await run(app, "check")).toBe(0);
  expect(app.terminal.stdout).toStartWith("Warning: Nobody is let in\n");
  expect(app.terminal.stdout).not.toContain("Nobody minds");
});

test("config check refuses a time zone that only its variable makes wrong", async () => {
  const text = JSON.stringify({ agents: { defaults: { timezone: variable("ZONE") } } });
  expect(await refusalOf(run(makeApp(text, { env: { ZONE: "Mars/Base" } }), "check"))).toStartWith(
    "Read settings: agents.defaults.timezone: expected the name of a time zone",
  );
  expect(await run(makeApp(text, { env: { ZONE: "Europe/Berlin" } }), "check")).toBe(0);
});

test("config check refuses a broken file", async () => {
  expect(await refusalOf(run(makeApp('{"agents": 1}'), "check"))).toContain(
    "line 1, agents: expected an object",
  );
});

test("config check refuses a model that cannot be used", async () => {
  const app = makeApp("{}", {
    chooseModel: async () => {
      throw new UserError("No key for openrouter");
    },
  });
  expect(await refusalOf(run(app, "check"))).toBe("No key for openrouter");
});

test("config check --json says ok, the file, the model and the warnings", async () => {
  const app = makeApp('{"nonsense": 1}');
  expect(await run(app, "check", { json: true })).toBe(0);
  expect(JSON.parse(app.terminal.stdout)).toEqual({
    ok: true,
    path: `${app.platform.cwd}/config.json`,
    exists: true,
    model: "some-model (because the test says so)",
    warnings: [`Unknown key nonsense is ignored (in ${app.platform.cwd}/config.json)`],
  });
});

test("config check --json says what is broken and exits 2", async () => {
  const app = makeApp('{"agents": 1,}');
  expect(await run(app, "check", { json: true })).toBe(2);
  const { ok, error } = JSON.parse(app.terminal.stdout);
  expect(ok).toBe(false);
  expect(error).toContain("line 1, there is a comma too many");
});

test("config path prints the path, also of a broken file", async () => {
  const app = makeApp("{");
  expect(await run(app, "path")).toBe(0);
  expect(app.terminal.stdout).toBe(`${app.platform.cwd}/config.json\n`);
});

test("config schema prints JSON, also beside a broken file", async () => {
  const app = makeApp("{");
  expect(await run(app, "schema")).toBe(0);
  expect(JSON.parse(app.terminal.stdout).type).toBe("object");
});
