/** An app for commands that touch the configuration and the workspace: real files, everything else out of reach. */

import { resolve } from "node:path";
import { parseInvocation } from "../../src/cli/parse.ts";
import { loadConfig } from "../../src/config/load.ts";
import { configPaths, workspacePath } from "../../src/config/paths.ts";
import { prepareWorkspace } from "../../src/config/workspace.ts";
import type { App, VendorInfo } from "../../src/core/app.ts";
import type { Platform } from "../../src/core/platform.ts";
import { createAssets } from "../../src/platform/assets.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeTerminal, type FakeTerminal } from "../fakes/terminal.ts";

const vendors: readonly VendorInfo[] = [
  {
    name: "openrouter",
    label: "OpenRouter",
    keyVariable: "OPENROUTER_API_KEY",
    baseUrl: "https://openrouter.ai/api/v1",
    defaultModel: "anthropic/some-model",
  },
  {
    name: "lm_studio",
    label: "LM Studio",
    keyVariable: "LM_STUDIO_API_KEY",
    baseUrl: "http://localhost:1234/v1",
    defaultModel: undefined,
    local: true,
    lookedFor: true,
  },
  {
    name: "azure_openai",
    label: "Azure OpenAI",
    keyVariable: undefined,
    baseUrl: undefined,
    defaultModel: undefined,
  },
];

export interface TestApp extends App {
  readonly terminal: FakeTerminal;
}

export function createTestApp({
  home,
  tty = false,
  stdinIsTty = tty,
  stdin = "",
  env = {},
  chooseModel = unreachable("chooseModel"),
  localServers = async () => [],
}: {
  home: string;
  tty?: boolean;
  stdinIsTty?: boolean;
  stdin?: string;
  env?: Platform["env"];
  chooseModel?: App["chooseModel"];
  localServers?: App["localServers"];
}): TestApp {
  const terminal = createFakeTerminal({ tty, stdinIsTty, stdin });
  const flags = { config: undefined, workspace: undefined, verbose: false };
  const platform: Platform = {
    runtime: "test",
    os: "linux",
    arch: "x64",
    pid: 1,
    env: { ...env, NANOBOT_HOME: home },
    cwd: home,
    homeFolder: home,
    timeZone: "UTC",
    clock: createFakeClock(),
    ids: { next: unreachable("ids") },
    random: unreachable("random"),
    files: createFileSystem(),
    locks: { acquire: unreachable("locks"), tryAcquire: unreachable("locks") },
    processes: {
      run: unreachable("processes"),
      start: unreachable("processes"),
      endAll: unreachable("processes"),
    },
    terminal,
    assets: createAssets(resolve(import.meta.dir, "../..")),
    fetch: Object.assign(unreachable("fetch"), { preconnect: unreachable("fetch") }),
    http: { listen: unreachable("http"), request: unreachable("http") },
    collectGarbage: unreachable("collectGarbage"),
    startAgain: unreachable("startAgain"),
  };
  const log = () => {};
  const paths = async () => {
    const places = configPaths(platform, flags);
    const { config } = await loadConfig({
      files: platform.files,
      path: places.configFile,
      env: platform.env,
    });
    return { ...places, workspace: workspacePath(config, places.home, platform, flags) };
  };
  return {
    version: "0.0.0",
    platform,
    flags,
    log: { debug: log, info: log, warn: log, error: log },
    vendors,
    terminal,
    paths,
    sessions: unreachable("sessions"),
    toolbox: unreachable("toolbox"),
    commandsLeft: async () => 0,
    mask: (text) => text,
    commands: unreachable("commands"),
    askAtTerminal: unreachable("askAtTerminal"),
    media: unreachable("media"),
    usage: unreachable("usage"),
    audit: unreachable("audit"),
    replay: unreachable("replay"),
    chooseModel,
    providers: unreachable("providers"),
    localServers,
    converse: unreachable("converse"),
    gateway: unreachable("gateway"),
    startAgain: unreachable("startAgain"),
    askGateway: async () => ({ running: false }),
    withOutbox: unreachable("withOutbox"),
    pairing: unreachable("pairing"),
    memory: unreachable("memory"),
    memorySearch: unreachable("memorySearch"),
    skills: unreachable("skills"),
    jobs: unreachable("jobs"),
    channels: async () => [],
    testChannel: unreachable("testChannel"),
    prepareWorkspace: async () => {
      const { workspace } = await paths();
      return prepareWorkspace({ files: platform.files, assets: platform.assets, workspace });
    },
  };
}

/** Runs a command of `nanobot` as it is typed: its exit code, and what is new on the terminal. */
export async function runCommand(app: TestApp, changes: Partial<App>, words: readonly string[]) {
  const { command, positionals, options } = await parseInvocation([...words]);
  const { stdout, stderr } = app.terminal;
  const { signal } = new AbortController();
  const code = await command?.run?.({ app: { ...app, ...changes }, positionals, options, signal });
  return {
    code,
    out: app.terminal.stdout.slice(stdout.length),
    err: app.terminal.stderr.slice(stderr.length),
  };
}

function unreachable(name: string): () => never {
  return () => {
    throw new Error(`The command used ${name}, which it should not`);
  };
}
