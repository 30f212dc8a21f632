/** A home with a configuration, a workspace with nanobot's own files, and something outside that is nobody's business. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../../src/platform/clock.ts";
import { createProcesses } from "../../../src/platform/processes.ts";
import { createCommandSpec } from "../../../src/shell/command-spec.ts";
import { createSandbox, type SandboxOptions } from "../../../src/shell/sandbox/sandbox.ts";
import { makeFolder, system } from "../../tools/fixture.ts";

export function createPlace() {
  const base = makeFolder();
  const home = join(base, "home");
  const workspace = join(home, "workspace");
  const configFile = join(home, "config.json");
  function put(path: string, text: string): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }
  mkdirSync(workspace, { recursive: true });
  put(configFile, "the configuration");
  put(join(workspace, ".nanobot/audit.jsonl"), "the record");
  put(join(workspace, ".nanobot/tool-results/own/call.txt"), "an own result");
  put(join(workspace, ".nanobot/tool-results/other/call.txt"), "another's result");
  put(join(workspace, "sessions/cli.jsonl"), "the session");
  put(join(workspace, "cron/jobs.json"), "the jobs");
  const outside = put(join(base, "outside/notes.txt"), "somebody's notes");
  return {
    base,
    home,
    workspace,
    configFile,
    outside,
    put,
    read: (path: string) => readFileSync(path, "utf8"),
  };
}

export type Place = ReturnType<typeof createPlace>;

export function sandboxIn(place: Place, options: Partial<SandboxOptions> = {}) {
  return createSandbox({
    files: system,
    processes: createProcesses(systemClock),
    os: process.platform,
    mode: "auto",
    restrictToWorkspace: true,
    workspace: place.workspace,
    home: place.base,
    configFile: place.configFile,
    ownResults: (owner) => join(".nanobot/tool-results", owner),
    ...options,
  });
}

/** What runs a command, with no judgement before it. */
export async function programIn(place: Place, command: string, options: Partial<SandboxOptions> = {}) {
  const spec = createCommandSpec({
    files: system,
    os: process.platform,
    env: { PATH: process.env["PATH"] },
    home: place.base,
    sandbox: await sandboxIn(place, options),
  });
  return spec(command, { cwd: place.workspace, timeoutSeconds: 60, owner: "own" });
}

/** What it says and how it ends. */
export async function runIn(place: Place, command: string, options: Partial<SandboxOptions> = {}) {
  const program = await programIn(place, command, options);
  const { exitCode, stdout, stderr } = await createProcesses(systemClock).run(
    program,
    new AbortController().signal,
  );
  return { code: exitCode, out: stdout.head, err: stderr.head };
}

/**
 * Why the tests of the real thing cannot run here; `undefined` where they must. Bubblewrap itself is asked: a
 * product that no longer finds it would skip every test of what it is for.
 */
export async function whyNoBubblewrap(): Promise<string | undefined> {
  const file = Bun.which("bwrap");
  const args = ["--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--", "/bin/true"];
  const answer = file === null || process.platform !== "linux" ? undefined : Bun.spawnSync([file, ...args]);
  const works = answer?.exitCode === 0;
  const state = await (await sandboxIn(createPlace())).state();
  if (works !== (state.kind === "bwrap")) {
    throw new Error(
      `bwrap ${works ? "works" : "does not work"} here, and the sandbox says ${JSON.stringify(state)}`,
    );
  }
  return works ? undefined : (answer?.stderr.toString().trim() ?? "bwrap is not installed");
}
