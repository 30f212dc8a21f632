/** Runs the compiled program as a person or a script does: arguments, pipes, a terminal, signals. */

import { afterEach, setDefaultTimeout } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StoredMessage } from "../../src/core/session.ts";
import { createEmulator } from "../channels/cli/emulator.ts";
import { type ChatServer, type ChatServerOptions, startChatServer } from "../fakes/chat-server.ts";
import { tempFolder } from "../fakes/temp.ts";
import { openPseudoTerminal, type PseudoTerminal } from "../platform/pseudo-terminal.ts";

/** For whatever hangs: nothing here is judged by how long it takes. */
const PATIENCE_MS = 60_000;

const running = new Set<{ kill(signal: NodeJS.Signals): void }>();
const servers = new Set<ChatServer>();

/** Called first by each file: the runner keeps modules, so what an import sets up counts for one file only. */
export function endToEnd(): void {
  setDefaultTimeout(PATIENCE_MS);
  afterEach(async () => {
    for (const child of running) child.kill("SIGKILL");
    running.clear();
    await Promise.all([...servers].map((server) => server.close()));
    servers.clear();
  });
}

/** A model that is gone after the test. */
export async function startModel(
  script: ChatServerOptions["script"],
  options: Omit<ChatServerOptions, "script"> = {},
): Promise<ChatServer> {
  const server = await startChatServer({ strictKeys: true, ...options, script });
  servers.add(server);
  return server;
}

const built = join(import.meta.dir, "../../dist/nanobot");

/** The path of the program. Throws when it was not built, so that no test passes without it. */
export function binary(): string {
  if (existsSync(built)) return built;
  throw new Error(`There is no ${built}: run scripts/build`);
}

/** A place of its own for a test: nothing of the machine's user decides how it ends. */
export interface Home {
  readonly folder: string;
  readonly workspace: string;
  readonly configFile: string;
  /** All that the program gets, unless a test adds to it. */
  readonly env: Readonly<Record<string, string>>;
}

/** `config` is written as JSON; a string is written as it is. */
export function newHome(config?: unknown): Home {
  const folder = join(tempFolder(), "home");
  mkdirSync(folder);
  const configFile = join(folder, "config.json");
  if (config !== undefined) {
    writeFileSync(configFile, typeof config === "string" ? config : JSON.stringify(config));
  }
  const env = { NANOBOT_HOME: folder, PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
  return { folder, workspace: join(folder, "workspace"), configFile, env };
}

/** A configuration whose only model answers at `url`. */
export function modelAt(url: string, defaults: Readonly<Record<string, unknown>> = {}) {
  return {
    providers: { fake: { apiBase: url, apiKey: "key-of-the-fake" } },
    agents: { defaults: { provider: "fake", model: "fake-model", timezone: "UTC", ...defaults } },
  };
}

export interface RunOptions {
  readonly home: Home;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What is piped in. Without it stdin is empty. */
  readonly stdin?: string;
}

export interface Outcome {
  /** As a shell shows it: 128 and the signal's number when one ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Program {
  readonly pid: number;
  readonly outcome: Promise<Outcome>;
  signal(name: NodeJS.Signals): void;
}

/** Starts any program in a home, without anything else of this process's environment. */
export function startCommand(command: readonly string[], { home, env, cwd, stdin }: RunOptions): Program {
  const child = Bun.spawn([...command], {
    cwd: cwd ?? home.folder,
    env: { ...home.env, ...env },
    stdio: [stdin === undefined ? "ignore" : new Blob([stdin]), "pipe", "pipe"],
  });
  running.add(child);
  const outcome = Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]).then(([stdout, stderr, code]) => {
    running.delete(child);
    return { code, stdout, stderr };
  });
  return { pid: child.pid, outcome, signal: (name) => child.kill(name) };
}

export function start(args: readonly string[], options: RunOptions): Program {
  return startCommand([binary(), ...args], options);
}

export function run(args: readonly string[], options: RunOptions): Promise<Outcome> {
  return start(args, options).outcome;
}

/** One message to the agent. */
export function ask(message: string, home: Home, ...args: readonly string[]): Promise<Outcome> {
  return run(["agent", "-m", message, ...args], { home });
}

/** The lines of a session, as the program itself shows them. */
export async function sessionOf(home: Home, key = "cli:direct"): Promise<readonly StoredMessage[]> {
  const { code, stdout, stderr } = await run(["sessions", "show", key, "--json"], { home });
  if (code !== 0) throw new Error(`The session cannot be shown: ${stderr}`);
  return (JSON.parse(stdout) as { messages: StoredMessage[] }).messages;
}

/** The program in a terminal of 80 columns and 24 rows. */
export function inTerminal(
  args: readonly string[],
  home: Home,
  env: Readonly<Record<string, string>> = {},
): PseudoTerminal {
  return commandInTerminal([binary(), ...args], home, env);
}

export function commandInTerminal(
  command: readonly string[],
  home: Home,
  env: Readonly<Record<string, string>> = {},
): PseudoTerminal {
  const terminal = openPseudoTerminal([...command], { ...home.env, ...env });
  const hangUp = { kill: () => terminal.close() };
  running.add(hangUp);
  void terminal.exited.then(() => running.delete(hangUp));
  return terminal;
}

/** What a person sees on the screen. */
export function screenOf({ shown }: PseudoTerminal): readonly string[] {
  const emulator = createEmulator(80);
  // Modes of the terminal change nothing that can be seen.
  emulator.write(shown.replace(/\x1b\[\?\d+[hl]/g, ""));
  return emulator.rows;
}

/** The end of a shell command that says, from the workspace, that it runs. */
export const REACH_MILESTONE = "echo reached > milestone";

/** Where a command can say that it runs. */
export interface Milestone {
  readonly reached: Promise<void>;
}

export function newMilestone({ workspace }: Home): Milestone {
  // Commands reach nothing outside.
  mkdirSync(workspace, { recursive: true });
  const path = join(workspace, "milestone");
  if (!Bun.spawnSync(["mkfifo", path]).success) throw new Error("mkfifo failed");
  // Opening the pipe for reading waits until somebody writes.
  const reader = Bun.spawn(["cat", path], { stdio: ["ignore", "ignore", "ignore"] });
  running.add(reader);
  const reached = reader.exited.then(() => void running.delete(reader));
  return { reached };
}

let sleeps = 0;

/** Ten minutes in a spelling that no other process has, to be found by: `sleep 600.123450001`. */
export function unusualSleep(): string {
  sleeps += 1;
  return `sleep 600.${process.pid}${String(sleeps).padStart(4, "0")}`;
}

/** Resolves when no process of this machine has `text` in its command line. A signal takes a moment to work. */
export async function untilNoProcess(text: string): Promise<void> {
  while (processesWith(text).length > 0) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** The command lines of all processes of this machine that contain `text`. */
function processesWith(text: string): readonly string[] {
  if (!existsSync("/proc/self/cmdline")) {
    const { stdout } = Bun.spawnSync(["ps", "-A", "-o", "args="]);
    return stdout
      .toString()
      .split("\n")
      .filter((line) => line.includes(text));
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine)
    .filter((line) => line.includes(text));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return ""; // It ended since the folder was listed.
  }
}
