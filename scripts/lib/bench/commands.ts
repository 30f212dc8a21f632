/** What stands before a command: its judgement, and the sandbox around it. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { RealPath } from "../../../src/core/tool.ts";
import { clip } from "../../../src/lib/text.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createProcesses } from "../../../src/platform/processes.ts";
import { createCommands } from "../../../src/shell/commands.ts";
import corpus from "../../../tests/fixtures/commands.json" with { type: "json" };
import { mean, median } from "./statistics.ts";
import type { Row } from "./table.ts";
import type { Workbench } from "./workbench.ts";

const ROUNDS = 15;
const RUNS = 40;
const { signal } = new AbortController();

/** The files of a real workspace are looked at; names of hosts are not looked up. */
export async function guardOfCommands(bench: Workbench): Promise<readonly Row[]> {
  const workspace = join(bench.folder("guard-home"), "workspace");
  mkdirSync(workspace);
  const bare = await shellIn(workspace, "none");
  const { text, each, slowest } = await judgements(bare.shell, workspace);
  const boxed = await shellIn(workspace, "auto");
  const rows: Row[] = [
    {
      name: `judgement of a command, mean over ${text.length}`,
      value: each,
      unit: "µs",
      bound: { of: "time", atMost: 1_000 },
    },
    {
      name: `judgement of the slowest, ${JSON.stringify(clip(slowest.command, 40))}`,
      value: slowest.time,
      unit: "µs",
    },
  ];
  const state = await boxed.sandbox.state();
  if (state.kind !== "bwrap") return rows;
  const [value = NaN, floor = NaN] = await runs([boxed.shell, bare.shell], workspace);
  return [...rows, { name: "a command in the sandbox, and without", value, floor, unit: "ms" }];
}

async function shellIn(workspace: string, sandbox: "auto" | "none") {
  const commands = await createCommands({
    settings: {
      timeout: 60,
      policy: "guarded",
      allowPatterns: [],
      denyPatterns: [],
      sandbox,
      sandboxRoBinds: [],
      sandboxRwBinds: [],
      allowedEnvKeys: [],
      pathPrepend: "",
      pathAppend: "",
    },
    restrictToWorkspace: true,
    allowedPaths: [],
    files: createFileSystem(),
    processes: createProcesses(systemClock),
    env: {},
    os: process.platform,
    home: "/home/user",
    workspace,
    configFile: join(workspace, "../config.json"),
    ownResults: (key) => join(".nanobot/tool-results", key),
  });
  const shell = commands.shellOf("bench", { whyRefused: async () => undefined });
  return { shell, sandbox: commands.sandbox };
}

type Shell = Awaited<ReturnType<typeof shellIn>>["shell"];

/** Microseconds. Others on the machine can only make it take longer, so what took least counts, of all rounds. */
async function judgements(shell: Shell, workspace: string) {
  const text = corpus.groups.flatMap(({ commands }) => commands);
  const rounds: number[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times: number[] = [];
    for (const command of text) {
      const began = performance.now();
      await shell.permit(command, { cwd: workspace as RealPath, signal });
      times.push((performance.now() - began) * 1_000);
    }
    rounds.push(times);
  }
  const best = text.map((command, index) => ({
    command,
    time: Math.min(...rounds.map((times) => times[index] ?? Number.POSITIVE_INFINITY)),
  }));
  const slowest = best.reduce((one, other) => (other.time > one.time ? other : one));
  return { text, each: Math.min(...rounds.map(mean)), slowest };
}

/** Milliseconds, taking turns. */
async function runs(shells: readonly Shell[], workspace: string): Promise<readonly number[]> {
  const times = shells.map((): number[] => []);
  for (let run = 0; run < RUNS; run++) {
    for (const [index, shell] of shells.entries()) {
      const began = performance.now();
      await shell.run("true", { cwd: workspace as RealPath, timeoutSeconds: 60, signal });
      times[index]?.push(performance.now() - began);
    }
  }
  return times.map(median);
}
