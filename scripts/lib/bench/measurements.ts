/** Everything `scripts/bench` measures, by name. */

import { join } from "node:path";
import type { Session } from "../../../src/core/session.ts";
import { auditOfACall } from "./audit.ts";
import { agentEnvironment, configure, converse, startModelServer } from "./chat.ts";
import { guardOfCommands } from "./commands.ts";
import { readEnd, searchTree } from "./file-tools.ts";
import { idleGateway } from "./gateway.ts";
import { crowd, webhookLatency } from "./gateway-load.ts";
import { manyTurns, writesPerTurn } from "./gateway-turns.ts";
import { addCounts, countFolders, type LineCount } from "./lines-of-code.ts";
import { searchMemory } from "./memory-search.ts";
import { compareWall, createCpuMeter, outputOf, type Program, peakMemory } from "./programs.ts";
import { lineToAppend, openStore, writeSession } from "./sessions.ts";
import { mean, median } from "./statistics.ts";
import { streaming } from "./streaming.ts";
import type { Row } from "./table.ts";
import { webFetch } from "./web-fetch.ts";
import { settleDisk, type Workbench } from "./workbench.ts";

type Measurement = (bench: Workbench) => Promise<readonly Row[]>;

/** In the order of the table. The key is what `--only` takes. */
export const measurements: Readonly<Record<string, Measurement>> = {
  version,
  offline: offlineTurn,
  wire: wireTurn,
  cpu: cpuPerTurn,
  delta: streaming,
  session: longSession,
  audit: auditOfACall,
  grep: searchTree,
  tail: readEnd,
  search: searchMemory,
  fetch: webFetch,
  guard: guardOfCommands,
  gateway: idleGateway,
  webhook: webhookLatency,
  crowd,
  turns: manyTurns,
  writes: writesPerTurn,
  lines: linesOfCode,
};

async function version(bench: Workbench): Promise<readonly Row[]> {
  const programs = [{ command: [await bench.nanobot(), "--version"] }, { command: [await bench.empty()] }];
  // Both take few milliseconds and differ by less than one: many rounds are needed, and cost nothing.
  const [value = NaN, floor = NaN] = compareWall(programs, { rounds: 41 });
  return [{ name: "nanobot --version, wall", value, floor, unit: "ms", bound: { of: "ratio", atMost: 1.2 } }];
}

async function offlineTurn(bench: Workbench): Promise<readonly Row[]> {
  const turn: Program = {
    command: [await bench.nanobot(), "agent", "--offline", "-m", "what time is it?"],
    env: agentEnvironment(bench.folder("offline-home")),
  };
  const empty: Program = { command: [await bench.empty()] };
  const [value = NaN, floor = NaN] = compareWall([turn, empty]);
  return [
    { name: "one-shot turn, offline model, wall", value, floor, unit: "ms" },
    {
      name: "one-shot turn, offline model, peak memory",
      value: await peakMemory(turn),
      floor: await peakMemory(empty),
      unit: "MB",
    },
  ];
}

/** Here the floor asks the same server by a bare `fetch`. */
async function wireTurn(bench: Workbench): Promise<readonly Row[]> {
  const home = bench.folder("wire-home");
  const server = await startModelServer(bench.root, home);
  try {
    configure(home, server.url);
    const turn: Program = {
      command: [await bench.nanobot(), "agent", "-m", QUESTION],
      env: agentEnvironment(home),
    };
    const ask: Program = { command: [await bench.ask(), server.url] };
    const [value = NaN, floor = NaN] = compareWall([turn, ask]);
    return [
      { name: "one-shot turn, chat-completions wire, wall", value, floor, unit: "ms" },
      {
        name: "one-shot turn, chat-completions wire, peak memory",
        value: await peakMemory(turn),
        floor: await peakMemory(ask),
        unit: "MB",
      },
    ];
  } finally {
    await server.stop();
  }
}

/** Short, because typing it is part of what an interactive turn takes. */
const QUESTION = "Hi";
const WARM_UP_TURNS = 200;
const TURNS = 200;
/** Others on the machine can only make the same work take longer, so the process that took least counts. */
const PROCESSES = 5;

/** What an interactive process spends from prompt to prompt, reading the keys and drawing the answer included. */
async function cpuPerTurn(bench: Workbench): Promise<readonly Row[]> {
  const home = bench.folder("cpu-home");
  const server = await startModelServer(bench.root, home);
  try {
    configure(home, server.url);
    const runs: ConversationCost[] = [];
    for (let run = 0; run < PROCESSES; run++) {
      const session = `bench:${run}`;
      runs.push(await conversationCost([await bench.nanobot(), "agent", "-s", session], home));
    }
    const { perTurn, ticksPerTurn } = runs.reduce((least, run) =>
      median(run.perTurn) < median(least.perTurn) ? run : least,
    );
    const bareFetch: Program = { command: [await bench.ask(), server.url, `${TURNS}`, `${WARM_UP_TURNS}`] };
    const quarter = TURNS / 4;
    const early = median(perTurn.slice(0, quarter)).toFixed(2);
    const late = median(perTurn.slice(-quarter)).toFixed(2);
    return [
      {
        name: "CPU per turn, median",
        value: median(perTurn),
        floor: Number(outputOf(bareFetch)),
        unit: "ms",
        bound: { of: "time", atMost: 3 },
        note: `first quarter ${early}, last quarter ${late}`,
      },
      {
        name: "CPU per turn, mean",
        value: mean(perTurn),
        unit: "ms",
        note: `${ticksPerTurn.toFixed(2)} by the kernel's coarse count`,
      },
    ];
  } finally {
    await server.stop();
  }
}

interface ConversationCost {
  /** Milliseconds of each turn after the warm-up. */
  readonly perTurn: readonly number[];
  readonly ticksPerTurn: number;
}

async function conversationCost(command: string[], home: string): Promise<ConversationCost> {
  const chat = await converse(command, agentEnvironment(home));
  const meter = createCpuMeter(chat.pid);
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) await chat.ask(QUESTION);
  // The process is warm, and the conversation as long as the measured turns make it.
  await chat.startAnew();
  const perTurn: number[] = [];
  const ticksBefore = meter.readTicks();
  for (let before = meter.read(), turn = 0; turn < TURNS; turn++) {
    await chat.ask(QUESTION);
    const after = meter.read();
    perTurn.push(after - before);
    before = after;
  }
  const ticksPerTurn = (meter.readTicks() - ticksBefore) / TURNS;
  await chat.leave();
  return { perTurn, ticksPerTurn };
}

const LONG = 100_000;
const SHORT = 100;

async function longSession(bench: Workbench): Promise<readonly Row[]> {
  const home = bench.folder("session-home");
  const env = agentEnvironment(home);
  const nanobot = await bench.nanobot();
  const turnIn = (session: string): Program => ({
    command: [nanobot, "agent", "--offline", "-s", session, "-m", "what time is it?"],
    env,
  });
  // Makes the workspace with its templates, too.
  compareWall([turnIn("bench:empty")], { rounds: 1 });
  const store = openStore(join(home, "workspace"));
  await writeSession(store, "bench:long", LONG);
  await writeSession(store, "bench:short", SHORT);
  settleDisk();
  const [long = NaN, empty = NaN] = compareWall([turnIn("bench:long"), turnIn("bench:empty")]);
  const [longAppend = NaN, shortAppend = NaN] = await compareAppends(store, ["bench:long", "bench:short"]);
  return [
    { name: "one-shot turn in a session of 100,000 lines, wall", value: long, floor: empty, unit: "ms" },
    {
      name: "opening it and building the prompt",
      value: long - empty,
      unit: "ms",
      bound: { of: "time", atMost: 150 },
    },
    {
      name: "append to 100,000 lines, to 100",
      value: longAppend,
      floor: shortAppend,
      unit: "µs",
      // "The same", and what the clock cannot tell from it.
      bound: { of: "ratio", atMost: 1.2 },
    },
  ];
}

const APPENDS = 200;

/** The median time of an append without a sync, in microseconds, the sessions taking turns. */
async function compareAppends(
  store: ReturnType<typeof openStore>,
  keys: readonly string[],
): Promise<readonly number[]> {
  const { signal } = new AbortController();
  const sessions: Session[] = [];
  for (const key of keys) sessions.push(await store.open(key, { signal }));
  const times = keys.map((): number[] => []);
  // The first round only warms up.
  for (let round = -APPENDS; round < APPENDS; round++) {
    for (const [index, session] of sessions.entries()) {
      const began = performance.now();
      await session.append([lineToAppend], { sync: false });
      if (round >= 0) times[index]?.push((performance.now() - began) * 1_000);
    }
  }
  for (const session of sessions) await session.close();
  return times.map(median);
}

/** What somebody reads to know how the program works. */
const CORE = ["core", "bus", "agent", "sessions"];

async function linesOfCode(bench: Workbench): Promise<readonly Row[]> {
  const folders = countFolders(join(bench.root, "src"));
  const core = CORE.flatMap((name) => folders.get(name) ?? []);
  return [
    ...[...folders].map(([name, count]) => lineRow(`lines of src/${name === "." ? "*.ts" : name}`, count)),
    lineRow(`lines of the core (${CORE.join(", ")})`, addCounts(core)),
    lineRow("lines of src in all", addCounts([...folders.values()])),
  ];
}

function lineRow(name: string, { lines, comments }: LineCount): Row {
  return { name, value: lines, unit: "lines", note: `${comments.toLocaleString("en")} of them comments` };
}
