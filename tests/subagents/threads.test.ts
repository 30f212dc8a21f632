import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "../../src/core/platform.ts";
import type { Toolbox } from "../../src/core/toolbox.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createProcesses } from "../../src/platform/processes.ts";
import { createWorkers } from "../../src/workers.ts";
import { createFakeClock } from "../fakes/clock.ts";
import type { Scripted } from "../fakes/model.ts";
import { tempFolder } from "../fakes/temp.ts";
import { until } from "../fakes/until.ts";
import { freshSleep, runningWith } from "../platform/programs-that-run.ts";
import { createFixture, type FixtureOptions, noTools } from "./fixture.ts";

const entry = new URL("../platform/programs/wayward-subagent.ts", import.meta.url);

function createThreads(options: FixtureOptions = {}, clock: Pick<Clock, "after"> = systemClock) {
  const workers = createWorkers({ clock, entry });
  return { ...createFixture({ workers, ...options }), workers };
}

/** A tool that runs two programs which would go on for minutes. */
function sleeper() {
  const folder = tempFolder();
  const sleep = freshSleep();
  const processes = createProcesses(systemClock);
  const toolbox: Toolbox = {
    ...noTools,
    definitions: [{ name: "exec", description: "runs", parameters: { type: "object" } }],
    async run(_call, { signal }) {
      const { ended } = await processes.run(
        {
          file: "/bin/sh",
          args: ["-c", `sleep ${sleep} & sleep ${sleep}; true`],
          cwd: folder,
          env: { PATH: process.env["PATH"] ?? "" },
          timeoutMs: 0,
          keepBytes: 1_000,
        },
        signal,
      );
      return { ok: false, text: `ended: ${ended}` };
    },
  };
  return {
    toolbox: async () => toolbox,
    begun: () => until(() => runningWith(sleep).length >= 2),
    isAlive: () => runningWith(sleep).length > 0,
  };
}

const sleep: Scripted = { calls: [{ name: "exec", arguments: { command: "sleep 600" } }] };

describe("a subagent in a thread", () => {
  test("answers by way of tools", async () => {
    const { spawn, settled, published, model } = createThreads({
      script: [{ calls: [{ name: "exec", arguments: { command: "ls" } }] }, "There are two."],
      toolbox: async () => ({ ...noTools, run: async () => ({ ok: true, text: "a b" }) }),
    });
    await spawn("count the files");
    await settled();
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "a b" });
    expect(published[0]?.content).toContain("There are two.");
  });

  test.each([
    { way: "throw", reason: /its thread died \(Error: it came apart\)/ },
    // The test runner ends a thread for that by itself.
    { way: "reject", reason: /it could not go on \(nobody looked\)|died \(Error: nobody looked\)/ },
    { way: "exit", reason: /its thread died \(it exited with 7\)/ },
  ])("that comes to grief is reported: $way", async ({ way, reason }) => {
    const { spawn } = createThreads({ script: [{ hang: true }] });
    const { result } = await spawn(`way:${way}`, { wait: true });
    expect(result?.state).toBe("failed");
    expect(result?.text).toMatch(reason);
  });

  test("that loops is given up when it has not answered for a minute", async () => {
    const clock = createFakeClock();
    const { spawn, settled, published, tasks } = createThreads({ script: [{ hang: true }] }, clock);
    await spawn("way:loop");
    await clock.whenPending(1);
    await clock.advance(60_000);
    expect(tasks.count("telegram:1")).toBe(1);
    await clock.advance(10_000);
    await settled();
    expect(published[0]?.content).toContain("it stopped responding");
    expect(clock.pending).toBe(0);
  });

  test("that takes too much memory is given up", async () => {
    const clock = createFakeClock();
    const { spawn, settled, published, model } = createThreads({ script: [{ hang: true }] }, clock);
    await spawn("way:hoard");
    // Its program runs, so that it has taken what it takes.
    await until(() => model.requests.length === 1);
    await clock.advance(10_000);
    await settled();
    expect(published[0]?.content).toContain("it took more than 512 MiB of memory");
  });

  test.each([
    { way: "late-throw", state: "failed" },
    { way: "late-exit", state: "failed" },
    { way: "late-reject", state: "failed" },
  ] as const)("takes its running command with it: $way", async ({ way, state }) => {
    const clock = createFakeClock();
    const { toolbox, begun, isAlive } = sleeper();
    const { spawn, tasks, settled } = createThreads({ script: [sleep], toolbox }, clock);
    await spawn(`way:${way}`);
    await begun();
    expect(isAlive()).toBe(true);
    await clock.advance(10_000);
    await settled();
    expect(isAlive()).toBe(false);
    expect(tasks.list()).toMatchObject([{ state, toolCalls: 1 }]);
  });

  test("that loops in the middle of its work takes its running command with it", async () => {
    const clock = createFakeClock();
    const { toolbox, begun, isAlive } = sleeper();
    const { spawn, settled, published } = createThreads({ script: [sleep], toolbox }, clock);
    await spawn("way:late-loop");
    await begun();
    // It may answer the first time, a little before it would be too late, and then no more.
    await clock.advance(150_000);
    await settled();
    expect(isAlive()).toBe(false);
    expect(published[0]?.content).toContain("it stopped responding");
  });

  test.each(["stop", "close"] as const)("takes its running command with it at %s()", async (how) => {
    const { toolbox, begun, isAlive } = sleeper();
    const { spawn, tasks, published } = createThreads({ script: [sleep], toolbox });
    await spawn("sleep");
    await begun();
    await tasks[how]("telegram:1");
    expect(isAlive()).toBe(false);
    expect(published).toEqual([]);
  });

  test("takes its running command with it when all threads are ended", async () => {
    const { toolbox, begun, isAlive } = sleeper();
    const { spawn, workers, settled, published } = createThreads({ script: [sleep], toolbox });
    await spawn("sleep");
    await begun();
    workers.endAll();
    await settled();
    expect(isAlive()).toBe(false);
    expect(published).toEqual([]);
  });

  test("does not wait for documents that are read, nor they for it", async () => {
    const clock = createFakeClock();
    const { spawn, workers, tasks, model } = createThreads(
      { script: Array.from({ length: 4 }, (): Scripted => ({ hang: true })) },
      clock,
    );
    for (const name of ["a", "b", "c", "d"]) await spawn(name);
    await until(() => model.requests.length === 4);
    const { signal } = new AbortController();
    const input = { html: "<p>text</p>", url: "https://a.example/", mode: "text", maxChars: 100 } as const;
    expect(await workers.run("html", input, { timeoutMs: 60_000, signal })).toMatchObject({ ok: true });
    await tasks.close();
  });
});

function threadsNow(): number {
  return readdirSync("/proc/self/task").length;
}

function childrenNow(): number {
  const own = readdirSync("/proc/self/task");
  return own.flatMap((thread) => {
    try {
      return readFileSync(`/proc/self/task/${thread}/children`, "utf8").split(" ").filter(Boolean);
    } catch {
      return [];
    }
  }).length;
}

const isLinux = process.platform === "linux";
test.skipIf(!isLinux)(
  "fifty subagents in a row, with crashes among them, leave threads, processes and memory where they were (/proc is needed)",
  async () => {
    const ways = ["fine", "way:exit", "fine", "way:throw", "way:reject"];
    const { spawn, model, tasks } = createThreads();
    async function run(count: number): Promise<void> {
      for (let index = 0; index < count; index++) {
        const way = ways[index % ways.length] ?? "";
        // A crash comes while the model is asked, or before.
        const isFine = way === "fine";
        if (isFine) model.push("done");
        const { result } = await spawn(`${way} ${tasks.list().length} ${index} ${count}`, { wait: true });
        expect(result?.state).toBe(isFine ? "done" : "failed");
      }
      Bun.gc(true);
    }
    const children = childrenNow();
    await run(10);
    const before = { threads: threadsNow(), rss: process.memoryUsage.rss() };
    await run(40);
    expect(childrenNow()).toBe(children);
    expect(threadsNow()).toBeLessThanOrEqual(before.threads + 2);
    expect(process.memoryUsage.rss()).toBeLessThan(before.rss + 48 * 1024 * 1024);
  },
);
